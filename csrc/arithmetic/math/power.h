// power.h: x^y, with the special cases of IEEE 754's pow.
//
// Errors: float within 1.4 ulp, double within 1 ulp.
#pragma once

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"

namespace stillflow {

// The sum of two numbers, the second far smaller.
template <typename T>
struct SumOfTwo {
  T high;
  T low;
};
using DoubleSum = SumOfTwo<double>;
using FloatSum = SumOfTwo<float>;

// log(m 2^k) for m in [sqrt(1/2), sqrt(2)), to about 2^-64 of itself; the second part may be as large as the last bit
// of the first.
//
// With s = 2 f / (2 + f), f = m - 1, log(m) = s + s z (1/12 + z tail), z = s^2.
STILLFLOW_INLINE DoubleSum LogInTwoParts(double k, double m) {
  const double f = m - 1;
  const double inverse = 1 / (m + 1);
  const double s = (f + f) * inverse;
  const double beyond = f - s;  // exact
  const double s_low = Fma(-s, f, beyond + beyond) * inverse;
  const double z = s * s;
  const double z_low = Fma(s, s_low + s_low, Fma(s, s, -z));
  constexpr double kTwelfth = 1.0 / 12;
  const double tail = z * TwoPartLogTail(z);
  const double factor = kTwelfth + tail;
  const double factor_low = (kTwelfth - factor) + tail;
  const double growth = z * factor;
  const double growth_low = Fma(z, factor_low, Fma(z_low, factor, Fma(z, factor, -growth)));
  // k log(2) + s + s growth, from the largest down.
  const double base = k * kLn2Short;
  const double sum = base + s;
  const double sum_low = s - (sum - base);
  const double high = Fma(s, growth, sum);
  const double high_low = Fma(s, growth, sum - high);
  const double low = Fma(s, growth_low, Fma(s_low, growth, s_low));
  return {high, low + (high_low + Fma(k, kLn2ShortRest, sum_low))};
}

// log(x^y) for x = m 2^k.
STILLFLOW_INLINE DoubleSum LogOfPower(Normalized<double> parts, double k, double y) {
  const DoubleSum log = LogInTwoParts(k, parts.m);
  const double high = log.high * y;
  return {high, Fma(log.low, y, Fma(log.high, y, -high))};
}

// e^x as 1 + e^r - 1 times 2^n.
struct ReducedPower {
  double shifted;  // n + kBiasedShift<double>
  double growth;   // e^r - 1
};

STILLFLOW_INLINE ReducedPower ReducePower(DoubleSum x) {
  const double shifted = Fma(x.high, kLog2E<double>, kBiasedShift<double>);
  const double n = shifted - kBiasedShift<double>;
  const double high = Fma(-n, kLn2<double>, x.high);  // exact
  const double low = Fma(-n, kLn2Rest<double>, x.low);
  const double r = high + low;
  const double r_low = low - (r - high);
  return {shifted, r + Fma(r * r, ShortExpTail(r), r_low)};
}

// x^y of its logarithm, where that is a normal number.
STILLFLOW_INLINE double NormalPower(DoubleSum log) {
  const ReducedPower reduced = ReducePower(log);
  const double power = PowerOfBiased(reduced.shifted);
  return Fma(power, reduced.growth, power);
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
  const double magnitude = Abs(x);
  const bool is_small = magnitude < FloatFormat<double>::kSmallestNormal;
  const Normalized<double> parts = Normalize(is_small ? magnitude * 0x1p53 : magnitude);
  DoubleSum log = LogOfPower(parts, FromInteger<double>(parts.k) - (is_small ? 53.0 : 0.0), y);
  const bool is_bounded = Abs(log.high) < 800;
  log.low = is_bounded ? log.low : 0.0;
  log.high = is_bounded ? log.high : (log.high > 0 ? 800.0 : -800.0);
  const ReducedPower reduced = ReducePower(log);
  const auto n = static_cast<int64_t>(BitCast<uint64_t>(reduced.shifted) - BitCast<uint64_t>(kBiasedShift<double>));
  return Scale(1 + reduced.growth, n);
}

// first + f a + low, in two parts.
STILLFLOW_INLINE FloatSum AddProduct(float first, float f, float a, float low) {
  const float high = Fma(f, a, first);
  return {high, Fma(f, a, first - high) + low};
}
// c + f a, the first digits of c in a float.
STILLFLOW_INLINE FloatSum NextOfSeries(double c, float f, float a) {
  const auto first = static_cast<float>(c);
  return AddProduct(first, f, a, static_cast<float>(c - first));
}
STILLFLOW_INLINE FloatSum NextOfSeries(double c, float f, FloatSum a) {
  const auto first = static_cast<float>(c);
  return AddProduct(first, f, a.high, Fma(f, a.low, static_cast<float>(c - first)));
}

// log2(x^y) for x = m 2^k. Of the logarithm's series only the first terms need more than a float's digits.
STILLFLOW_INLINE FloatSum LogOfPower(Normalized<float> parts, float k, float y) {
  const float f = parts.m - 1;
  const float fourth = Fma(f, Log2Tail(f), -kLog2E<float> / 4);
  const FloatSum second = NextOfSeries(-kLog2E<double> / 2, f, NextOfSeries(kLog2E<double> / 3, f, fourth));
  const FloatSum first = NextOfSeries(kLog2E<double>, f, second);
  // k is 0 or larger than the product: what their sum is rounded by is a number, and so is the step before it.
  const float logarithm = k + f * first.high;
  const float logarithm_low = Fma(f, first.low, Fma(f, first.high, k - logarithm));
  const float high = logarithm * y;
  return {high, Fma(logarithm_low, y, Fma(logarithm, y, -high))};
}

// The same of a logarithm to base 2. What is too small has bits of no positive normal number.
STILLFLOW_INLINE float NormalPower(FloatSum log) {
  const float shifted = log.high + FloatFormat<float>::kShift;
  const float r = (log.high - (shifted - FloatFormat<float>::kShift)) + log.low;
  return ScaleNormal(Fma(r, Exp2Tail(r), 1.0f), shifted);
}

STILLFLOW_INLINE float PowOfMagnitude(float x, float y) {
  const float magnitude = Abs(x);
  const bool is_small = magnitude < FloatFormat<float>::kSmallestNormal;
  const Normalized<float> parts = Normalize(is_small ? magnitude * 0x1p24f : magnitude);
  const FloatSum log = LogOfPower(parts, FromInteger<float>(parts.k) - (is_small ? 24.0f : 0.0f), y);
  constexpr float kMost = 200;
  const float bounded = CopySign(SmallerMagnitude(Abs(log.high), kMost), log.high);
  const float power = NormalPower(FloatSum{bounded, Abs(log.high) < kMost ? log.low : 0.0f});
  const float flushed = power >= FloatFormat<float>::kSmallestNormal ? power : 0.0f;
  return log.high >= 128 ? kInfinity<float> : flushed;
}

// The logarithm of x^y for an x that LogOfPlain takes, and in bits of its magnitude where x^y is a normal number.
template <typename T>
STILLFLOW_INLINE SumOfTwo<T> LogOfPlainPower(T x, T y) {
  const Normalized<T> parts = Normalize(x, kPlainOffset<T>);
  return LogOfPower(parts, FromInteger<T>(parts.k), y);
}
template <typename T>
constexpr BitsOf<T> kMostBitsOfPowerLog = sizeof(T) == 4 ? 0x42FA0000 : kMostBitsOfLogarithm<double>;  // 125; 708

template <typename T>
STILLFLOW_INLINE T Pow(T x, T y) {
  return PowOfSpecial(x, y, PowOfMagnitude(x, y));
}

}  // namespace stillflow
