// element.h: arithmetic on elements of any number type, one at a time: half types in float, integers wrapping around.
#pragma once

#include "arithmetic/math/complex.h"

namespace stillflow {

template <typename T, bool is_floating = kIsFloating<T>>
struct ElementArithmetic {
  using Wide = T;
  static Wide Load(T x) { return x; }
  static T Store(Wide x) { return x; }
  static Wide Add(Wide a, Wide b) { return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
  static Wide Subtract(Wide a, Wide b) { return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
  static Wide Multiply(Wide a, Wide b) { return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
  static Wide Negative(Wide a) { return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a)); }
};

template <typename T>
struct ElementArithmetic<T, true> {
  using Wide = stillflow::Wide<T>;
  static Wide Load(T x) { return Widen(x); }
  static T Store(Wide x) { return Narrow<T>(x); }
  static Wide Add(Wide a, Wide b) { return a + b; }
  static Wide Subtract(Wide a, Wide b) { return a - b; }
  static Wide Multiply(Wide a, Wide b) { return a * b; }
  static Wide Negative(Wide a) { return -a; }
};

template <typename R>
struct ElementArithmetic<Complex<R>, false> {
  using Wide = Complex<R>;
  static Wide Load(Wide x) { return x; }
  static Wide Store(Wide x) { return x; }
  static Wide Add(Wide a, Wide b) { return a + b; }
  static Wide Subtract(Wide a, Wide b) { return a - b; }
  static Wide Multiply(Wide a, Wide b) { return Product(a, b); }
  static Wide Negative(Wide a) { return -a; }
};

// What an element is computed with.
template <typename T>
STILLFLOW_INLINE auto Load(T x) {
  return ElementArithmetic<T>::Load(x);
}

}  // namespace stillflow
