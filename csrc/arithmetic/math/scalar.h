// scalar.h: the operations that arithmetic is built from, with the same bits in every instruction set.
//
// Everything is written for one element and without branches, so that the compiler turns loops over it into
// vector code; a vector lane and a scalar tail do the same operations. Files are compiled with contraction
// off: a multiply-add is fused where Fma is written and nowhere else.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernel_api/kernel.h"

// For what loops are made of: a call left in a loop would keep it from becoming vector code.
#define STILLFLOW_INLINE inline __attribute__((always_inline))

namespace stillflow {

template <typename To, typename From>
STILLFLOW_INLINE To BitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

// The unsigned integer of as many bytes; of more than 8, that of 8.
template <typename T>
using WordOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

// ---- Fused multiply-add: a * b + c, rounded once ----------------------------------------------------------

#if defined(__FMA__) || defined(__aarch64__)
STILLFLOW_INLINE float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
STILLFLOW_INLINE double Fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
// The product of two floats is exact in double. Rounding the sum to odd keeps enough of what is cut off for
// the final rounding to float to be the only one (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums", IEEE Trans. Computers 57, 2008).
STILLFLOW_INLINE float Fma(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  const double rounded_addend = sum - product;
  const double error = (product - (sum - rounded_addend)) + (addend - rounded_addend);
  const auto bits = BitCast<int64_t>(sum);
  const bool is_inexact = (error > 0) | (error < 0);  // false for infinities and NaN
  const int64_t toward_error = (error > 0) == (sum > 0) ? 1 : -1;
  const int64_t odd_bits = is_inexact & ((bits & 1) == 0) ? bits + toward_error : bits;
  return static_cast<float>(BitCast<double>(odd_bits));
}
double Fma(double a, double b, double c);  // fma.cc
#endif

// ---- Signs and roots --------------------------------------------------------------------------------------

STILLFLOW_INLINE float Abs(float x) { return __builtin_fabsf(x); }
STILLFLOW_INLINE double Abs(double x) { return __builtin_fabs(x); }
STILLFLOW_INLINE float CopySign(float x, float sign) { return __builtin_copysignf(x, sign); }
STILLFLOW_INLINE double CopySign(double x, double sign) { return __builtin_copysign(x, sign); }
STILLFLOW_INLINE float Sqrt(float x) { return __builtin_sqrtf(x); }
STILLFLOW_INLINE double Sqrt(double x) { return __builtin_sqrt(x); }
// The quotient of the rounded root: within 1.5 ulp.
STILLFLOW_INLINE float Rsqrt(float x) { return 1.0f / Sqrt(x); }
STILLFLOW_INLINE double Rsqrt(double x) { return 1.0 / Sqrt(x); }

// ---- Rounding to an integer -------------------------------------------------------------------------------

// To nearest, ties to even; |x| < 2^22 resp. 2^51.
STILLFLOW_INLINE float RoundSmall(float x) {
  constexpr float kShift = 0x1.8p23f;
  return (x + kShift) - kShift;
}
STILLFLOW_INLINE double RoundSmall(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

// ---- 16-bit floats ----------------------------------------------------------------------------------------

STILLFLOW_INLINE float Widen(float x) { return x; }
STILLFLOW_INLINE double Widen(double x) { return x; }
STILLFLOW_INLINE float Widen(BFloat16 x) { return BitCast<float>(static_cast<uint32_t>(x.bits) << 16); }
// Scaling the bits as a float makes normal, denormal and zero one case. Products by powers of two are exact,
// but a half's denormals must not meet the flush to zero: they are 2^-24 at least, far above float's.
STILLFLOW_INLINE float Widen(Half x) {
  const uint32_t magnitude = static_cast<uint32_t>(x.bits & 0x7FFF) << 13;
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
  // Denormal halves would be denormal floats here, so they are built from the integer instead.
  const float normal = BitCast<float>(magnitude) * 0x1p112f;
  const float denormal = static_cast<float>(static_cast<int32_t>(x.bits & 0x03FF)) * 0x1p-24f;
  const bool is_denormal = (x.bits & 0x7C00) == 0;
  const bool is_special = (x.bits & 0x7C00) == 0x7C00;
  const uint32_t special = magnitude | 0x7F800000u;
  const uint32_t finite = BitCast<uint32_t>(is_denormal ? denormal : normal);
  return BitCast<float>(sign | (is_special ? special : finite));
}

// To nearest, ties to even.
template <typename T, typename From>
STILLFLOW_INLINE T Narrow(From x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const auto bits = BitCast<uint32_t>(static_cast<float>(x));
    const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000u;
    return BFloat16{static_cast<uint16_t>(is_nan ? (bits >> 16 | 0x40) : rounded)};
  } else if constexpr (std::is_same_v<T, Half>) {
    const auto bits = BitCast<uint32_t>(static_cast<float>(x));
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t normal = (magnitude - 0x38000000u + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    // Adding 0.5 lets the float adder round to a multiple of 2^-24, the spacing of denormal halves.
    const uint32_t denormal = BitCast<uint32_t>(BitCast<float>(magnitude) + 0.5f) - 0x3F000000u;
    const uint32_t finite = magnitude < 0x38800000u ? denormal : normal;
    const uint32_t special = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;
    const bool is_large = magnitude >= 0x477FF000u;  // rounds to 65536 or more
    return Half{static_cast<uint16_t>(sign | (is_large ? special : finite))};
  } else {
    return static_cast<T>(x);
  }
}

// The type that arithmetic on T is done in.
template <typename T>
using Wide = decltype(Widen(T{}));

template <typename T>
constexpr bool kIsFloating =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

}  // namespace stillflow
