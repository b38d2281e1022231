// polynomial.h: polynomials, powers of two and exact sums: what approximations are evaluated with.
#pragma once

#include <limits>

#include "arithmetic/math/scalar.h"

namespace stillflow {

// c0 + c1 x + c2 x^2 + ..., from the highest power down, each step fused.
template <typename T>
STILLFLOW_INLINE T Horner(T, T c0) {
  return c0;
}
template <typename T, typename... Rest>
STILLFLOW_INLINE T Horner(T x, T c0, Rest... rest) {
  return Fma(x, Horner(x, rest...), c0);
}

// The same in steps of two powers, half as many that wait for each other.
template <typename T>
STILLFLOW_INLINE T HornerInSquare(T, T, T c0) {
  return c0;
}
template <typename T>
STILLFLOW_INLINE T HornerInSquare(T x, T, T c0, T c1) {
  return Fma(x, c1, c0);
}
template <typename T, typename... Rest>
STILLFLOW_INLINE T HornerInSquare(T x, T square, T c0, T c1, Rest... rest) {
  return Fma(square, HornerInSquare(x, square, rest...), Fma(x, c1, c0));
}

// In steps of four powers.
template <typename T, typename... Rest>
STILLFLOW_INLINE T HornerInFourth(T x, T square, T fourth, T c0, T c1, T c2, T c3, Rest... rest) {
  const T low = Fma(square, Fma(x, c3, c2), Fma(x, c1, c0));
  if constexpr (sizeof...(rest) == 0) {
    return low;
  } else if constexpr (sizeof...(rest) < 4) {
    return Fma(fourth, HornerInSquare(x, square, rest...), low);
  } else {
    return Fma(fourth, HornerInFourth(x, square, fourth, rest...), low);
  }
}

// Long ones, whose steps take longer than the arithmetic, in steps of two or four; but the last step, which counts
// most for the error, is the same.
template <typename T, typename... Rest>
STILLFLOW_INLINE T Polynomial(T x, T c0, Rest... rest) {
  if constexpr (sizeof...(rest) < 7) {
    return Horner(x, c0, rest...);
  } else if constexpr (sizeof...(rest) < 19) {
    return Fma(x, HornerInSquare(x, x * x, rest...), c0);
  } else {
    const T square = x * x;
    return Fma(x, HornerInFourth(x, square, square * square, rest...), c0);
  }
}

// ---- The parts of a number --------------------------------------------------------------------------------

template <typename T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  using Int = int32_t;
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Int kBias = 127;
  static constexpr float kShift = 0x1.8p23f;  // adding it rounds to an integer, which its low bits then hold
  static constexpr float kSmallestNormal = 0x1p-126f;
  static constexpr Bits kLeastMantissa = 0x3F2AAAAB;  // 2/3
};
template <>
struct FloatFormat<double> {
  using Int = int64_t;
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Int kBias = 1023;
  static constexpr double kShift = 0x1.8p52;
  static constexpr double kSmallestNormal = 0x1p-1022;
  static constexpr Bits kLeastMantissa = 0x3FE6A09E667F3BCD;  // sqrt(1/2)
};

template <typename T>
using IntOf = typename FloatFormat<T>::Int;
template <typename T>
using BitsOf = typename FloatFormat<T>::Bits;
template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// Bits that grow with |x|, above those of all numbers for NaN.
template <typename T>
STILLFLOW_INLINE BitsOf<T> MagnitudeBits(T x) {
  return BitCast<BitsOf<T>>(Abs(x));
}
// Of the largest number.
template <typename T>
constexpr BitsOf<T> kMostMagnitudeBits =
    (static_cast<BitsOf<T>>(2 * FloatFormat<T>::kBias + 1) << FloatFormat<T>::kMantissaBits) - 1;

// The smaller of two numbers without sign, and of NaN the other: an operation on integers that all processors have.
template <typename T>
STILLFLOW_INLINE T SmallerMagnitude(T a, T b) {
  const auto x = BitCast<BitsOf<T>>(a);
  const auto y = BitCast<BitsOf<T>>(b);
  return BitCast<T>(x < y ? x : y);
}

// Bits that grow with x from the smallest normal number on, and are above those of infinity for all others.
template <typename T>
STILLFLOW_INLINE BitsOf<T> BitsAboveSmallest(T x) {
  return BitCast<BitsOf<T>>(x) - (BitsOf<T>{1} << FloatFormat<T>::kMantissaBits);
}
// Of the largest number.
template <typename T>
constexpr BitsOf<T> kMostBitsAboveSmallest =
    (static_cast<BitsOf<T>>(2 * FloatFormat<T>::kBias) << FloatFormat<T>::kMantissaBits) - 1;

// 1 / x from the bits of x > 0: off by an eighth at most, and exact for powers of two.
STILLFLOW_INLINE double RoughInverse(double x) {
  constexpr uint64_t kTwice = uint64_t{2 * FloatFormat<double>::kBias} << FloatFormat<double>::kMantissaBits;
  return BitCast<double>(kTwice - BitCast<uint64_t>(x));
}

// 2^n for a normal number's exponent n.
template <typename T>
STILLFLOW_INLINE T PowerOfTwo(IntOf<T> n) {
  return BitCast<T>((static_cast<BitsOf<T>>(n) + FloatFormat<T>::kBias) << FloatFormat<T>::kMantissaBits);
}

// x 2^n, rounded once, for x near 1 and n within twice the range of exponents. Half the exponent is counted with
// logical shifts: 64-bit arithmetic ones are missing in AVX2. What NaN makes of n wraps around.
template <typename T>
STILLFLOW_INLINE T Scale(T x, IntOf<T> n) {
  constexpr IntOf<T> kOffset = 4096;
  const auto bits = static_cast<BitsOf<T>>(n);
  const auto half = static_cast<IntOf<T>>((bits + 2 * kOffset) >> 1) - kOffset;
  return x * PowerOfTwo<T>(half) * PowerOfTwo<T>(static_cast<IntOf<T>>(bits - static_cast<BitsOf<T>>(half)));
}

// The integer that x + kShift holds.
template <typename T>
STILLFLOW_INLINE IntOf<T> ShiftedInteger(T shifted) {
  return static_cast<IntOf<T>>(BitCast<BitsOf<T>>(shifted) - BitCast<BitsOf<T>>(FloatFormat<T>::kShift));
}
// x 2^n for x near 1 and the n that `shifted` holds, where that is a normal number.
template <typename T>
STILLFLOW_INLINE T ScaleNormal(T x, T shifted) {
  return BitCast<T>(BitCast<BitsOf<T>>(x) + (BitCast<BitsOf<T>>(shifted) << FloatFormat<T>::kMantissaBits));
}
template <typename T>
STILLFLOW_INLINE T FromInteger(IntOf<T> n) {
  return BitCast<T>(BitCast<BitsOf<T>>(FloatFormat<T>::kShift) + static_cast<BitsOf<T>>(n)) - FloatFormat<T>::kShift;
}

// Whether x >= 0 is an integer.
template <typename T>
STILLFLOW_INLINE bool IsInteger(T x) {
  constexpr T kUnit = FloatFormat<T>::kShift / T{1.5};  // from here on all numbers are
  return (x >= kUnit) | ((x + kUnit) - kUnit == x);
}

// ---- Sums of two numbers ----------------------------------------------------------------------------------

// What rounding the sum a + b has cut off.
template <typename T>
STILLFLOW_INLINE T SumError(T a, T b, T sum) {
  const T b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

}  // namespace stillflow
