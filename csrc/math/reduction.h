// reduction.h: what reductions combine, and in which order.
//
// A run of elements is combined in kReductionLanes lanes by position, the lanes by a tree. The order follows from the
// number of elements alone.
#pragma once

#include <algorithm>
#include <limits>

#include "kernel_api/processor.h"
#include "math/deinterleave.h"
#include "math/element.h"
#include "math/halves.h"
#include "math/lanes.h"

namespace stillflow {

constexpr int kReductionLanes = 32;
constexpr int64_t kShortRowsPerTile = 64;
constexpr int64_t kReductionRun = 1024;  // elements that are combined in lanes, at most
// A core reads memory faster where what comes next is asked for beforehand; in a cache that is a loss.
constexpr int64_t kReductionBytesAhead = 2048;

// What is combined: Start is neutral, Prepare takes an element. Wide numbers come as vectors as well.
template <typename Acc>
struct Plain {
  static constexpr bool kWraps = false;     // integers, as Wrapping has them
  static constexpr bool kKeepsNaN = false;  // as in lanes.h
  static constexpr bool kIsOfSet = false;   // what is combined, in which order and how often does not matter
  template <typename T>
  STILLFLOW_INLINE static T Prepare(T value) {
    return value;
  }
};

// Integers wrap around.
template <typename T>
using Unsigned = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, Unsigned<T>, T>;

template <typename Acc>
struct Sum : Plain<Acc> {
  static constexpr bool kWraps = true;
  static Acc Start() { return Acc{0}; }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return static_cast<V>(static_cast<Wrapping<V>>(a) + static_cast<Wrapping<V>>(b));
  }
};
template <typename Acc>
struct SumOfSquares : Sum<Acc> {
  template <typename V>
  STILLFLOW_INLINE static V Prepare(V value) {
    return static_cast<V>(static_cast<Wrapping<V>>(value) * static_cast<Wrapping<V>>(value));
  }
};
template <typename Acc>
struct Prod : Plain<Acc> {
  static constexpr bool kWraps = true;
  static Acc Start() { return Acc{1}; }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return static_cast<V>(static_cast<Wrapping<V>>(a) * static_cast<Wrapping<V>>(b));
  }
};
// A NaN stays; a may be one, and then b is not greater.
template <typename Acc>
struct Max : Plain<Acc> {
  static constexpr bool kKeepsNaN = std::is_floating_point_v<Acc>;
  static constexpr bool kIsOfSet = std::is_integral_v<Acc>;
  static Acc Start() {
    return std::is_floating_point_v<Acc> ? -std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::lowest();
  }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    const V larger = Larger(b, a);
    return b != b ? b : larger;
  }
  template <typename V>
  STILLFLOW_INLINE static V CombineNumbers(V a, V b) {
    return Larger(b, a);
  }
};
template <typename Acc>
struct Min : Plain<Acc> {
  static constexpr bool kKeepsNaN = std::is_floating_point_v<Acc>;
  static constexpr bool kIsOfSet = std::is_integral_v<Acc>;
  static Acc Start() {
    return std::is_floating_point_v<Acc> ? std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::max();
  }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    const V smaller = Smaller(b, a);
    return b != b ? b : smaller;
  }
  template <typename V>
  STILLFLOW_INLINE static V CombineNumbers(V a, V b) {
    return Smaller(b, a);
  }
};
struct All : Plain<bool> {
  static constexpr bool kIsOfSet = true;
  static bool Start() { return true; }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return static_cast<V>(a & b);
  }
};
struct Any : Plain<bool> {
  static constexpr bool kIsOfSet = true;
  static bool Start() { return false; }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return static_cast<V>(a | b);
  }
};

