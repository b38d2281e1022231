// sorting_network.h: rows sorted in descending order by a fixed sequence of comparisons.
//
// Squares of registers are sorted by columns and transposed, then runs of registers are merged by Batcher's bitonic
// network: one of two runs is reversed, after which elements are compared at a distance that halves every time, at
// last within registers; these steps are called cleaning here. A run that is no power of two would be padded with
// elements less than all others: comparisons with padding are left out.
#pragma once

#include <utility>

#include "arithmetic/math/lanes.h"

namespace stillflow {

template <typename T>
constexpr int kLanesOf = kRegisterBytes / static_cast<int>(sizeof(T));

template <typename T>
class SortingNetwork {
 public:
  using V = Register<T>;
  static constexpr int kLanes = kLanesOf<T>;
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

  // Of how many registers to make a row that needs `count`: a little more than a power of two would be merged piece
  // by piece.
  static int64_t RegistersFor(int64_t count) {
    const int64_t piece = count < 16 ? 1 : PowerBelow(count) / 8;
    return (count + piece - 1) / piece * piece;
  }

  // Sorts each of `count` rows of `registers` registers that lie one behind the other, in memory that ends with a
  // multiple of kLanes registers.
  static void Sort(V* rows, int64_t count, int64_t registers) {
    const auto sort_square = registers % kLanes == 0 ? SortSquare<true> : SortSquare<false>;
    for (int64_t i = 0; i < count * registers; i += kLanes) sort_square(rows + i);
    if (registers == 1) return;
    for (int64_t i = 0; i < count; ++i) SortRuns(rows + i * registers, registers);
  }

 private:
  // So many registers are held while they are merged.
  static constexpr int kHeld = kRegisterBytes == 64 ? 16 : 8;

  STILLFLOW_INLINE static void Order(V& a, V& b) {
    const V larger = Larger(a, b);
    b = Smaller(a, b);
    a = larger;
  }

  // Body(0), ..., body(count - 1), all written out.
  template <int... i, typename Body>
  STILLFLOW_INLINE static void Each(std::integer_sequence<int, i...>, const Body& body) {
    (body(std::integral_constant<int, i>{}), ...);
  }
  template <int kCount, typename Body>
  STILLFLOW_INLINE static void Each(const Body& body) {
    Each(std::make_integer_sequence<int, kCount>{}, body);
  }

  // Lane i of the result is element source(i) of a and b.
  template <int... i, typename Source>
  STILLFLOW_INLINE static V Shuffle(V a, V b, std::integer_sequence<int, i...>, Source source) {
    constexpr Register<Index> kSources = {source(i)...};
    return __builtin_shuffle(a, b, kSources);
  }
  template <typename Source>
  STILLFLOW_INLINE static V Shuffle(V a, V b, Source source) {
    return Shuffle(a, b, std::make_integer_sequence<int, kLanes>{}, source);
  }

  // Swaps the lanes of a that are kWidth above others with those of b that are as far below.
  template <int kWidth>
  STILLFLOW_INLINE static void Exchange(V& a, V& b) {
    const V lower = Shuffle(a, b, [](int i) { return (i & kWidth) != 0 ? kLanes + i - kWidth : i; });
    b = Shuffle(a, b, [](int i) { return (i & kWidth) != 0 ? kLanes + i : i + kWidth; });
    a = lower;
  }

  STILLFLOW_INLINE static V Reversed(V a) {
    return Shuffle(a, a, [](int i) { return kLanes - 1 - i; });
  }

  // ---- Registers that are held --------------------------------------------------------------------------------

  template <int kCount>
  STILLFLOW_INLINE static void CleanColumns(V* v) {
    if constexpr (kCount > 1) {
      constexpr int kHalf = kCount / 2;
      Each<kHalf>([&](auto i) __attribute__((always_inline)) { Order(v[i], v[i + kHalf]); });
      CleanColumns<kHalf>(v);
      CleanColumns<kHalf>(v + kHalf);
    }
  }

