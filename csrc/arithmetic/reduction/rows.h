// rows.h: rows whose elements are combined with each other.
//
// A row is cut into runs of kReductionRun elements. Those of a run are combined in kReductionLanes lanes by position,
// the lanes by halves, and the runs by a tree. The order follows from the number of elements alone.
#pragma once

#include <algorithm>

#include "arithmetic/reduction/operations.h"
#include "memory/deinterleave.h"
#include "memory/prefetch.h"
#include "memory/processor.h"
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
  // Where it begins if rows are adjacent.
  int64_t RunOffset(int64_t run) const { return run / Runs() * length + run % Runs() * kReductionRun; }
  // Whether they may lie in a cache.
  bool FitCache(int64_t element_bytes) const { return !IsStreamed(count * length * element_bytes); }
};

// Where `count` elements of a row stand one after another: a copy in `buffer`, if need be. Segments that are far from
// each other are asked for before they are read.
template <typename T>
const T* Fetch(const Rows& rows, const T* from, int64_t row, int64_t begin, int64_t count, T* buffer) {
  from += row * rows.pitch;
  if (rows.AreAdjacent()) return from + begin;
  const int64_t ahead =
      rows.FitCache(sizeof(T)) ? 0 : (kReductionRun + rows.segment - 1) / rows.segment * rows.stride;
  int64_t in_segment = begin % rows.segment;
  from += begin / rows.segment * rows.stride;
  for (int64_t done = 0; done < count; from += rows.stride, in_segment = 0) {
    const int64_t part = std::min(rows.segment - in_segment, count - done);
    if (ahead > 0) PrefetchRow(from + in_segment + ahead, part * static_cast<int64_t>(sizeof(T)));
    CopyBytes(reinterpret_cast<char*>(buffer + done), reinterpret_cast<const char*>(from + in_segment),
              part * static_cast<int64_t>(sizeof(T)));
    done += part;
  }
  return buffer;
}

// ---- Runs ---------------------------------------------------------------------------------------------------

// Calls read(bytes_ahead, by_half_lines), two constants, as what is read does best. A core reads memory faster where
// what comes next is asked for beforehand; in a cache that is a loss.
template <typename Read>
STILLFLOW_INLINE auto ReadAsBest(bool is_in_memory, const Read& read) {
  using Ahead = std::integral_constant<int64_t, 2048>;
  using NotAhead = std::integral_constant<int64_t, 0>;
  if (is_in_memory && kProcessor.asks_for_lines) return read(Ahead{}, std::false_type{});
  if (kProcessor.reads_by_half_lines) return read(NotAhead{}, std::true_type{});
  return read(NotAhead{}, std::false_type{});
}

// The elements of a small type, in lanes that are no registers.
template <typename Op, typename T>
T CombineInPlace(const T* data, int64_t count) {
  T lanes[kReductionLanes];
  for (T& lane : lanes) lane = Op::Start();
  int64_t i = 0;
  for (; i + kReductionLanes <= count; i += kReductionLanes) {
    for (int j = 0; j < kReductionLanes; ++j) lanes[j] = Op::Combine(lanes[j], Op::Prepare(data[i + j]));
  }
  for (int j = 0; i < count; ++i, ++j) lanes[j] = Op::Combine(lanes[j], Op::Prepare(data[i]));
  for (int width = kReductionLanes / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) lanes[j] = Op::Combine(lanes[j], lanes[j + width]);
  }
  return lanes[0];
}

// `is_in_memory`: the run is one of many that are read from there one after another.
template <typename Op, typename T>
T CombineRun(const T* data, int64_t count, bool is_in_memory) {
  if constexpr (kFillsRegisters<T>) {
    using L = Lane<Op, T>;
    const auto start = static_cast<L>(Op::Start());
    const L* from = reinterpret_cast<const L*>(data);
    return ReadAsBest(is_in_memory, [=](auto bytes_ahead, auto by_half_lines) {
      return static_cast<T>(CombineInLanes<Op, kReductionLanes, bytes_ahead(), by_half_lines()>(from, count, start));
    });
  } else if constexpr (Op::kIsOfSet) {
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    if (bytes >= kRegisterBytes) return CombineInAnyOrder<Op, kRegisterBytes>(data, count, Op::Start());
    if (bytes >= 16) return CombineInAnyOrder<Op, 16>(data, count, Op::Start());
    return CombineInPlace<Op>(data, count);
  } else {
    return CombineInPlace<Op>(data, count);
  }
}

// Two runs, each as CombineRun does it, read side by side.
template <typename Op, typename T>
void CombineTwoRuns(const T* first, int64_t first_count, const T* second, int64_t second_count, T* first_to,
                    T* second_to) {
  using L = Lane<Op, T>;
  const auto start = static_cast<L>(Op::Start());
  CombinedLanes<Op, kReductionLanes, L> first_lanes(start);
  CombinedLanes<Op, kReductionLanes, L> second_lanes(start);
  const L* const a = reinterpret_cast<const L*>(first);
  const L* const b = reinterpret_cast<const L*>(second);
  int64_t i = 0;
  for (const int64_t both = std::min(first_count, second_count); i + kReductionLanes <= both; i += kReductionLanes) {
    first_lanes.Add(a + i, kReductionLanes);
    second_lanes.Add(b + i, kReductionLanes);
  }
  first_lanes.Add(a + i, first_count - i);
  second_lanes.Add(b + i, second_count - i);
  *first_to = static_cast<T>(first_lanes.Total());
  *second_to = static_cast<T>(second_lanes.Total());
}

