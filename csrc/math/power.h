// power.h: x^y, with the special cases of IEEE 754's pow.
//
// Errors: float within 1.25 ulp, double within 1 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// The sum of two numbers, the second far smaller.
struct DoubleSum {
  double high;
  double low;
};

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

// For an x that is positive and normal.
STILLFLOW_INLINE DoubleSum LogOfNormalPower(double x, double y) {
  const Normalized<double> parts = Normalize(x);
  return LogOfPower(parts, FromInteger<double>(parts.k), y);
}

// e^x as 1 + e^r - 1 times 2^n.
struct ReducedPower {
  double shifted;  // n + kBiasedShift
  double growth;   // e^r - 1
};

STILLFLOW_INLINE ReducedPower ReducePower(DoubleSum x) {
  const double shifted = Fma(x.high, kLog2E<double>, kBiasedShift);
  const double n = shifted - kBiasedShift;
  const double high = Fma(-n, kLn2<double>, x.high);  // exact
  const double low = Fma(-n, kLn2Rest<double>, x.low);
  const double r = high + low;
  const double r_low = low - (r - high);
  return {shifted, r + Fma(r * r, ShortExpTail(r), r_low)};
}

// e^x where that is a normal number.
STILLFLOW_INLINE double NormalExp(DoubleSum x) {
  const ReducedPower reduced = ReducePower(x);
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
  const auto n = static_cast<int64_t>(BitCast<uint64_t>(reduced.shifted) - BitCast<uint64_t>(kBiasedShift));
  return Scale(1 + reduced.growth, n);
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
STILLFLOW_INLINE float PowOfNormal(float x, float y) { return PowOfParts(Normalize(x), y); }

template <typename T>
STILLFLOW_INLINE T Pow(T x, T y) {
  return PowOfSpecial(x, y, PowOfMagnitude(x, y));
}

}  // namespace stillflow
