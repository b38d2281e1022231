// columns.h: rows that are combined with each other, element by element.
//
// Rows are cut into runs of kRowsPerRun. Those of a run are combined in their order, the runs by a tree. The order
// follows from the number of rows alone.
#pragma once

#include <algorithm>

#include "arithmetic/reduction/operations.h"
#include "memory/prefetch.h"
#include "memory/processor.h"
#include "memory/transposed_tile.h"

namespace stillflow {

constexpr int64_t kRowsPerRun = 64;

// Combines values[0], values[stride], ..., `width` of each, by a tree: neighbours first.
template <typename Op, typename T>
void CombineTree(void* results, int64_t count, int64_t stride, int64_t width) {
  T* const values = static_cast<T*>(results);
  while (count > 1) {
    const int64_t half = count / 2;
    for (int64_t i = 0; i < half; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        values[i * stride + j] = Op::Combine(values[2 * i * stride + j], values[(2 * i + 1) * stride + j]);
      }
    }
    if (count % 2 != 0) std::copy_n(values + (count - 1) * stride, width, values + half * stride);
    count = half + count % 2;
  }
}

// Whole rows are combined with what is there; several at a time, which saves as many passes over it. Some processors
// do not foresee so many rows: if `is_fetched`, the next ones are asked for there, or, where one begins when another
// ends, they are read in this order.
template <typename Op, typename T>
void CombineRowsInto(const T* from, int64_t rows, int64_t stride, int64_t width, bool is_fetched, T* to) {
  constexpr int64_t kRowsAtOnce = 4;
  constexpr int64_t kPerLine = 64 / sizeof(T);
  constexpr int64_t kBlock = 16 * kPerLine;  // of a row, for which lines are asked for together
  constexpr int64_t kMostInOrder = 4096;  // bytes of a row that is combined with what stays in the first-level cache
  const bool is_in_order = is_fetched && stride == width && width * static_cast<int64_t>(sizeof(T)) <= kMostInOrder;
  const bool asks_for_rows = is_fetched && kProcessor.asks_for_rows;
  int64_t i = 0;
  for (; !is_in_order && i + kRowsAtOnce <= rows; i += kRowsAtOnce) {
    const T* const a = from + i * stride;
    const T* const b = a + stride;
    const T* const c = b + stride;
    const T* const d = c + stride;
    for (int64_t begin = 0; begin < width; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, width);
      for (int64_t row = kRowsAtOnce; asks_for_rows && row < 2 * kRowsAtOnce; ++row) {
        for (int64_t j = begin; j < end; j += kPerLine) __builtin_prefetch(a + row * stride + j, 0, 2);
      }
#pragma GCC ivdep
      for (int64_t j = begin; j < end; ++j) {
        const T two = Op::Combine(Op::Combine(to[j], Op::Prepare(a[j])), Op::Prepare(b[j]));
        to[j] = Op::Combine(Op::Combine(two, Op::Prepare(c[j])), Op::Prepare(d[j]));
      }
    }
  }
  for (; i < rows; ++i) {
    const T* row = from + i * stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) to[j] = Op::Combine(to[j], Op::Prepare(row[j]));
  }
}

// to[j] = the combination of column j of `rows` rows, `stride` elements apart.
template <typename Op, typename T>
void CombineRows(const void* elements, int64_t rows, int64_t stride, int64_t width, bool is_fetched, void* results) {
  T* const to = static_cast<T*>(results);
  std::fill_n(to, width, Op::Start());
  CombineRowsInto<Op>(static_cast<const T*>(elements), rows, stride, width, is_fetched, to);
}

// ---- Narrow rows --------------------------------------------------------------------------------------------

// Runs of rows with fewer columns do not fill a register: as many runs as it has lanes are combined side by side.
constexpr int64_t kMostNarrow = 8;
template <typename T>
constexpr int64_t kRunsAtOnce = kRegisterBytes / static_cast<int64_t>(sizeof(T));

