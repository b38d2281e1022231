// hyperbolic.h: sinh, cosh and the inverses of the hyperbolic functions.
//
// Errors: double within 1 ulp; Sinh and Cosh of float within 1.25 ulp, the others, which are computed in double,
// within 0.501 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// e^a +- e^-a, halved; `sign` is 1 or -1 and 0 <= a.
template <typename T>
STILLFLOW_INLINE T HalfSumOfExps(T a, T sign) {
  constexpr T kMost = kLargestExponent<T> + 1;
  constexpr IntOf<T> kMostDown = sizeof(T) == 4 ? 14 : 30;  // the second power no longer matters
  const ExpParts<T> parts = SplitExp(a > kMost ? kMost : a);
  const IntOf<T> down = parts.n < kMostDown ? parts.n : kMostDown;
  const T inverse = sign * PowerOfTwo<T>(-2 * down) / (parts.high + parts.low);
  const T high = parts.high + inverse;
  const T low = inverse - (high - parts.high);
  return Scale(high + (low + parts.low), parts.n - 1);
}

template <typename T>
STILLFLOW_INLINE T Sinh(T x) {
  constexpr T kTiny = sizeof(T) == 4 ? T{0x1p-13} : T{0x1p-27};
  const T magnitude = Abs(x);
  const T z = x * x;
  const T small = Fma(x * z, SinhTail(z), x);
  const T result = magnitude < 1 ? small : CopySign(HalfSumOfExps(magnitude, T{-1}), x);
  return (magnitude < kTiny) | (x != x) ? x : result;
}

template <typename T>
STILLFLOW_INLINE T Cosh(T x) {
  const T result = HalfSumOfExps(Abs(x), T{1});
  return x != x ? kNan<T> : result;
}

// The root of t + t_low and what rounding it has cut off.
STILLFLOW_INLINE double RootError(double t, double t_low, double root) {
  return root > 0 ? (Fma(-root, root, t) + t_low) / (2 * root) : 0.0;
}

// log(a + sqrt(a^2 + 1)). Past 2^28 the root is a.
STILLFLOW_INLINE double Asinh(double x) {
  const double magnitude = Abs(x);
  const bool is_large = magnitude > 0x1p28;
  const double a = is_large ? 1.0 : magnitude;
  const double square = a * a;
  const double t = square + 1;
  const double t_low = SumError(square, 1.0, t) + Fma(a, a, -square);
  const double root = Sqrt(t);
  const double root_low = RootError(t, t_low, root);
  const double beyond = root - 1;  // exact up to 2, and not needed exactly beyond
  const double v = a + beyond;
  const double v_low = SumError(a, beyond, v) + (SumError(root, -1.0, beyond) + root_low);
  const double finite = is_large ? (magnitude < kInfinity<double> ? magnitude : 1.0) : v;
  const double result = Log1pOfSum(finite, is_large ? -1.0 : v_low, is_large ? 1.0 : 0.0);
  return (magnitude < 0x1p-28) | !(magnitude < kInfinity<double>) ? x : CopySign(result, x);
}

// log(1 + v) for v = t + sqrt(t (t + 2)), t = x - 1.
STILLFLOW_INLINE double Acosh(double x) {
  const bool is_large = x > 0x1p28;
  const double bounded = is_large | !(x >= 1) ? 1.0 : x;
  const double t = bounded - 1;
  const double other = bounded + 1;
  const double other_low = SumError(bounded, 1.0, other);
  const double product = t * other;
  const double product_low = Fma(t, other, -product) + t * other_low;
  const double root = Sqrt(product);
  const double root_low = RootError(product, product_low, root);
  const double v = t + root;
  const double v_low = SumError(t, root, v) + root_low;
  const double finite = is_large ? (x < kInfinity<double> ? x : 1.0) : v;
  const double result = Log1pOfSum(finite, is_large ? -1.0 : v_low, is_large ? 1.0 : 0.0);
  const double inside = x < 1 ? kNan<double> : result;
  return x < kInfinity<double> ? inside : x;
}

// log(sum / difference) / 2 for sum = 1 + a and difference = 1 - a; the quotient is brought near 1 by a power of
// two, and its logarithm is 2 atanh(s) with s = (sum - difference) / (sum + difference).
STILLFLOW_INLINE double Atanh(double x) {
  const double magnitude = Abs(x);
  const double a = magnitude < 1 ? magnitude : 0.0;
  const double sum = 1 + a;
  const double sum_low = a - (sum - 1);
  const double difference = 1 - a;
  const double difference_low = (1 - difference) - a;
  const int64_t k = Normalize(sum / difference).k;
  const double scale = PowerOfTwo<double>(-k);
  const double over = sum * scale - difference;
  const double over_low = SumError(sum * scale, -difference, over) + (sum_low * scale - difference_low);
  const double under = sum * scale + difference;
  const double under_low = SumError(sum * scale, difference, under) + (sum_low * scale + difference_low);
  const double s = over / under;
  const double s_low = (Fma(-s, under, over) + (over_low - s * under_low)) / under;
  const double z = s * s;
  const double k_value = FromInteger<double>(k);
  const double base = k_value * kLn2Short;
  const double high = base + 2 * s;
  const double rest = (base - high) + 2 * s;
  const double tail = Fma(s * z, LogTail(z), 2 * s_low);
  const double result = 0.5 * (high + (rest + Fma(k_value, kLn2ShortRest, tail)));
  const double inside =
      magnitude > 1 ? kNan<double> : (magnitude == 1 ? CopySign(kInfinity<double>, x) : CopySign(result, x));
  return (magnitude < 0x1p-28) | (x != x) ? x : inside;
}

STILLFLOW_INLINE float Asinh(float x) { return static_cast<float>(Asinh(static_cast<double>(x))); }
STILLFLOW_INLINE float Acosh(float x) { return static_cast<float>(Acosh(static_cast<double>(x))); }
STILLFLOW_INLINE float Atanh(float x) { return static_cast<float>(Atanh(static_cast<double>(x))); }

}  // namespace stillflow
