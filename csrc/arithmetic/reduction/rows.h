// rows.h: reductions along rows, that is, of contiguous elements.
//
// A row is cut into runs of kReductionRun elements. A run is reduced in kReductionLanes lanes, by position, then the
// lanes by halves, and the runs by a binary tree. So the order of arithmetic follows from the number of elements
// alone, not from registers or threads.
#pragma once

#include <algorithm>

#include "arithmetic/math/worked_type.h"
#include "arithmetic/reduction/operations.h"
#include "memory/deinterleave.h"
#include "memory/prefetch.h"
#include "memory/strided_copy.h"

namespace stillflow {

constexpr int kReductionLanes = 32;
constexpr int64_t kReductionRun = 1024;

// Rows of elements that lie in segments: row i begins at i * pitch, its segments are `stride` apart.
struct Rows {
  int64_t count;
  int64_t length;
  int64_t pitch;
  int64_t segment;
  int64_t stride;

  static Rows Adjacent(int64_t count, int64_t length) { return {count, length, length, length, length}; }
  bool AreAdjacent() const { return segment == length; }
  int64_t Runs() const { return std::max<int64_t>((length + kReductionRun - 1) / kReductionRun, 1); }  // of a row
  int64_t RunLength(int64_t run) const { return std::min(kReductionRun, length - run % Runs() * kReductionRun); }
};

// Elements of a type that may have to be converted to the one that is worked on.
struct Elements {
  const char* data;
  int64_t bytes;  // of one
  Conversion convert;
};

// Where `count` elements of a row lie one after another: a copy in `buffer`, if they do not.
inline const char* Adjoin(const Rows& rows, const Elements& elements, int64_t row, int64_t begin, int64_t count,
                          char* buffer) {
  const char* from = elements.data + row * rows.pitch * elements.bytes;
  if (rows.AreAdjacent()) return from + begin * elements.bytes;
  int64_t in_segment = begin % rows.segment;
  from += begin / rows.segment * rows.stride * elements.bytes;
  for (int64_t done = 0; done < count; from += rows.stride * elements.bytes, in_segment = 0) {
    const int64_t part = std::min(rows.segment - in_segment, count - done);
    CopyBytes(buffer + done * elements.bytes, from + in_segment * elements.bytes, part * elements.bytes);
    done += part;
  }
  return buffer;
}

// ---- Runs ---------------------------------------------------------------------------------------------------

template <typename Op, typename T>
T CombineRun(const T* data, int64_t count) {
  using L = Lane<Op, T>;
  return static_cast<T>(
      CombineInLanes<Op, kReductionLanes>(reinterpret_cast<const L*>(data), count, static_cast<L>(Op::Start())));
}

// As many rows of `count` elements as a register has lanes, one after another, each combined as CombineRun does it.
template <typename T>
constexpr int64_t kRowsAtOnce = kRegisterBytes / static_cast<int64_t>(sizeof(T));
template <typename Op, typename T>
void CombineRunsAtOnce(const T* data, int64_t count, T* to) {
  using L = Lane<Op, T>;
  using Lanes = CombinedLanes<Op, kReductionLanes, L>;
  constexpr int kRuns = kRowsAtOnce<T>;
  const auto start = static_cast<L>(Op::Start());
  const L* const from = reinterpret_cast<const L*>(data);
  Register<L> runs[kRuns];
  for (int k = 0; k < kRuns; ++k) {
    Lanes lanes(start);
    lanes.Add(from + k * count, count);
    runs[k] = lanes.Folded();
  }
  const Register<L> totals = CombineEachByHalves<Op, L>(runs);
  std::memcpy(to, &totals, sizeof totals);
}

// Rows of `count` <= kReductionLanes elements, each combined as CombineRun does it: every step is done for all rows
// at once. `behind` elements behind the last row may be read.
constexpr int64_t kShortRowsPerTile = 64;
template <typename Op, typename T>
void CombineShortRows(const T* from, int64_t rows, int64_t count, int64_t behind, T* to) {
  T columns[kReductionLanes * kShortRowsPerTile];
  T lanes[kReductionLanes][kShortRowsPerTile];
  Deinterleave(from, rows, count, columns, kShortRowsPerTile, behind);
  for (int64_t j = 0; j < count; ++j) {
    const T* const column = columns + j * kShortRowsPerTile;
    for (int64_t i = 0; i < rows; ++i) lanes[j][i] = Op::Combine(Op::Start(), Op::Prepare(column[i]));
  }
  for (int64_t width = kReductionLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width && j + width < count; ++j) {
      for (int64_t i = 0; i < rows; ++i) lanes[j][i] = Op::Combine(lanes[j][i], lanes[j + width][i]);
    }
  }
  std::copy_n(lanes[0], rows, to);
}