  // Batcher's odd-even network, which has a fifth less comparisons than the bitonic one: merges the halves of every
  // kStep-th of kCount registers.
  template <int kCount, int kStep>
  STILLFLOW_INLINE static void MergeColumns(V* v) {
    if constexpr (2 * kStep < kCount) {
      MergeColumns<kCount, 2 * kStep>(v);
      MergeColumns<kCount, 2 * kStep>(v + kStep);
      Each<kCount / (2 * kStep) - 1>([&](auto i) __attribute__((always_inline)) {
        Order(v[(2 * i + 1) * kStep], v[(2 * i + 2) * kStep]);
      });
    } else {
      Order(v[0], v[kStep]);
    }
  }

  template <int kCount>
  STILLFLOW_INLINE static void SortColumns(V* v) {
    if constexpr (kCount > 1) {
      SortColumns<kCount / 2>(v);
      SortColumns<kCount / 2>(v + kCount / 2);
      MergeColumns<kCount, 1>(v);
    }
  }

  template <int kWidth>
  STILLFLOW_INLINE static void Transpose(V* v) {
    if constexpr (kWidth > 0) {
      Each<kLanes>([&](auto i) __attribute__((always_inline)) {
        if constexpr ((i & kWidth) == 0) Exchange<kWidth>(v[i], v[i + kWidth]);
      });
      Transpose<kWidth / 2>(v);
    }
  }

  // Sorts each of kLanes registers. Of a single row they may exchange their lanes.
  template <bool kIsOneRow>
  static void SortSquare(V* square) {
    V v[kLanes];
    Each<kLanes>([&](auto i) __attribute__((always_inline)) { v[i] = square[i]; });
    if constexpr (!kIsOneRow) Transpose<kLanes / 2>(v);
    SortColumns<kLanes>(v);
    Transpose<kLanes / 2>(v);
    Each<kLanes>([&](auto i) __attribute__((always_inline)) { square[i] = v[i]; });
  }

  template <int kWidth>
  STILLFLOW_INLINE static void CompareLanes(V& a, V& b) {
    if constexpr (kWidth > 0) {
      Exchange<kWidth>(a, b);
      Order(a, b);
      CompareLanes<kWidth / 2>(a, b);
    }
  }
  // Sorts two registers, each by itself.
  STILLFLOW_INLINE static void CleanLanes(V& a, V& b) {
    CompareLanes<kLanes / 2>(a, b);
    const V first = Shuffle(a, b, [](int i) { return i % 2 * kLanes + i / 2; });
    b = Shuffle(a, b, [](int i) { return i % 2 * kLanes + (kLanes + i) / 2; });
    a = first;
  }
  template <int kCount>
  STILLFLOW_INLINE static void CleanEach(V* v) {
    if constexpr (kCount == 1) {
      V other = v[0];
      CleanLanes(v[0], other);
    } else {
      Each<kCount / 2>([&](auto i) __attribute__((always_inline)) { CleanLanes(v[2 * i], v[2 * i + 1]); });
    }
  }

  // Merges registers that each are sorted, up to all.
  template <int kCount>
  STILLFLOW_INLINE static void SortAll(V* v) {
    if constexpr (kCount > 1) {
      constexpr int kHalf = kCount / 2;
      SortAll<kHalf>(v);
      SortAll<kHalf>(v + kHalf);
      // What is less stays turned round, as a whole: that is as good for cleaning.
      V turned[kHalf];
      Each<kHalf>([&](auto i) __attribute__((always_inline)) { turned[i] = Reversed(v[kCount - 1 - i]); });
      Each<kHalf>([&](auto i) __attribute__((always_inline)) {
        v[kHalf + i] = turned[i];
        Order(v[i], v[kHalf + i]);
      });
      CleanColumns<kHalf>(v);
      CleanColumns<kHalf>(v + kHalf);
      CleanEach<kCount>(v);
    }
  }

