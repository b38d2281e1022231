// logarithm.h: log(x) and log(1 + x).
//
// Errors: within 1 ulp, for float and double.
#pragma once

#include "math/approximations.h"

namespace stillflow {

// log(2) as a number with so few bits that its products with exponents are exact, and the rest.
template <typename T>
constexpr T kLn2Short = sizeof(T) == 4 ? static_cast<T>(0x1.62e4p-1) : static_cast<T>(0x1.62e42fefa38p-1);
template <typename T>
constexpr T kLn2ShortRest =
    sizeof(T) == 4 ? static_cast<T>(0x1.7f7d1cf79abcap-20) : static_cast<T>(0x1.ef35793c7673p-45);

// k log(2) + log(1 + f + f_low), for 1 + f in [sqrt(1/2), sqrt(2)].
//
// With s = f / (2 + f), log(1 + f) = 2 atanh(s), and 2 s = f - s f: the large part is exact.
template <typename T>
STILLFLOW_INLINE T LogOfParts(T k, T f, T f_low) {
  const T s = f / (2 + f);
  const T z = s * s;
  const T tail = Fma(s, Fma(z, LogTail(z), -f), f_low);
  const T base = k * kLn2Short<T>;
  const T high = base + f;
  const T rest = (base - high) + f;
  return high + (rest + Fma(k, kLn2ShortRest<T>, tail));
}

// u = m 2^k for m in [sqrt(1/2), sqrt(2)) and u positive and normal.
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
  const auto bits = BitCast<Bits>(u);
  const Bits biased = (bits + (kOne - FloatFormat<T>::kRootOfHalf)) >> kMantissaBits;
  const auto k = static_cast<IntOf<T>>(biased) - FloatFormat<T>::kBias;
  return {k, BitCast<T>(bits - (static_cast<Bits>(k) << kMantissaBits))};
}

template <typename T>
STILLFLOW_INLINE T Log(T x) {
  constexpr int kUp = FloatFormat<T>::kMantissaBits + 1;
  const bool is_small = x < FloatFormat<T>::kSmallestNormal;
  const Normalized<T> parts = Normalize(is_small ? x * PowerOfTwo<T>(kUp) : x);
  const T k = FromInteger<T>(parts.k) - (is_small ? T{kUp} : T{0});
  const T logarithm = LogOfParts(k, parts.m - 1, T{0});
  const T finite = x == 0 ? -kInfinity<T> : (x < 0 ? kNan<T> : logarithm);
  return x < kInfinity<T> ? finite : x;
}

// log(1 + v + v_low) + k_extra log(2), for 1 + v positive and finite.
template <typename T>
STILLFLOW_INLINE T Log1pOfSum(T v, T v_low, T k_extra) {
  const T u = 1 + v;
  const T u_low = SumError(T{1}, v, u) + v_low;
  const Normalized<T> parts = Normalize(u);
  // Past the bound, u_low does not matter any more, but its scale must not overflow.
  constexpr IntOf<T> kMostExponent = FloatFormat<T>::kBias - 3;
  const T scaled_low = u_low * PowerOfTwo<T>(-(parts.k < kMostExponent ? parts.k : kMostExponent));
  const T f0 = parts.m - 1;
  const T f = f0 + scaled_low;
  const T f_low = scaled_low - (f - f0);
  return LogOfParts(FromInteger<T>(parts.k) + k_extra, f, Fma(-f, f_low, f_low));
}

template <typename T>
STILLFLOW_INLINE T Log1p(T x) {
  constexpr T kTiny = sizeof(T) == 4 ? T{0x1p-25} : T{0x1p-54};
  const T logarithm = Log1pOfSum(x, T{0}, T{0});
  const T inside = x < -1 ? kNan<T> : (x == -1 ? -kInfinity<T> : logarithm);
  const T finite = Abs(x) < kTiny ? x : inside;
  return x < kInfinity<T> ? finite : x;
}

}  // namespace stillflow