// ---- Runs of rows -------------------------------------------------------------------------------------------

// Elements of rows that are taken apart by column. Longer ones fill registers well enough.
constexpr int64_t kMostShort = kRegisterBytes == 64 ? 20 : 28;

// The runs of a range that are rows, as far as several of them are combined at once. Returns the first that is not.
template <typename Op, typename T>
int64_t CombineWholeRows(const Rows& rows, const T* from, Range range, T* to) {
  int64_t i = range.begin;
  if (rows.length == 0 || rows.length > kReductionRun || !rows.AreAdjacent()) return i;
  if (rows.length <= kMostShort) {
    while (i + 1 < range.end) {
      const int64_t count = std::min(kShortRowsPerTile, range.end - i);
      const int64_t behind = (rows.count - i - count) * rows.length;
      CombineShortRows<Op>(from + i * rows.length, count, rows.length, behind, to + i - range.begin);
      i += count;
    }
    return i;
  }
  for (; i + kRowsAtOnce<T> <= range.end; i += kRowsAtOnce<T>) {
    CombineRunsAtOnce<Op>(from + i * rows.length, rows.length, to + i - range.begin);
  }
  return i;
}

// to[i] = the combination of run range.begin + i; every row has Rows::Runs of them.
template <typename Op, typename T>
void CombineRunsAsTheyAre(const Rows& rows, const Elements& elements, Range range, T* to) {
  const T* const from = reinterpret_cast<const T*>(elements.data);
  const int64_t runs = rows.Runs();
  alignas(T) char buffer[kReductionRun * sizeof(T)];
  int64_t i = CombineWholeRows<Op>(rows, from, range, to);
  for (; i < range.end; ++i) {
    const int64_t count = rows.RunLength(i);
    const char* const run = Adjoin(rows, elements, i / runs, i % runs * kReductionRun, count, buffer);
    to[i - range.begin] = CombineRun<Op>(reinterpret_cast<const T*>(run), count);
  }
}

// The same of elements that are converted, some rows or one run at a time.
template <typename Op, typename T>
void CombineConvertedRuns(const Rows& rows, const Elements& elements, Range range, T* to) {
  constexpr int64_t kMostTogether = 128;  // elements of rows that are converted together
  constexpr int64_t kElementsTogether = 2048;
  T converted[kElementsTogether];
  if (0 < rows.length && rows.length <= kMostTogether && rows.AreAdjacent()) {
    for (int64_t i = range.begin; i < range.end;) {
      const int64_t count = std::min(kElementsTogether / rows.length, range.end - i);
      elements.convert(elements.data + i * rows.length * elements.bytes, count * rows.length, converted);
      const Elements of_rows = {reinterpret_cast<const char*>(converted), sizeof(T), nullptr};
      CombineRunsAsTheyAre<Op>(Rows::Adjacent(count, rows.length), of_rows, Range{0, count}, to);
      i += count;
      to += count;
    }
    return;
  }
  const int64_t runs = rows.Runs();
  alignas(T) char buffer[kReductionRun * sizeof(T)];
  for (int64_t i = range.begin; i < range.end; ++i) {
    const int64_t count = rows.RunLength(i);
    elements.convert(Adjoin(rows, elements, i / runs, i % runs * kReductionRun, count, buffer), count, converted);
    *to++ = CombineRun<Op>(converted, count);
  }
}

template <typename Op, typename T>
void CombineRuns(const Rows& rows, const Elements& elements, Range range, void* results) {
  T* const to = static_cast<T*>(results);
  elements.convert != nullptr ? CombineConvertedRuns<Op>(rows, elements, range, to)
                              : CombineRunsAsTheyAre<Op>(rows, elements, range, to);
}

}  // namespace stillflow
