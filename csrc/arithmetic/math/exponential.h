// exponential.h: e^x and e^x - 1.
//
// Errors: Exp within 1 ulp of float and 1.1 ulp of double, Expm1 within 1.25 ulp.
#pragma once

#include "arithmetic/math/approximations.h"

namespace stillflow {

template <typename T>
constexpr T kLog2E = static_cast<T>(0x1.71547652b82fep+0);
// log(2) in two parts.
template <typename T>
constexpr T kLn2 = static_cast<T>(0x1.62e42fefa39efp-1);
template <typename T>
constexpr T kLn2Rest =
    sizeof(T) == 4 ? static_cast<T>(-0x1.05c610ca86c39p-29) : static_cast<T>(0x1.abc9e3b39803fp-56);

// x = n log(2) + r + r_low, |r| <= log(2) / 2.
template <typename T>
struct ReducedExponent {
  T shifted;  // n + kShift
  T r;
  T r_low;

  STILLFLOW_INLINE IntOf<T> n() const { return ShiftedInteger(shifted); }
};

// For |x| < 2^10. The first product is cancelled exactly: n has few bits.
template <typename T>
STILLFLOW_INLINE ReducedExponent<T> ReduceExponent(T x, T shift = FloatFormat<T>::kShift) {
  const T shifted = Fma(x, kLog2E<T>, shift);
  const T n = shifted - shift;
  const T high = Fma(-n, kLn2<T>, x);
  const T r = Fma(-n, kLn2Rest<T>, high);
  return {shifted, r, Fma(-n, kLn2Rest<T>, high - r)};
}

// What is added in the place of kShift so that the low bits hold n with the bias of exponents, and 2^n of such a sum.
template <typename T>
constexpr T kBiasedShift = FloatFormat<T>::kShift + FloatFormat<T>::kBias;
template <typename T>
STILLFLOW_INLINE T PowerOfBiased(T shifted) {
  return BitCast<T>(BitCast<BitsOf<T>>(shifted) << FloatFormat<T>::kMantissaBits);
}

constexpr double kLargestExponent = 710;
template <typename T>
constexpr T kSmallestExponent = sizeof(T) == 4 ? T{-104} : T{-746};

// Where e^x is a normal number; in bits of |x|, as far as that is so on both sides of 0.
constexpr float kSmallestLogarithm = -0x1.5d589ep+6f;  // -87.3365402
constexpr float kLargestLogarithm = 0x1.62e42ep+6f;    // 88.7228317
template <typename T>
constexpr BitsOf<T> kMostBitsOfLogarithm = sizeof(T) == 4 ? 0x42AEAC4F : 0x4086200000000000;  // that; 708

// e^r for |r| <= log(2) / 2.
STILLFLOW_INLINE float ExpOfReduced(float r) { return Fma(r, Fma(r, ShortExpTail(r), 1.0f), 1.0f); }
STILLFLOW_INLINE double ExpOfReduced(double r) { return 1 + Fma(r * r, ShortExpTail(r), r); }

// e^x for such x; anything for others. The power of two is put into the exponent of e^r.
STILLFLOW_INLINE float NormalExp(float x) {
  const ReducedExponent<float> reduced = ReduceExponent(x);
  return ScaleNormal(ExpOfReduced(reduced.r), reduced.shifted);
}
// The same of doubles with an operation less: the low bits of `shifted` are the exponent with its bias.
STILLFLOW_INLINE double NormalExp(double x) {
  const ReducedExponent<double> reduced = ReduceExponent(x, kBiasedShift<double>);
  const double r = reduced.r;
  const double power = PowerOfBiased(reduced.shifted);
  return Fma(power, Fma(r * r, ShortExpTail(r), r), power);
}

STILLFLOW_INLINE double Exp(double x) {
  double bounded = x < kSmallestExponent<double> ? kSmallestExponent<double> : x;
  bounded = bounded > kLargestExponent ? kLargestExponent : bounded;
  const ReducedExponent<double> reduced = ReduceExponent(bounded);
  const double result = Scale(ExpOfReduced(reduced.r), reduced.n());
  return x != x ? kNan<double> : result;
}

// Denormal results are flushed to 0.
STILLFLOW_INLINE float Exp(float x) {
  const float result = NormalExp(x);
  const float below = x < kSmallestLogarithm ? 0.0f : result;
  const float inside = x > kLargestLogarithm ? kInfinity<float> : below;
  return x != x ? kNan<float> : inside;
}

// Exp(x) for x <= 0 or NaN, with fewer operations.
STILLFLOW_INLINE float ExpOfNonPositive(float x) {
  const float result = NormalExp(x);
  const float inside = x < kSmallestLogarithm ? 0.0f : result;
  return x != x ? kNan<float> : inside;
}

STILLFLOW_INLINE double Expm1(double x) {
  double bounded = x < -40 ? -40.0 : x;
  bounded = bounded > kLargestExponent ? kLargestExponent : bounded;
  const ReducedExponent<double> reduced = ReduceExponent(bounded);
  const double r = reduced.r;
  // Half of the result, so that the largest power of two is still a number.
  const double power = PowerOfTwo<double>(reduced.n() - 1);
  const double offset = power - 0.5;
  const double offset_low = (power - offset) - 0.5;
  const double high = Fma(power, r, offset);
  const double rest = Fma(power, r, offset - high) + offset_low;
  const double low = Fma(power, Fma(r * r, ExpTail(r), reduced.r_low), rest);
  const double result = 2 * (high + low);
  return (Abs(x) < 0x1p-54) | (x != x) ? x : result;
}

STILLFLOW_INLINE float Expm1(float x) {
  // Bits as integers are in the order of positive numbers, and as unsigned ones in that of negative ones.
  constexpr int32_t kMost = 0x42B20000;    // 89
  constexpr uint32_t kLeast = 0xC2200000;  // -40
  const auto bits = BitCast<int32_t>(x);
  const auto below_most = static_cast<uint32_t>(bits < kMost ? bits : kMost);
  const float bounded = BitCast<float>(below_most < kLeast ? below_most : kLeast);
  const float shifted = Fma(bounded, kLog2E<float>, FloatFormat<float>::kShift);
  const float n = shifted - FloatFormat<float>::kShift;
  const float r = Fma(-n, kLn2<float>, bounded);  // exact
  const float r_low = -n * kLn2Rest<float>;
  const float tail = Fma(r, Fma(r, ShortExpTail(r), r_low), r_low);
  // Half of the result, so that the largest power of two is still a number.
  constexpr uint32_t kHalf = (FloatFormat<float>::kBias - 1) << FloatFormat<float>::kMantissaBits;
  const float power = BitCast<float>(kHalf + (BitCast<uint32_t>(shifted) << FloatFormat<float>::kMantissaBits));
  const float offset = power - 0.5f;
  const float high = Fma(power, r, offset);
  const float rest = Fma(power, r, offset - high);
  const float result = 2 * (high + Fma(power, tail, rest));
  return Abs(x) >= 0x1p-25f ? result : x;
}

}  // namespace stillflow
