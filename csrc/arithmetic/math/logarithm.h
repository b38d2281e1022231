// logarithm.h: log(x) and log(1 + x).
//
// Errors: within 1 ulp, for float and double; Log of float and Log1p of double within 1.1 ulp.
#pragma once

#include "arithmetic/math/approximations.h"

namespace stillflow {

// log(2) as a number with so few bits that its products with exponents are exact, and the rest.
constexpr double kLn2Short = 0x1.62e42fefa38p-1;
constexpr double kLn2ShortRest = 0x1.ef35793c7673p-45;

constexpr double kNoLow = -0.0;  // adding it changes nothing and takes no operation

// k log(2) + log(1 + f) + low, for 1 + f in [sqrt(1/2), sqrt(2)] and a small `low`.
//
// With s = f / (2 + f), log(1 + f) = 2 atanh(s), and 2 s = f - s f: the large part is exact.
STILLFLOW_INLINE double LogOfParts(double k, double f, double low) {
  const double s = f / (2 + f);
  const double z = s * s;
  const double base = k * kLn2Short;
  const double high = base + f;
  const double rest = ((base - high) + f) + low;
  return high + Fma(s, Fma(z, LogTail(z), -f), Fma(k, kLn2ShortRest, rest));
}

// What it is rounded by stays below 1/15 ulp of the sum.
constexpr float kLn2Nearest = 0x1.62e43p-1f;

// The same for 1 + f in [2/3, 4/3]. In float, a polynomial takes less time than the division.
STILLFLOW_INLINE float LogOfParts(float k, float f, float low) {
  const float high = Fma(k, kLn2Nearest, f);
  const float rest = Fma(k, kLn2Nearest, -high) + f;
  return high + Fma(f * f, Fma(f, LogTail(f), -0.5f), rest + low);
}

// u = m 2^k for m in [least, 2 least).
template <typename T>
struct Normalized {
  IntOf<T> k;
  T m;
};

// k + offset, above the bits by which m exceeds `least`.
template <typename T>
STILLFLOW_INLINE BitsOf<T> BitsFromLeast(T u, int offset) {
  constexpr BitsOf<T> kLeast = FloatFormat<T>::kLeastMantissa;
  return BitCast<BitsOf<T>>(u) + ((static_cast<BitsOf<T>>(offset) << FloatFormat<T>::kMantissaBits) - kLeast);
}

// For u positive and normal, and k >= -offset.
template <typename T>
STILLFLOW_INLINE Normalized<T> Normalize(T u, int offset = FloatFormat<T>::kBias) {
  constexpr int kMantissaBits = FloatFormat<T>::kMantissaBits;
  const BitsOf<T> bits = BitsFromLeast(u, offset);
  const BitsOf<T> above = bits & ((BitsOf<T>{1} << kMantissaBits) - 1);
  return {static_cast<IntOf<T>>(bits >> kMantissaBits) - offset, BitCast<T>(above + FloatFormat<T>::kLeastMantissa)};
}

// With this offset bits are at most those of the largest number where u is positive, finite and not among the
// smallest normal numbers: what tells so is what u is normalized with.
template <typename T>
constexpr int kPlainOffset = FloatFormat<T>::kBias - 2;
template <typename T>
constexpr BitsOf<T> kMostBitsFromLeast =
    (static_cast<BitsOf<T>>(2 * FloatFormat<T>::kBias + 1 + kPlainOffset<T>) << FloatFormat<T>::kMantissaBits) - 1 -
    FloatFormat<T>::kLeastMantissa;

// The logarithm of u, which is `y` if u is positive and finite. Denormals are zeros here.
template <typename T>
STILLFLOW_INLINE T LogOfAny(T u, T y) {
  const T other = u == 0 ? -kInfinity<T> : (u < 0 ? kNan<T> : u);
  return BitsAboveSmallest(u) <= kMostBitsAboveSmallest<T> ? y : other;
}

STILLFLOW_INLINE double LogOfNormalized(Normalized<double> parts) {
  return LogOfParts(FromInteger<double>(parts.k), parts.m - 1, kNoLow);
}
STILLFLOW_INLINE float LogOfNormalized(Normalized<float> parts) {
  const float f = parts.m - 1;
  return Fma(FromInteger<float>(parts.k), kLn2Nearest, Fma(f * f, Fma(f, LogTail(f), -0.5f), f));
}

// The logarithm of a positive normal number.
template <typename T>
STILLFLOW_INLINE T LogOfNormal(T x) {
  return LogOfNormalized(Normalize(x));
}

// For BitsFromLeast(x, kPlainOffset<T>) up to kMostBitsFromLeast<T>.
template <typename T>
STILLFLOW_INLINE T LogOfPlain(T x) {
  return LogOfNormalized(Normalize(x, kPlainOffset<T>));
}

template <typename T>
STILLFLOW_INLINE T Log(T x) {
  return LogOfAny(x, LogOfNormal(x));
}

// u = m 2^k for m in [least, 2 least), `least` as bits, and u positive and normal; from 2^1023 on, 2^-k is none.
struct NearPower {
  double k;
  double power;
  double inverse;
};

STILLFLOW_INLINE NearPower PowerNear(double u, uint64_t least) {
  constexpr int kMantissaBits = FloatFormat<double>::kMantissaBits;
  constexpr uint64_t kOne = uint64_t{FloatFormat<double>::kBias} << kMantissaBits;
  const uint64_t shifted = BitCast<uint64_t>(u) + (kOne - least);
  const uint64_t exponent = shifted & (~uint64_t{0} << kMantissaBits);
  const auto k = static_cast<int64_t>(shifted >> kMantissaBits) - FloatFormat<double>::kBias;
  return {FromInteger<double>(k), BitCast<double>(exponent), BitCast<double>(2 * kOne - exponent)};
}

// Where Log1pOfPlain does, in bits of 1 + x: all positive normal floats, doubles up to 2^999.
template <typename T>
constexpr BitsOf<T> kMostBitsOfLog1p = sizeof(T) == 4 ? kMostBitsAboveSmallest<float> : 0x7E50000000000000;

// With m in [3/4, 3/2), (1 + x) 2^-k - 1 is a number of 53 bits.
STILLFLOW_INLINE double Log1pOfPlain(double x) {
  constexpr uint64_t kThreeQuarters = 0x3FE8000000000000;
  const NearPower near = PowerNear(1 + x, kThreeQuarters);
  const double f = Fma(x, near.inverse, near.inverse - 1);
  const double s = f / (2 + f);
  const double z = s * s;
  const double base = near.k * kLn2Short;
  const double high = base + f;
  const double rest = (base - high) + f;
  const double low = Fma(near.k, kLn2ShortRest, rest);
  return CopySign(high + Fma(s, Fma(z, WideLogTail(z), -f), low), x);
}

STILLFLOW_INLINE double Log1p(double x) { return LogOfAny(1 + x, x < 0x1p999 ? Log1pOfPlain(x) : LogOfNormal(x)); }

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
