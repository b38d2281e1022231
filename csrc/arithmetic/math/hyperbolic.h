// hyperbolic.h: sinh, cosh and the inverses of the hyperbolic functions.
//
// Errors: double within 1 ulp, Asinh within 1.2 ulp, Sinh and Cosh within 1.4 ulp; float within 1.25 ulp, Acosh
// within 1.5 ulp.
#pragma once

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"

namespace stillflow {

// |x| = n log(2) + r, with 2^n and 2^-n, divided by 4 so that they are finite. With their sum and difference,
// sinh(|x|) = 2 (difference cosh(r) + sum sinh(r)), and cosh(|x|) = 2 (sum cosh(r) + difference sinh(r)).
template <typename T>
struct ReducedHyperbolic {
  T z;     // r^2
  T sinh;  // sinh(r)
  T up;
  T down;
  T sum;
  T difference;
};

// |x|, or where both functions are infinite. Numbers that are not negative are in the order of their bits.
template <typename T>
constexpr BitsOf<T> kMostBitsOfHyperbolic = sizeof(T) == 4 ? 0x42B33333 : 0x408634CCCCCCCCCD;  // 89.6; 710.6
template <typename T>
STILLFLOW_INLINE T BoundedMagnitude(T x) {
  const BitsOf<T> bits = MagnitudeBits(x);
  return BitCast<T>(bits < kMostBitsOfHyperbolic<T> ? bits : kMostBitsOfHyperbolic<T>);
}

// n is what `shifted` holds.
template <typename T>
STILLFLOW_INLINE ReducedHyperbolic<T> ReduceHyperbolic(T magnitude, T shifted) {
  constexpr BitsOf<T> kQuarter = BitsOf<T>{FloatFormat<T>::kBias - 2} << FloatFormat<T>::kMantissaBits;
  const T n = shifted - FloatFormat<T>::kShift;
  const BitsOf<T> shift = BitCast<BitsOf<T>>(shifted) << FloatFormat<T>::kMantissaBits;
  const auto down_bits = static_cast<IntOf<T>>(kQuarter - shift);
  const T r = Fma(-n, kLn2Rest<T>, Fma(-n, kLn2<T>, magnitude));
  const T z = r * r;
  const T up = BitCast<T>(kQuarter + shift);
  const T down = BitCast<T>(down_bits > 0 ? down_bits : 0);
  return {z, Fma(r * z, SinhTail(z), r), up, down, up + down, up - down};
}

// Below it, sinh(x) is x.
template <typename T>
constexpr T kLeastOfSinh = sizeof(T) == 4 ? T{0x1p-13f} : T{0x1p-27f};

// r lies between -0.35 and 0.65 log(2), so that less cancels in the sum of the difference and what is negative.
template <typename T>
STILLFLOW_INLINE T Sinh(T x) {
  const T magnitude = BoundedMagnitude(x);
  const T shifted = Fma(magnitude, kLog2E<T>, T{-0.15f}) + FloatFormat<T>::kShift;
  const ReducedHyperbolic<T> reduced = ReduceHyperbolic(magnitude, shifted);
  const T growth = reduced.difference * reduced.z * CoshTail(reduced.z);
  const T result = (reduced.difference + Fma(reduced.sum, reduced.sinh, growth)) * CopySign(T{2}, x);
  return Abs(x) >= kLeastOfSinh<T> ? result : x;
}

template <typename T>
STILLFLOW_INLINE T CoshOfPlain(T x) {
  const T magnitude = Abs(x);
  const T shifted = Fma(magnitude, kLog2E<T>, FloatFormat<T>::kShift);
  const ReducedHyperbolic<T> reduced = ReduceHyperbolic(magnitude, shifted);
  const T growth = Fma(reduced.sum * reduced.z, CoshTail(reduced.z), reduced.down);
  return 2 * (reduced.up + Fma(reduced.difference, reduced.sinh, growth));
}

template <typename T>
STILLFLOW_INLINE T Cosh(T x) {
  const T result = CoshOfPlain(BoundedMagnitude(x));
  return x != x ? kNan<T> : result;
}

// log(a + b + low), for a + b from 1 to 2^1000 and a `low` that is little beside b. What a + b leaves of the power of
// two that it is near has no more error than `low`.
STILLFLOW_INLINE double LogOfSum(double a, double b, double low) {
  const NearPower near = PowerNear(a + b, FloatFormat<double>::kLeastMantissa);
  const double part = a - near.power;
  const double part_low = a - (part + near.power);
  const double sum = b + part;
  const double sum_low = SumError(b, part, sum) + (part_low + low);
  const double f = sum * near.inverse;
  const double f_low = sum_low * near.inverse;
  return LogOfParts(near.k, f, Fma(-f, f_low, f_low));
}

// log(2 x), for x positive and normal or infinite.
STILLFLOW_INLINE double LogOfTwice(double x) {
  const Normalized<double> parts = Normalize(x);
  return x < kInfinity<double> ? LogOfParts(FromInteger<double>(parts.k + 1), parts.m - 1, kNoLow) : x;
}

// The root of t + t_low is `root` and about this.
STILLFLOW_INLINE double RootError(double t, double t_low, double root) {
  return (Fma(-root, root, t) + t_low) * (0.5 * RoughInverse(root));
}

constexpr uint64_t kMostBitsOfSquare = 0x5F30000000000000;  // 2^500

// log(a + sqrt(a^2 + 1)), for a = |x| up to that.
STILLFLOW_INLINE double AsinhOfPlain(double x) {
  const double a = Abs(x);
  const double t = Fma(a, a, 1.0);
  const double t_low = Fma(a, a, 1 - t);
  const double root = Sqrt(t);
  return CopySign(LogOfSum(root, a, RootError(t, t_low, root)), x);
}

STILLFLOW_INLINE double Asinh(double x) {
  const double large = x != x ? x : CopySign(LogOfTwice(Abs(x)), x);
  return MagnitudeBits(x) <= kMostBitsOfSquare ? AsinhOfPlain(x) : large;
}

// log(x + sqrt((x - 1) (x + 1))), for x from 1 to that.
STILLFLOW_INLINE double AcoshOfPlain(double x) {
  const double below = x - 1;
  const double above = x + 1;
  const double above_low = x - (above - 1);
  const double t = below * above;
  const double t_low = Fma(below, above_low, Fma(below, above, -t));
  const double root = Sqrt(t);
  return LogOfSum(x, root, RootError(t, t_low, root));
}

STILLFLOW_INLINE double Acosh(double x) {
  return x >= 1 ? (MagnitudeBits(x) <= kMostBitsOfSquare ? AcoshOfPlain(x) : LogOfTwice(x)) : kNan<double>;
}

// For |x| < 1: log(sum / difference) / 2 for sum = 1 + |x| and difference = 1 - |x|. A power of two brings the
// quotient near 1, and its logarithm is 2 atanh(s) with s = (sum - difference) / (sum + difference). The power is the
// difference of exponents, rounded by what the other bits say.
STILLFLOW_INLINE double AtanhOfPlain(double x) {
  constexpr int kMantissaBits = FloatFormat<double>::kMantissaBits;
  constexpr uint64_t kOne = uint64_t{FloatFormat<double>::kBias} << kMantissaBits;
  constexpr uint64_t kHalf = uint64_t{1} << (kMantissaBits - 1);
  const double a = Abs(x);
  const double sum = 1 + a;
  const double sum_low = a - (sum - 1);
  const double difference = 1 - a;
  const double difference_low = (1 - difference) - a;
  const uint64_t distance = BitCast<uint64_t>(sum) - BitCast<uint64_t>(difference) + kHalf;
  const double power = BitCast<double>((distance & (~uint64_t{0} << kMantissaBits)) + kOne);
  const double k = FromInteger<double>(static_cast<int64_t>(distance >> kMantissaBits));
  const double over = Fma(-power, difference, sum);  // exact
  const double over_low = Fma(-power, difference_low, sum_low);
  const double subtrahend = power * difference;
  const double under = sum + subtrahend;
  const double under_low = SumError(sum, subtrahend, under) + Fma(power, difference_low, sum_low);
  const double inverse = 1 / under;
  const double s = over * inverse;
  const double s_low = (Fma(-s, under, over) + Fma(-s, under_low, over_low)) * inverse;
  const double z = s * s;
  const double base = k * (0.5 * kLn2Short);
  const double high = base + s;
  const double rest = (base - high) + s;
  const double tail = Fma(0.5 * s * z, WideLogTail(z), s_low);
  return CopySign(high + (rest + Fma(k, 0.5 * kLn2ShortRest, tail)), x);
}

// log(2 x) + beyond, for x positive and normal or infinite.
STILLFLOW_INLINE float LogOfTwice(float x, float beyond) {
  ExponentAndFraction parts = SplitExponent(x);
  parts.exponent += uint32_t{1} << FloatFormat<float>::kMantissaBits;
  return x < kInfinity<float> ? LogFarFromZero(parts, beyond) : x;
}

STILLFLOW_INLINE float Asinh(float x) {
  const float a = Abs(x);
  const float z = a * a;
  const float small = Fma(a * z, AsinhTail(z), a);
  const float w = 1 / z;
  const float large = LogOfTwice(a, w * AsinhBeyondLog(w));
  return CopySign(a > 1 ? large : small, x);
}

STILLFLOW_INLINE float Acosh(float x) {
  const float t = x - 1;
  const float root = Sqrt(2 * t);
  const float small = Fma(root * t, AcoshTail(t), root);
  const float w = 1 / (x * x);
  const float large = LogOfTwice(x, w * AcoshBeyondLog(w));
  return x >= 1 ? (x > 2 ? large : small) : kNan<float>;
}

template <typename T>
constexpr BitsOf<T> kMostBitsBelowOne = sizeof(T) == 4 ? 0x3F7FFFFF : 0x3FEFFFFFFFFFFFFF;

// For |x| < 1. Past 1/2, half of log(1 + |x|) - log(1 - |x|).
STILLFLOW_INLINE float AtanhOfPlain(float x) {
  const float a = Abs(x);
  const float z = a * a;
  const float small = Fma(a * z, AtanhTail(z), a);
  const float large = -0.5f * LogFarFromZero(SplitExponent(1 - a), -Log1pOfUpperHalf(a));
  return CopySign(a > 0.5f ? large : small, x);
}

template <typename T>
STILLFLOW_INLINE T Atanh(T x) {
  const T outside = Abs(x) == 1 ? CopySign(kInfinity<T>, x) : kNan<T>;
  return Abs(x) < 1 ? AtanhOfPlain(x) : outside;
}

}  // namespace stillflow
