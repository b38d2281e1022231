// logarithm.h: log(x) and log(1 + x).
//
// Errors: within 1 ulp, for float and double; Log of float within 1.1 ulp.
#pragma once

#include "math/approximations.h"

namespace stillflow {

// log(2) as a number with so few bits that its products with exponents are exact, and the rest.
constexpr double kLn2Short = 0x1.62e42fefa38p-1;
constexpr double kLn2ShortRest = 0x1.ef35793c7673p-45;

// k log(2) + log(1 + f) + low, for 1 + f in [sqrt(1/2), sqrt(2)] and a small `low`.
//
// With s = f / (2 + f), log(1 + f) = 2 atanh(s), and 2 s = f - s f: the large part is exact.
STILLFLOW_INLINE double LogOfParts(double k, double f, double low) {
  const double s = f / (2 + f);
  const double z = s * s;
  const double tail = Fma(s, Fma(z, LogTail(z), -f), low);
  const double base = k * kLn2Short;
  const double high = base + f;
  const double rest = (base - high) + f;
  return high + (rest + Fma(k, kLn2ShortRest, tail));
}

// What it is rounded by stays below 1/15 ulp of the sum.
constexpr float kLn2Nearest = 0x1.62e43p-1f;

// The same for 1 + f in [2/3, 4/3]. In float, a polynomial takes less time than the division.
STILLFLOW_INLINE float LogOfParts(float k, float f, float low) {
  const float high = Fma(k, kLn2Nearest, f);
  const float rest = Fma(k, kLn2Nearest, -high) + f;
  return high + Fma(f * f, Fma(f, LogTail(f), -0.5f), rest + low);
}

// u = m 2^k for m in [least, 2 least) and u positive and normal.
template <typename T>
struct Normalized {
  IntOf<T> k;
  T m;
};

template <typename T>
STILLFLOW_INLINE Normalized<T> Normalize(T u) {
  using Bits = BitsOf<T>;
  constexpr int kMantissaBits = FloatFormat<T>::kMantissaBits;
  constexpr Bits kOne = static_cast<Bits>(FloatFormat<T>::kBias) << kMantissaBits;
  constexpr Bits kLeast = FloatFormat<T>::kLeastMantissa;
  const Bits shifted = BitCast<Bits>(u) + (kOne - kLeast);
  const auto k = static_cast<IntOf<T>>(shifted >> kMantissaBits) - FloatFormat<T>::kBias;
  return {k, BitCast<T>((shifted & ((Bits{1} << kMantissaBits) - 1)) + kLeast)};
}

// The logarithm of u, which is `y` if u is positive and finite. Denormals are zeros here.
template <typename T>
STILLFLOW_INLINE T LogOfAny(T u, T y) {
  const T other = u == 0 ? -kInfinity<T> : (u < 0 ? kNan<T> : u);
  return BitsAboveSmallest(u) <= kMostBitsAboveSmallest<T> ? y : other;
}

// The logarithm of a positive normal number.
STILLFLOW_INLINE double LogOfNormal(double x) {
  const Normalized<double> parts = Normalize(x);
  return LogOfParts(FromInteger<double>(parts.k), parts.m - 1, 0.0);
}
STILLFLOW_INLINE float LogOfNormal(float x) {
  const Normalized<float> parts = Normalize(x);
  const float f = parts.m - 1;
  return Fma(FromInteger<float>(parts.k), kLn2Nearest, Fma(f * f, Fma(f, LogTail(f), -0.5f), f));
}

template <typename T>
STILLFLOW_INLINE T Log(T x) {
  return LogOfAny(x, LogOfNormal(x));
}

// log(1 + v + v_low) + k_extra log(2), for 1 + v positive and finite.
STILLFLOW_INLINE double Log1pOfSum(double v, double v_low, double k_extra) {
  const double u = 1 + v;
  const double u_low = SumError(1.0, v, u) + v_low;
  const Normalized<double> parts = Normalize(u);
  // Past the bound, u_low does not matter any more, but its scale must not overflow.
  constexpr int64_t kMostExponent = FloatFormat<double>::kBias - 3;
  const double scaled_low = u_low * PowerOfTwo<double>(-(parts.k < kMostExponent ? parts.k : kMostExponent));
  const double f0 = parts.m - 1;
  const double f = f0 + scaled_low;
  const double f_low = scaled_low - (f - f0);
  return LogOfParts(FromInteger<double>(parts.k) + k_extra, f, Fma(-f, f_low, f_low));
}

STILLFLOW_INLINE double Log1p(double x) {
  const double logarithm = LogOfAny(1 + x, Log1pOfSum(x, 0.0, 0.0));
  return Abs(x) < 0x1p-54 ? x : logarithm;
}

// u = (1 + f) 2^k for f in [-1/3, 1/3), u positive and normal. The exponent is k, shifted to where a float has it; of
// other u it wraps around.
struct ExponentAndFraction {
  uint32_t exponent;
  float f;