// Combines values[0], values[stride], ..., `width` of each, by a tree: neighbours first.
template <typename Op, typename Acc>
void CombineTree(Acc* values, int64_t count, int64_t stride, int64_t width) {
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

// What is combined in registers, and the type it has there.
template <typename Acc, typename T>
constexpr bool kFillsRegisters = std::is_same_v<T, Acc> && sizeof(T) >= 4;
template <typename Op, typename T>
using Lane = std::conditional_t<Op::kWraps, Wrapping<T>, T>;

// Calls read(bytes_ahead, by_half_lines), two constants, as what is read does best.
template <typename Read>
STILLFLOW_INLINE auto ReadAsBest(bool is_in_memory, const Read& read) {
  using Ahead = std::integral_constant<int64_t, kReductionBytesAhead>;
  using NotAhead = std::integral_constant<int64_t, 0>;
  if (is_in_memory && kProcessor.asks_for_lines) return read(Ahead{}, std::false_type{});
  if (kProcessor.reads_by_half_lines) return read(NotAhead{}, std::true_type{});
  return read(NotAhead{}, std::false_type{});
}

// `is_in_memory`: the run is one of many that are read from there one after another.
template <typename Op, typename Acc, typename T>
Acc CombineRun(const T* data, int64_t count, bool is_in_memory) {
  if constexpr (kFillsRegisters<Acc, T>) {
    using L = Lane<Op, T>;
    const auto start = static_cast<L>(Op::Start());
    const L* from = reinterpret_cast<const L*>(data);
    return ReadAsBest(is_in_memory, [=](auto bytes_ahead, auto by_half_lines) {
      return static_cast<Acc>(
          CombineInLanes<Op, kReductionLanes, bytes_ahead(), by_half_lines()>(from, count, start));
    });
  } else if constexpr (std::is_same_v<T, Half>) {
    float wide[kReductionRun];
    if constexpr (kHasHalfLanes) {
      const int64_t whole = count - count % kReductionLanes;
      CombinedLanes<Op, kReductionLanes, float> lanes(Op::Start());
      lanes.Add(data, whole);
      WidenHalves(data + whole, count - whole, wide);
      lanes.Add(wide, count - whole);
      const float total = lanes.Total();
      if (total == total) return total;  // else which NaN it is
    }
    WidenHalves(data, count, wide);
    return CombineRun<Op, Acc>(wide, count, false);
  } else {
    if constexpr (Op::kIsOfSet && std::is_same_v<T, Acc>) {
      using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
      if (count * static_cast<int64_t>(sizeof(T)) >= kRegisterBytes) {
        return CombineInAnyOrder<Op, Element>(reinterpret_cast<const Element*>(data), count, Op::Start());
      }
    }
    Acc lanes[kReductionLanes];
    for (int j = 0; j < kReductionLanes; ++j) lanes[j] = Op::Start();
    int64_t i = 0;
    for (; i + kReductionLanes <= count; i += kReductionLanes) {
      for (int j = 0; j < kReductionLanes; ++j) lanes[j] = Op::Combine(lanes[j], Op::Prepare(Load(data[i + j])));
    }
    for (int j = 0; i < count; ++i, ++j) lanes[j] = Op::Combine(lanes[j], Op::Prepare(Load(data[i])));
    for (int width = kReductionLanes / 2; width > 0; width /= 2) {
      for (int j = 0; j < width; ++j) lanes[j] = Op::Combine(lanes[j], lanes[j + width]);
    }
    return lanes[0];
  }
}

// Two runs, each as CombineRun does it, read side by side.
template <typename Op, typename Acc, typename T>
void CombineTwoRuns(const T* first, int64_t first_count, const T* second, int64_t second_count, Acc* to) {
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
  to[0] = static_cast<Acc>(first_lanes.Total());
  to[1] = static_cast<Acc>(second_lanes.Total());
}

// As many rows of `count` elements as a register has lanes, one after another, each combined as CombineRun does it.
template <typename Op, typename Acc, typename T>
void CombineRunsAtOnce(const T* data, int64_t count, bool is_in_memory, Acc* to) {
  using L = Lane<Op, T>;
  constexpr int kRuns = kRegisterBytes / static_cast<int>(sizeof(T));
  const auto start = static_cast<L>(Op::Start());
  Register<L> runs[kRuns];
  ReadAsBest(is_in_memory, [&](auto bytes_ahead, auto by_half_lines) {
    for (int k = 0; k < kRuns; ++k) {
      CombinedLanes<Op, kReductionLanes, L> lanes(start);
      lanes.template Add<bytes_ahead(), by_half_lines()>(reinterpret_cast<const L*>(data + k * count), count);
      runs[k] = lanes.Folded();
    }
  });
  const Register<L> totals = CombineEachByHalves<Op, L>(runs);
  std::memcpy(to, &totals, sizeof totals);
}

// Rows of `count` <= kReductionLanes elements, each combined as CombineRun does it: every step is done for all rows
// at once. `behind` elements behind the last row may be read.
template <typename Op, typename Acc, typename T>
void CombineShortRows(const T* from, int64_t rows, int64_t count, int64_t behind, Acc* to) {
  T columns[kReductionLanes * kShortRowsPerTile];
  Acc lanes[kReductionLanes][kShortRowsPerTile];
  Deinterleave(from, rows, count, columns, kShortRowsPerTile, behind);
  for (int64_t j = 0; j < count; ++j) {
    const T* const column = columns + j * kShortRowsPerTile;
    for (int64_t i = 0; i < rows; ++i) lanes[j][i] = Op::Combine(Op::Start(), Op::Prepare(Load(column[i])));
  }
  for (int64_t width = kReductionLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width && j + width < count; ++j) {
      for (int64_t i = 0; i < rows; ++i) lanes[j][i] = Op::Combine(lanes[j][i], lanes[j + width][i]);
    }
  }
  std::copy_n(lanes[0], rows, to);
}