  STILLFLOW_INLINE static void OrderReversed(V& a, V& b) {
    b = Reversed(b);
    Order(a, b);
    b = Reversed(b);
  }

  template <int kCount>
  static void CleanHeld(V* run) {
    V v[kCount];
    Each<kCount>([&](auto i) __attribute__((always_inline)) { v[i] = run[i]; });
    CleanColumns<kCount>(v);
    CleanEach<kCount>(v);
    Each<kCount>([&](auto i) __attribute__((always_inline)) { run[i] = v[i]; });
  }
  template <int kCount>
  static void SortHeld(V* runs) {
    V v[kCount];
    Each<kCount>([&](auto i) __attribute__((always_inline)) { v[i] = runs[i]; });
    SortAll<kCount>(v);
    Each<kCount>([&](auto i) __attribute__((always_inline)) { runs[i] = v[i]; });
  }

  // ---- Runs in memory -----------------------------------------------------------------------------------------

  static int64_t PowerBelow(int64_t count) { return int64_t{1} << (63 - __builtin_clzll(count - 1)); }

  // Cleans kCount parts, which lie one behind the other.
  template <int kCount>
  static void CleanParts(V* run, int64_t part) {
    for (int64_t i = 0; i < part; ++i) {
      V v[kCount];
      Each<kCount>([&](auto j) __attribute__((always_inline)) { v[j] = run[i + j * part]; });
      CleanColumns<kCount>(v);
      Each<kCount>([&](auto j) __attribute__((always_inline)) { run[i + j * part] = v[j]; });
    }
    for (int64_t j = 0; j < kCount; ++j) Clean(run + j * part, part);
  }

  static void Clean(V* run, int64_t count) {
    if (count == 1) return CleanHeld<1>(run);
    if (count == 2) return CleanHeld<2>(run);
    if (count == 4) return CleanHeld<4>(run);
    if (count == 8) return CleanHeld<8>(run);
    if (count == kHeld) return CleanHeld<kHeld>(run);
    const int64_t half = PowerBelow(count);
    if (count == 2 * half) return count < 8 * kHeld ? CleanParts<4>(run, count / 4) : CleanParts<8>(run, count / 8);
    for (int64_t i = 0; i < count - half; ++i) Order(run[i], run[i + half]);
    Clean(run, half);
    Clean(run + half, count - half);
  }

  static void Merge(V* runs, int64_t half, int64_t count) {
    if (count == 2 * half) {
      const int64_t quarter = half / 2;
      for (int64_t i = 0; i < quarter; ++i) {
        V* const at[4] = {runs + i, runs + quarter + i, runs + half + quarter - 1 - i, runs + count - 1 - i};
        V v[4] = {*at[0], *at[1], Reversed(*at[2]), Reversed(*at[3])};
        Order(v[0], v[3]);
        Order(v[1], v[2]);
        Order(v[0], v[1]);
        Order(v[2], v[3]);
        Each<4>([&](auto j) __attribute__((always_inline)) { *at[j] = j < 2 ? v[j] : Reversed(v[j]); });
      }
      for (int64_t i = 0; i < 4; ++i) Clean(runs + i * quarter, quarter);
      return;
    }
    for (int64_t i = 0; i < count - half; ++i) OrderReversed(runs[half - 1 - i], runs[half + i]);
    Clean(runs, half);
    Clean(runs + half, count - half);
  }

  static void SortRuns(V* runs, int64_t count) {
    if (count == 1) return;
    if (count == 2) return SortHeld<2>(runs);
    if (count == 4) return SortHeld<4>(runs);
    if (count == 8) return SortHeld<8>(runs);
    if (count == kHeld) return SortHeld<kHeld>(runs);
    const int64_t half = PowerBelow(count);
    SortRuns(runs, half);
    SortRuns(runs + half, count - half);
    Merge(runs, half, count);
  }
};

}  // namespace stillflow