  STILLFLOW_INLINE float exponent_value() const { return static_cast<float>(static_cast<int32_t>(exponent)); }
};

STILLFLOW_INLINE ExponentAndFraction SplitExponent(float u) {
  constexpr uint32_t kExponentBits = ~uint32_t{0} << FloatFormat<float>::kMantissaBits;
  const auto bits = BitCast<uint32_t>(u);
  const uint32_t exponent = (bits - FloatFormat<float>::kLeastMantissa) & kExponentBits;
  return {exponent, BitCast<float>(bits - exponent) - 1};
}

// log(2) by such exponents.
constexpr float kLn2OfExponent = 0x1.62e43p-24f;

// The logarithm of the parts, with `beyond` added, where that is not below 1/2.
STILLFLOW_INLINE float LogFarFromZero(ExponentAndFraction parts, float beyond) {
  const float f = parts.f;
  const float rest = f + Fma(f * f, Fma(f, LogTail(f), -0.5f), beyond);
  return Fma(parts.exponent_value(), kLn2OfExponent, rest);
}

// For 1 + x > 0 and finite.
STILLFLOW_INLINE float Log1pOfPlain(float x) {
  const float u = 1 + x;
  const float u_low = x - (u - 1);
  const ExponentAndFraction parts = SplitExponent(u);
  const float f = parts.f;
  // 2^-k, or 0 where that is no normal number: there u_low does not matter any more.
  constexpr uint32_t kOne = FloatFormat<float>::kBias << FloatFormat<float>::kMantissaBits;
  const auto inverse = static_cast<int32_t>(kOne - parts.exponent);
  const float f_low = u_low * BitCast<float>(inverse > 0 ? inverse : 0);
  const float exponent = parts.exponent_value();
  const float high = Fma(exponent, kLn2OfExponent, f);
  const float rest = Fma(exponent, kLn2OfExponent, -high) + f;
  const float low = rest + Fma(f_low, Fma(f, f, -f), f_low);  // f_low / (1 + f)
  return CopySign(high + Fma(f * f, Fma(f, LogTail(f), -0.5f), low), x);
}

STILLFLOW_INLINE float Log1p(float x) { return LogOfAny(1 + x, Log1pOfPlain(x)); }

// Log1p(x) for 0 <= x <= 1 or NaN, with fewer operations: 1 + x is m or 2 m.
STILLFLOW_INLINE float Log1pOfUnit(float x) {
  const float u = 1 + x;
  const bool is_halved = u >= 2 * BitCast<float>(FloatFormat<float>::kLeastMantissa);
  const float inverse = is_halved ? 0.5f : 1.0f;
  const float f = u * inverse - 1;
  const float f_low = (x - (u - 1)) * inverse;
  const float low = Fma(f_low, Fma(f, f, -f), f_low);
  const float result = LogOfParts(is_halved ? 1.0f : 0.0f, f, low);
  return x != x ? x : result;
}

}  // namespace stillflow
