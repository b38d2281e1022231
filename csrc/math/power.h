// power.h: x^y, with the special cases of IEEE 754's pow.
//
// Errors: float within 1.25 ulp, double within 1 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// The sum of two numbers, the second below the first's last bit.
struct DoubleSum {
  double high;
  double low;
};

STILLFLOW_INLINE DoubleSum FastSum(double large, double small) {
  const double sum = large + small;
  return {sum, small - (sum - large)};
}

STILLFLOW_INLINE DoubleSum Product(DoubleSum a, DoubleSum b) {
  const double high = a.high * b.high;
  return {high, Fma(a.high, b.high, -high) + Fma(a.high, b.low, a.low * b.high)};
}

// log(x) for a positive number, to about 2^-66 of itself.
STILLFLOW_INLINE DoubleSum LogInTwoParts(double x) {
  const bool is_small = x < FloatFormat<double>::kSmallestNormal;
  const Normalized<double> parts = Normalize(is_small ? x * 0x1p53 : x);
  const double k = FromInteger<double>(parts.k) - (is_small ? 53.0 : 0.0);
  const double f = parts.m - 1;
  const double divisor = parts.m + 1;
  const double divisor_low = parts.m - (divisor - 1);
  const double s_high = f / divisor;
  const double s_low = (Fma(-s_high, divisor, f) - s_high * divisor_low) / divisor;
  const DoubleSum s = {s_high, s_low};
  const DoubleSum z = Product(s, s);
  const double tail = z.high * PowerTail(z.high);
  DoubleSum factor = FastSum(0x1.5555555555555p-1, tail);  // 2/3 + tail
  factor.low += 0x1.5555555555555p-55;
  const DoubleSum cubic = Product(Product(s, z), factor);
  // k log(2) + 2 s + cubic, from the largest down.
  const DoubleSum base = FastSum(k * kLn2Short, 2 * s_high);
  const DoubleSum sum = FastSum(base.high, cubic.high);
  const double low = Fma(k, kLn2ShortRest, 2 * s_low + cubic.low);
  return FastSum(sum.high, sum.low + (base.low + low));
}

// What x^y is when the result is not the power of |x|, or `power` with its sign.
template <typename T>
STILLFLOW_INLINE T PowOfSpecial(T x, T y, T power) {
  const T magnitude = Abs(x);
  const T exponent = Abs(y);
  const bool is_integer = IsInteger(exponent);
  const bool is_odd = is_integer & !IsInteger(exponent * T{0.5});
  const T at_zero = y < 0 ? kInfinity<T> : T{0};
  const T at_infinity = y < 0 ? T{0} : kInfinity<T>;
  const bool grows = (magnitude > 1) == (y > 0);
  const T to_infinity = magnitude == 1 ? T{1} : (grows ? kInfinity<T> : T{0});
  T result = exponent == kInfinity<T> ? to_infinity : power;
  result = magnitude == 0 ? at_zero : result;
  result = magnitude == kInfinity<T> ? at_infinity : result;
  result = is_odd ? CopySign(result, x) : result;
  result = (x < 0) & (magnitude < kInfinity<T>)&!is_integer ? kNan<T> : result;
  result = y != y ? kNan<T> : result;
  result = x != x ? kNan<T> : result;
  return (y == 0) | (x == 1) ? T{1} : result;
}

// |x|^y for x and y that are finite and no zeros.
STILLFLOW_INLINE double PowOfMagnitude(double x, double y) {
  const DoubleSum log = LogInTwoParts(Abs(x));
  double high = log.high * y;
  double low = Fma(log.high, y, -high) + log.low * y;
  const bool is_bounded = Abs(high) < 800;
  low = is_bounded ? low : 0.0;
  high = is_bounded ? high : (high > 0 ? 800.0 : -800.0);
  const ExpParts parts = SplitExp(high, low);
  return Scale(parts.high + parts.low, parts.n);
}

// A sum of two floats.
struct FloatSum {
  float high;
  float low;
};

// c + f a, the first digits of c in a float.
STILLFLOW_INLINE FloatSum NextOfSeries(double c, float f, FloatSum a) {
  const auto first = static_cast<float>(c);
  const auto rest = static_cast<float>(c - first);
  const float high = Fma(f, a.high, first);
  return {high, Fma(f, a.high, first - high) + Fma(f, a.low, rest)};
}

// x = m 2^k for a positive and finite x.
STILLFLOW_INLINE Normalized<float> NormalizeAny(float x) {
  const bool is_small = x < FloatFormat<float>::kSmallestNormal;
  const Normalized<float> parts = Normalize(is_small ? x * 0x1p24f : x);
  return {parts.k - (is_small ? 24 : 0), parts.m};
}

// 2^(y log2(m 2^k)). Of the logarithm's series only the first terms need more than a float's digits.
STILLFLOW_INLINE float PowOfParts(Normalized<float> parts, float y) {
  const auto k = FromInteger<float>(parts.k);
  const float f = parts.m - 1;
  const FloatSum fourth = {Fma(f, Log2Tail(f), -kLog2E<float> / 4), 0};
  const FloatSum second = NextOfSeries(-kLog2E<double> / 2, f, NextOfSeries(kLog2E<double> / 3, f, fourth));
  const FloatSum first = NextOfSeries(kLog2E<double>, f, second);
  const float product = f * first.high;
  const float product_low = Fma(f, first.low, Fma(f, first.high, -product));
  const float logarithm = k + product;
  const float logarithm_low = ((k - logarithm) + product) + product_low;
  const float exponent = logarithm * y;
  const float exponent_low = Fma(logarithm_low, y, Fma(logarithm, y, -exponent));
  constexpr float kMost = 200;
  const float bounded = CopySign(SmallerMagnitude(Abs(exponent), kMost), exponent);
  const float shifted = bounded + FloatFormat<float>::kShift;
  const float beyond = bounded - (shifted - FloatFormat<float>::kShift);
  const float r = beyond + (Abs(exponent) < kMost ? exponent_low : 0.0f);
  // What is too small has bits of no positive normal number.
  const float power = ScaleNormal(Fma(r, Exp2Tail(r), 1.0f), shifted);
  const float flushed = power >= FloatFormat<float>::kSmallestNormal ? power : 0.0f;
  return exponent >= 128 ? kInfinity<float> : flushed;
}

STILLFLOW_INLINE float PowOfMagnitude(float x, float y) { return PowOfParts(NormalizeAny(Abs(x)), y); }

// x^y for x that is positive and normal, and y that is finite.
STILLFLOW_INLINE double PowOfNormal(double x, double y) { return PowOfMagnitude(x, y); }
STILLFLOW_INLINE float PowOfNormal(float x, float y) { return PowOfParts(Normalize(x), y); }

template <typename T>
STILLFLOW_INLINE T Pow(T x, T y) {
  return PowOfSpecial(x, y, PowOfMagnitude(x, y));
}

}  // namespace stillflow