// What these runs lie between is not read in order: if `is_fetched`, as much is asked for that comes next.
template <typename T>
STILLFLOW_INLINE void FetchNextRuns(const T* row, int64_t bytes_per_row, bool is_fetched) {
  if (is_fetched) PrefetchRow(row, kRunsAtOnce<T> * bytes_per_row);
}

// Registers made of the rows of some runs, for rows of which as many as fill one.
template <typename Op, int kRowBytes, typename T>
void CombineRunsOfParts(const T* from, bool is_fetched, T* to) {
  using L = Lane<Op, T>;
  constexpr int64_t kWidth = kRowBytes / static_cast<int64_t>(sizeof(T));
  constexpr int64_t kRunsPerRegister = kRegisterBytes / kRowBytes;
  constexpr int64_t kRegisters = kRunsAtOnce<T> / kRunsPerRegister;
  constexpr int64_t kRunBytes = kRowsPerRun * kRowBytes;
  Register<L> combined[kRegisters];
  for (auto& each : combined) each = static_cast<L>(Op::Start()) - Register<L>{};
  const char* row = reinterpret_cast<const char*>(from);
  for (int64_t i = 0; i < kRowsPerRun; ++i, row += kRowBytes) {
    FetchNextRuns(from + (kRunsAtOnce<T> * kRowsPerRun + kRunsAtOnce<T> * i) * kWidth, kRowBytes, is_fetched);
    for (int64_t k = 0; k < kRegisters; ++k) {
      const auto parts = (Register<L>)LoadParts<kRowBytes>(row + k * kRunsPerRegister * kRunBytes, kRunBytes);
      combined[k] = Op::Combine(combined[k], Op::Prepare(parts));
    }
  }
  std::memcpy(to, combined, sizeof combined);
}

// The same of other rows, which are transposed a few at a time.
template <typename Op, typename T>
void CombineTransposedRuns(const T* from, int64_t width, bool is_fetched, T* to) {
  constexpr int64_t kRuns = kRunsAtOnce<T>;
  constexpr int64_t kRows = 8;  // they stay in the first-level cache
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T lanes[kRows * kMostNarrow * kRuns];
  T combined[kMostNarrow * kRuns];
  std::fill_n(combined, width * kRuns, Op::Start());
  for (int64_t row = 0; row < kRowsPerRun; row += kRows) {
    FetchNextRuns(from + kRuns * (kRowsPerRun + row) * width, kRows * width * static_cast<int64_t>(sizeof(T)),
                  is_fetched);
    TransposeTile(reinterpret_cast<const Word*>(from + row * width), kRowsPerRun * width,
                  reinterpret_cast<Word*>(lanes), kRuns, kRuns, kRows * width);
    for (int64_t i = 0; i < kRows; ++i) {
      const T* const next = lanes + i * width * kRuns;
      for (int64_t k = 0; k < width * kRuns; ++k) combined[k] = Op::Combine(combined[k], Op::Prepare(next[k]));
    }
  }
  for (int64_t run = 0; run < kRuns; ++run) {
    for (int64_t j = 0; j < width; ++j) to[run * width + j] = combined[j * kRuns + run];
  }
}

// kRunsAtOnce adjacent runs of rows of `width` <= kMostNarrow elements, one after another.
template <typename Op, typename T>
void CombineNarrowRuns(const void* elements, int64_t width, bool is_fetched, void* results) {
  const T* const from = static_cast<const T*>(elements);
  T* const to = static_cast<T*>(results);
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(T));
  if (row_bytes == 16) return CombineRunsOfParts<Op, 16>(from, is_fetched, to);
  if constexpr (kRegisterBytes >= 32) {
    if (row_bytes == 32) return CombineRunsOfParts<Op, 32>(from, is_fetched, to);
  }
  CombineTransposedRuns<Op>(from, width, is_fetched, to);
}

}  // namespace stillflow
