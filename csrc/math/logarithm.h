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

STILLFLOW_INLINE float Log1p(float x) {
  const float u = 1 + x;
  const float large = x > 1 ? x : 1.0f;
  const float small = x > 1 ? 1.0f : x;
  const float u_low = small - (u - large);
  const Normalized<float> parts = Normalize(u);
  // 2^-k, or 0 where that is no normal number: there u_low does not matter any more.
  const int32_t exponent = FloatFormat<float>::kBias - parts.k;
  const float inverse = PowerOfTwo<float>((exponent < 0 ? 0 : exponent) - FloatFormat<float>::kBias);
  const float f = parts.m - 1;
  const float f_low = u_low * inverse;
  // f_low / (1 + f)
  const float low = Fma(f_low, Fma(f, f, -f), f_low);
  return LogOfAny(u, CopySign(LogOfParts(FromInteger<float>(parts.k), f, low), x));
}

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