// Whole rows are combined with what is there, element by element; several at a time, which saves as many passes over
// it. Some processors do not foresee so many rows: if `is_fetched`, the next ones are asked for there, or, where one
// begins when another ends, they are read in this order.
template <typename Op, typename Acc, typename T>
void CombineRowsInto(const T* from, int64_t rows, int64_t stride, int64_t width, bool is_fetched, Acc* to) {
  constexpr int64_t kRowsAtOnce = 4;
  constexpr int64_t kPerLine = 64 / sizeof(T);
  constexpr int64_t kBlock = 16 * kPerLine;  // of a row, for which lines are asked for together
  const auto prepared = [](const T* row, int64_t j) { return Op::Prepare(Load(row[j])); };
  constexpr int64_t kMostInOrder = 4096;  // bytes of a row that is combined with what stays in the first-level cache
  const bool is_in_order = is_fetched && stride == width && width * static_cast<int64_t>(sizeof(Acc)) <= kMostInOrder;
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
        const Acc two = Op::Combine(Op::Combine(to[j], prepared(a, j)), prepared(b, j));
        to[j] = Op::Combine(Op::Combine(two, prepared(c, j)), prepared(d, j));
      }
    }
  }
  for (; i < rows; ++i) {
    const T* row = from + i * stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) to[j] = Op::Combine(to[j], prepared(row, j));
  }
}

// Columns of 16-bit floats that fill registers, element by element.
constexpr int kHalfRegisters = 8;
constexpr int64_t kHalfColumns = kHalfRegisters * (kRegisterBytes / 4);
template <typename Op, typename T>
STILLFLOW_INLINE void CombineHalfColumns(const T* from, int64_t rows, int64_t stride, float* to) {
  constexpr int64_t kLanes = kRegisterBytes / 4;
  Register<float> lanes[kHalfRegisters];
  for (auto& each : lanes) each = Op::Start() - Register<float>{};
  for (int64_t i = 0; i < rows; ++i) {
    for (int k = 0; k < kHalfRegisters; ++k) {
      lanes[k] = Op::Combine(lanes[k], Op::Prepare(LoadLanes(from + i * stride + k * kLanes)));
    }
  }
  std::memcpy(to, lanes, sizeof lanes);
}

// The same of up to kMostWidened columns, which are made floats first.
constexpr int64_t kMostWidened = 512;
template <typename Op>
void CombineWidenedColumns(const Half* from, int64_t rows, int64_t stride, int64_t width, float* to) {
  constexpr int64_t kRowsAtOnce = 4;
  float wide[kRowsAtOnce * kMostWidened];
  std::fill_n(to, width, Op::Start());
  for (int64_t i = 0; i < rows; i += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, rows - i);
    for (int64_t k = 0; k < count; ++k) WidenHalves(from + (i + k) * stride, width, wide + k * kMostWidened);
    CombineRowsInto<Op>(wide, count, kMostWidened, width, false, to);
  }
}

// Whole rows are combined, element by element.
template <typename Op, typename Acc, typename T>
void CombineRows(const T* from, int64_t rows, int64_t stride, int64_t width, bool is_fetched, Acc* to) {
  if constexpr (std::is_same_v<T, Half>) {
    constexpr int64_t kColumns = kHasHalfLanes ? kHalfColumns : kMostWidened;
    for (int64_t j = 0; j < width; j += kColumns) {
      const int64_t columns = std::min(kColumns, width - j);
      if constexpr (kHasHalfLanes) {
        if (columns == kColumns) {
          CombineHalfColumns<Op>(from + j, rows, stride, to + j);
          int nans = 0;
          for (int64_t k = j; k < j + columns; ++k) nans += to[k] != to[k];
          if (nans == 0) continue;  // else which NaN it is
        }
      }
      CombineWidenedColumns<Op>(from + j, rows, stride, columns, to + j);
    }
  } else {
    for (int64_t j = 0; j < width; ++j) to[j] = Op::Start();
    CombineRowsInto<Op>(from, rows, stride, width, is_fetched, to);
  }
}

}  // namespace stillflow
