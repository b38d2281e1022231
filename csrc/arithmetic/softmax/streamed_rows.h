// streamed_rows.h: softmax of long rows of arrays that no cache holds.
//
// Memory and arithmetic take as long as each other here. So that neither waits, what is read, computed and written
// lies side by side in one loop: exponentials of one row, the largest number of the next, results of the one before.
#pragma once

#include "arithmetic/softmax/row_tile.h"
#include "memory/line_writer.h"
#include "memory/stream.h"

namespace stillflow {

constexpr int64_t kLongStreamedRow = 64;

template <typename W>
constexpr int64_t kRowBlock = 128 / sizeof(W);

// Writes exp(row - largest) and returns the sum. Before elements [j, j + count) are written, meanwhile(j, count) is
// called; count is kRowBlock but for the last.
template <typename W, typename Meanwhile>
STILLFLOW_INLINE W ExponentiateRow(const W* row, W largest, int64_t classes, W* exps, const Meanwhile& meanwhile) {
  constexpr int64_t kBlock = kRowBlock<W>;
  CombinedLanes<PlusLanes, kSumLanes, W> lanes(0);
  int64_t j = 0;
  for (; j + kBlock <= classes; j += kBlock) {
    meanwhile(j, kBlock);
#pragma GCC ivdep
    for (int64_t k = j; k < j + kBlock; ++k) exps[k] = ExpOfShifted(row[k] - largest);
    lanes.Add(exps + j, kBlock);
  }
  meanwhile(j, classes - j);
  if (j < classes) {
    // A whole block, some of it for the second time, is done sooner than a part of one.
#pragma GCC ivdep
    for (int64_t k = classes - kBlock; k < classes; ++k) exps[k] = ExpOfShifted(row[k] - largest);
    lanes.Add(exps + j, classes - j);
  }
  return lanes.Total();
}

// What makes results of exponentials, or, for the logarithm, of logits.
template <bool kIsLog, typename T>
struct RowResult {
  T first;       // 1 / sum; the largest
  T second = 0;  // log(sum)

  template <typename V>
  STILLFLOW_INLINE V operator()(V x) const {
    if constexpr (kIsLog) return (x - first) - second;
    return x * first;
  }
};

// Results of row after row, written line by line as other work leaves room. A line that two rows share waits for
// both.
template <bool kIsLog, typename T>
class PendingRows {
 public:
  explicit PendingRows(T* to) : writer_(reinterpret_cast<char*>(to)) {}

  // The row before must have been finished.
  void Begin(const T* from, RowResult<kIsLog, T> result, int64_t count) {
    from_ = from;
    result_ = result;
    left_ = count;
    WritePart(std::min(left_, writer_.missing() / static_cast<int64_t>(sizeof(T))));
  }

  STILLFLOW_INLINE void StreamLines(int64_t lines) {
    for (; lines > 0 && left_ >= kPerLine; --lines) {
      alignas(kLineBytes) T line[kPerLine];
      for (int64_t k = 0; k < kPerLine; k += kPerRegister) {
        Register<T> numbers;
        std::memcpy(&numbers, from_ + k, sizeof numbers);
        numbers = result_(numbers);
        std::memcpy(line + k, &numbers, sizeof numbers);
      }
      writer_.AppendLine(reinterpret_cast<const char*>(line));
      from_ += kPerLine;
      left_ -= kPerLine;
    }
    if (left_ > 0 && left_ < kPerLine) WritePart(left_);  // at once: what they are made of may be overwritten next
  }

  void FinishRow() { StreamLines(left_); }

  // Belongs at the end of each chunk, in the place of EndStream.
  void Finish() {
    FinishRow();
    writer_.Finish();
  }

 private:
  static constexpr int64_t kPerLine = kLineBytes / sizeof(T);
  static constexpr int64_t kPerRegister = kRegisterBytes / sizeof(T);

  void WritePart(int64_t count) {
    T part[kPerLine];
    for (int64_t k = 0; k < count; ++k) part[k] = result_(from_[k]);
    writer_.AppendPart(reinterpret_cast<const char*>(part), count * static_cast<int64_t>(sizeof(T)));
    from_ += count;
    left_ -= count;
  }

  const T* from_ = nullptr;
  int64_t left_ = 0;  // of the row
  RowResult<kIsLog, T> result_ = {};
  LineWriter writer_;
};

// Rows of kLongStreamedRow classes or more.
template <bool kIsLog, typename T>
Status StreamLongRows(const KernelCall& call, int64_t rows, int64_t classes, const T* from, T* to) {
  constexpr int64_t kElementsPerChunk = 1 << 18;
  constexpr int64_t kFewestRows = 16;  // of a chunk: its first and last have nothing beside them
  constexpr int64_t kBlock = kRowBlock<T>;
  const int64_t rows_per_chunk = std::max(kElementsPerChunk / classes, kFewestRows);
  return ForEachChunk(call, rows, rows_per_chunk, [=, &call](Range range) {
    const Scratch scratch(call, classes * static_cast<int64_t>(sizeof(T)));
    if (!scratch.ok()) return OutOfScratch();
    T* const exps = scratch.template data<T>();  // those before are read just before these are written
    PendingRows<kIsLog, T> pending(to + range.begin * classes);
    T largest = Largest(from + range.begin * classes, classes);
    for (int64_t i = range.begin; i < range.end; ++i) {
      const T* const row = from + i * classes;
      const T* const next = i + 1 < range.end ? row + classes : row;
      CombinedLanes<LargerLanes, kBlock, T> next_lanes(-std::numeric_limits<T>::infinity());
      const T sum = ExponentiateRow(
          row, largest, classes, exps, [&](int64_t j, int64_t count) __attribute__((always_inline)) {
            if (count < kBlock) {
              pending.FinishRow();
              next_lanes.Add(next + j, count);
            } else {
              pending.StreamLines(kBlock * sizeof(T) / kLineBytes);
              next_lanes.Add(next + j, kBlock);
            }
          });
      if constexpr (kIsLog) {
        pending.Begin(row, {largest, Log(sum)}, classes);
      } else {
        pending.Begin(exps, {1 / sum}, classes);
      }
      largest = next_lanes.Total();
    }
    pending.Finish();
    return Status();
  });
}

}  // namespace stillflow
