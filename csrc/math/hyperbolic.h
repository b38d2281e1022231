// hyperbolic.h: sinh, cosh and the inverses of the hyperbolic functions.
//
// Errors: double within 1 ulp, Sinh and Cosh within 1.3 ulp; float within 1.25 ulp, Acosh within 1.5 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// |x| = n log(2) + r, with 2^n and 2^-n, divided by 4 so that they are finite. With their sum and difference,
// sinh(|x|) = 2 (difference cosh(r) + sum sinh(r)), and cosh(|x|) = 2 (sum cosh(r) + difference sinh(r)).
template <typename T>
struct ReducedHyperbolic {
  T r;
  T up;
  T down;
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
  return {Fma(-n, kLn2Rest<T>, Fma(-n, kLn2<T>, magnitude)), BitCast<T>(kQuarter + shift),
          BitCast<T>(down_bits > 0 ? down_bits : 0)};
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
  const T r = reduced.r;
  const T z = r * r;
  const T sinh = Fma(r * z, SinhTail(z), r);
  const T sum = reduced.up + reduced.down;
  const T difference = reduced.up - reduced.down;
  const T result = (difference + Fma(sum, sinh, difference * z * CoshTail(z))) * CopySign(T{2}, x);
  return Abs(x) >= kLeastOfSinh<T> ? result : x;
}

template <typename T>
STILLFLOW_INLINE T CoshOfPlain(T x) {
  const T magnitude = Abs(x);
  const T shifted = Fma(magnitude, kLog2E<T>, FloatFormat<T>::kShift);
  const ReducedHyperbolic<T> reduced = ReduceHyperbolic(magnitude, shifted);
  const T r = reduced.r;
  const T z = r * r;
  const T sinh = Fma(r * z, SinhTail(z), r);
  const T sum = reduced.up + reduced.down;
  const T difference = reduced.up - reduced.down;
  const T rest = Fma(difference, sinh, Fma(sum * z, CoshTail(z), reduced.down));
  return 2 * (reduced.up + rest);
}

template <typename T>
STILLFLOW_INLINE T Cosh(T x) {
  const T result = CoshOfPlain(BoundedMagnitude(x));
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