// As many rows of `count` elements as a register has lanes, one after another, each combined as CombineRun does it.
template <typename T>
constexpr int64_t kRowsAtOnce = kRegisterBytes / static_cast<int64_t>(sizeof(T));
template <typename Op, typename T>
void CombineRunsAtOnce(const T* data, int64_t count, bool is_in_memory, T* to) {
  using L = Lane<Op, T>;
  using Lanes = CombinedLanes<Op, kReductionLanes, L>;
  constexpr int kRuns = kRowsAtOnce<T>;
  const auto start = static_cast<L>(Op::Start());
  const L* const from = reinterpret_cast<const L*>(data);
  Register<L> runs[kRuns];
  if constexpr (Op::kKeepsNaN) {
    NaNWatch<L> watch;
    ReadAsBest(is_in_memory, [&](auto bytes_ahead, auto by_half_lines) {
      for (int k = 0; k < kRuns; ++k) {
        Lanes lanes(start);
        lanes.template AddNumbers<bytes_ahead(), by_half_lines()>(from + k * count, count, &watch);
        runs[k] = lanes.template Folded<OfNumbers<Op>>();
      }
    });
    if (__builtin_expect(!watch.HasSeen(), true)) {
      const Register<L> totals = CombineEachByHalves<OfNumbers<Op>, L>(runs);
      std::memcpy(to, &totals, sizeof totals);
      return;
    }
  }
  ReadAsBest(is_in_memory, [&](auto bytes_ahead, auto by_half_lines) {
    for (int k = 0; k < kRuns; ++k) {
      Lanes lanes(start);
      lanes.template Add<bytes_ahead(), by_half_lines()>(from + k * count, count);
      runs[k] = lanes.Folded();
    }
  });
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

// Combines `count` elements of a row, which begin at a multiple of kReductionRun. Segments that fill the lanes are
// not copied.
template <typename Op, typename T>
T CombinePart(const Rows& rows, const T* from, int64_t row, int64_t begin, int64_t count, T* buffer) {
  if constexpr (kFillsRegisters<T>) {
    if (!rows.AreAdjacent() && rows.segment % kReductionLanes == 0) {
      using L = Lane<Op, T>;
      CombinedLanes<Op, kReductionLanes, L> lanes(static_cast<L>(Op::Start()));
      const T* segment = from + row * rows.pitch + begin / rows.segment * rows.stride;
      int64_t skipped = begin % rows.segment;
      for (int64_t left = count; left > 0; segment += rows.stride, skipped = 0) {
        const int64_t part = std::min(rows.segment - skipped, left);
        lanes.Add(reinterpret_cast<const L*>(segment + skipped), part);
        left -= part;
      }
      return static_cast<T>(lanes.Total());
    }
  }
  const bool is_in_memory = rows.AreAdjacent() && !rows.FitCache(sizeof(T));
  return CombineRun<Op>(Fetch(rows, from, row, begin, count, buffer), count, is_in_memory);
}

// Elements of rows that are taken apart by column. Longer ones fill registers well enough.
template <typename T>
constexpr int64_t kMostShort = !kFillsRegisters<T>    ? kReductionLanes
                               : kRegisterBytes == 64 ? 20
                                                      : 28;

// The runs of a range that are rows, as far as several of them are combined at once. Returns the first that is not.
template <typename Op, typename T>
int64_t CombineWholeRows(const Rows& rows, const T* from, Range range, T* to) {
  constexpr int64_t kMostInMemory = 256;  // elements of rows for which what ends a row takes longer than memory
  int64_t i = range.begin;
  if (rows.length == 0 || rows.length > kReductionRun || !rows.AreAdjacent()) return i;
  if (rows.length <= kMostShort<T>) {
    while (i + 1 < range.end) {
      const int64_t count = std::min(kShortRowsPerTile, range.end - i);
      const int64_t behind = (rows.count - i - count) * rows.length;
      CombineShortRows<Op>(from + i * rows.length, count, rows.length, behind, to + i - range.begin);
      i += count;
    }
    return i;
  }
  if constexpr (kFillsRegisters<T>) {
    const bool is_in_memory = !rows.FitCache(sizeof(T));
    if (is_in_memory && (kProcessor.reads_in_pairs || rows.length > kMostInMemory)) return i;
    for (; i + kRowsAtOnce<T> <= range.end; i += kRowsAtOnce<T>) {
      CombineRunsAtOnce<Op>(from + i * rows.length, rows.length, is_in_memory, to + i - range.begin);
    }
  }
  return i;
}

// to[i] = the combination of run range.begin + i; every row has Rows::Runs of them.
template <typename Op, typename T>
void CombineRuns(const Rows& rows, const void* elements, Range range, void* results) {
  const T* const from = static_cast<const T*>(elements);
  T* const to = static_cast<T*>(results) - range.begin;
  const int64_t runs = rows.Runs();
  int64_t i = CombineWholeRows<Op>(rows, from, range, to + range.begin);
  if constexpr (kFillsRegisters<T>) {
    const bool are_pairs = kProcessor.reads_in_pairs && rows.AreAdjacent() && !rows.FitCache(sizeof(T));
    const int64_t apart = are_pairs ? (range.end - i) / 2 : 0;
    for (const int64_t end = i + apart; i < end; ++i) {
      const int64_t j = i + apart;
      CombineTwoRuns<Op>(from + rows.RunOffset(i), rows.RunLength(i), from + rows.RunOffset(j), rows.RunLength(j),
                         to + i, to + j);
    }
    i += apart;
  }
  T buffer[kReductionRun];
  for (; i < range.end; ++i) {
    to[i] = CombinePart<Op>(rows, from, i / runs, i % runs * kReductionRun, rows.RunLength(i), buffer);
  }
}

}  // namespace stillflow
