// hyperbolic.h: sinh, cosh and the inverses of the hyperbolic functions.
//
// Errors: double within 1 ulp; float within 1.25 ulp, Acosh within 1.5 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// e^a +- e^-a, halved; `sign` is 1 or -1 and 0 <= a.
STILLFLOW_INLINE double HalfSumOfExps(double a, double sign) {
  constexpr double kMost = kLargestExponent + 1;
  constexpr int64_t kMostDown = 30;  // the second power no longer matters
  const ExpParts parts = SplitExp(a > kMost ? kMost : a);
  const int64_t down = parts.n < kMostDown ? parts.n : kMostDown;
  const double inverse = sign * PowerOfTwo<double>(-2 * down) / (parts.high + parts.low);
  const double high = parts.high + inverse;
  const double low = inverse - (high - parts.high);
  return Scale(high + (low + parts.low), parts.n - 1);
}

STILLFLOW_INLINE double Sinh(double x) {
  const double magnitude = Abs(x);
  const double z = x * x;
  const double small = Fma(x * z, SinhTail(z), x);
  const double result = magnitude < 1 ? small : CopySign(HalfSumOfExps(magnitude, -1.0), x);
  return (magnitude < 0x1p-27) | (x != x) ? x : result;
}

STILLFLOW_INLINE double Cosh(double x) {
  const double result = HalfSumOfExps(Abs(x), 1.0);
  return x != x ? kNan<double> : result;
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

// |x| = n log(2) + r, with 2^n and 2^-n, divided by 4 so that they are finite. With their sum and difference,
// sinh(|x|) = 2 (difference cosh(r) + sum sinh(r)), and cosh(|x|) = 2 (sum cosh(r) + difference sinh(r)).
struct ReducedHyperbolic {
  float r;
  float up;
  float down;
};

// |x|, or where both functions are infinite. Numbers that are not negative are in the order of their bits.
constexpr uint32_t kMostBitsOfHyperbolic = 0x42B33333;  // 89.6
STILLFLOW_INLINE float BoundedMagnitude(float x) {
  const uint32_t bits = MagnitudeBits(x);
  return BitCast<float>(bits < kMostBitsOfHyperbolic ? bits : kMostBitsOfHyperbolic);
}

// n is what `shifted` holds.
STILLFLOW_INLINE ReducedHyperbolic ReduceHyperbolic(float magnitude, float shifted) {
  constexpr int32_t kQuarter = (FloatFormat<float>::kBias - 2) << FloatFormat<float>::kMantissaBits;
  const float n = shifted - FloatFormat<float>::kShift;
  const uint32_t shift = BitCast<uint32_t>(shifted) << FloatFormat<float>::kMantissaBits;
  const auto down_bits = static_cast<int32_t>(kQuarter - shift);
  return {Fma(-n, kLn2Rest<float>, Fma(-n, kLn2<float>, magnitude)), BitCast<float>(kQuarter + shift),
          BitCast<float>(down_bits > 0 ? down_bits : 0)};
}

// r lies between -0.35 and 0.65 log(2), so that less cancels in the sum of the difference and what is negative.
STILLFLOW_INLINE float Sinh(float x) {
  const float magnitude = BoundedMagnitude(x);
  const float shifted = Fma(magnitude, kLog2E<float>, -0.15f) + FloatFormat<float>::kShift;
  const ReducedHyperbolic reduced = ReduceHyperbolic(magnitude, shifted);
  const float r = reduced.r;
  const float z = r * r;
  const float sinh = Fma(r * z, SinhTail(z), r);
  const float sum = reduced.up + reduced.down;
  const float difference = reduced.up - reduced.down;
  const float result = (difference + Fma(sum, sinh, difference * z * CoshTail(z))) * CopySign(2.0f, x);
  return Abs(x) >= 0x1p-13f ? result : x;
}

STILLFLOW_INLINE float CoshOfPlain(float x) {
  const float magnitude = Abs(x);
  const float shifted = Fma(magnitude, kLog2E<float>, FloatFormat<float>::kShift);
  const ReducedHyperbolic reduced = ReduceHyperbolic(magnitude, shifted);
  const float r = reduced.r;
  const float z = r * r;
  const float sinh = Fma(r * z, SinhTail(z), r);
  const float sum = reduced.up + reduced.down;
  const float difference = reduced.up - reduced.down;
  const float rest = Fma(difference, sinh, Fma(sum * z, CoshTail(z), reduced.down));
  return 2 * (reduced.up + rest);
}

STILLFLOW_INLINE float Cosh(float x) {
  const float result = CoshOfPlain(BoundedMagnitude(x));
  return x != x ? kNan<float> : result;
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

constexpr uint32_t kMostBitsBelowOne = 0x3F7FFFFF;

// For |x| < 1. Past 1/2, half of log(1 + |x|) - log(1 - |x|).
STILLFLOW_INLINE float AtanhOfPlain(float x) {
  const float a = Abs(x);
  const float z = a * a;
  const float small = Fma(a * z, AtanhTail(z), a);
  const float large = -0.5f * LogFarFromZero(SplitExponent(1 - a), -Log1pOfUpperHalf(a));
  return CopySign(a > 0.5f ? large : small, x);
}

STILLFLOW_INLINE float Atanh(float x) {
  const float outside = Abs(x) == 1 ? CopySign(kInfinity<float>, x) : kNan<float>;
  return Abs(x) < 1 ? AtanhOfPlain(x) : outside;
}

}  // namespace stillflow
