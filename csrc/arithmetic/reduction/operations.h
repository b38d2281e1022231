// operations.h: the operations of reductions.
//
// Start is the neutral element, Prepare maps an element before Combine; all work on registers and on single numbers.
#pragma once

#include <limits>

#include "arithmetic/math/lanes.h"

namespace stillflow {

template <typename Acc>
struct Plain {
  static constexpr bool kWraps = false;  // integers, as Wrapping has them
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
    return value * value;
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
// NaN is passed over: of nothing else it makes -infinity or infinity, as in TensorFlow.
template <typename Acc, bool kIsLargest>
struct Extremum : Plain<Acc> {
  using Limits = std::numeric_limits<Acc>;
  static Acc Start() {
    if constexpr (std::is_floating_point_v<Acc>) return kIsLargest ? -Limits::infinity() : Limits::infinity();
    return kIsLargest ? Limits::lowest() : Limits::max();
  }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    if constexpr (kIsLargest) return Larger(b, a);
    return Smaller(b, a);
  }
};
template <typename Acc>
using Max = Extremum<Acc, true>;
template <typename Acc>
using Min = Extremum<Acc, false>;

// Integers are combined in types that wrap around.
template <typename Op, typename T>
using Lane = std::conditional_t<Op::kWraps, Wrapping<T>, T>;

}  // namespace stillflow
