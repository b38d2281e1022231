// trigonometric.h: sine, cosine and tangent.
//
// Angles up to kLargeAngle are reduced with pi / 2 in parts, by vector code; larger ones, infinities and NaN are
// few, and are reduced with as many digits of 2 / pi as it takes, one by one.
//
// Errors: Sin and Cos within 1 ulp; Tan of double within 2.25 ulp, of float within 1.3 ulp.
#pragma once

#include "arithmetic/math/approximations.h"

namespace stillflow {

// kLargeAngle, and its bits.
template <typename T>
constexpr T kLargeAngle = sizeof(T) == 4 ? T{0x1p18} : T{0x1p28};
template <typename T>
constexpr BitsOf<T> kMostBitsOfAngle =
    static_cast<BitsOf<T>>(FloatFormat<T>::kBias + (sizeof(T) == 4 ? 18 : 28)) << FloatFormat<T>::kMantissaBits;

// An angle is `quadrant` quarter turns plus r + r_low, |r| <= pi / 4 and a little.
template <typename T>
struct ReducedAngle {
  IntOf<T> quadrant;  // its last two bits
  T r;
  T r_low;
};

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
constexpr double kHalfPiLast = -0x1.f1976b7ed8fbcp-110;

STILLFLOW_INLINE ReducedAngle<double> ReduceAngle(double x) {
  const double shifted = Fma(x, kTwoOverPi, FloatFormat<double>::kShift);
  const double n = shifted - FloatFormat<double>::kShift;
  const double high = Fma(-n, kHalfPi, x);  // exact
  const double rest = n * kHalfPiRest;
  const double rest_low = Fma(n, kHalfPiRest, -rest);
  const double r = high - rest;
  return {ShiftedInteger(shifted), r, SumError(high, -rest, r) - Fma(n, kHalfPiLast, rest_low)};
}

// The first product is cancelled exactly: what is left of it and x is below 1 and a multiple of 2^-24.
STILLFLOW_INLINE ReducedAngle<float> ReduceAngle(float x) {
  constexpr auto kFirst = static_cast<float>(kHalfPi);
  constexpr auto kSecond = static_cast<float>(kHalfPi - kFirst);
  constexpr auto kThird = static_cast<float>(kHalfPi - kFirst - kSecond + kHalfPiRest);
  const float shifted = Fma(x, static_cast<float>(kTwoOverPi), FloatFormat<float>::kShift);
  const float n = shifted - FloatFormat<float>::kShift;
  const float high = Fma(-n, kFirst, x);
  const float rest = n * kSecond;
  const float r = high - rest;
  // Of high - r - n pi / 2 the first difference is exact, and the product is rounded with it.
  return {ShiftedInteger(shifted), r, Fma(-n, kThird, Fma(-n, kSecond, high - r))};
}

// Any angle that is finite and not below 1.
ReducedAngle<double> ReduceLargeAngle(double x);

template <typename T>
STILLFLOW_INLINE T SinOfReduced(ReducedAngle<T> angle) {
  const T r = angle.r;
  const T z = r * r;
  return r + Fma(r * z, SinTail(z), Fma(T{-0.5} * z, angle.r_low, angle.r_low));
}
template <typename T>
STILLFLOW_INLINE T CosOfReduced(ReducedAngle<T> angle) {
  const T r = angle.r;
  const T z = r * r;
  const T half = T{0.5} * z;
  const T high = 1 - half;
  return high + (((1 - high) - half) + Fma(z * z, CosTail(z), -r * angle.r_low));
}

// The sine after `quadrant` quarter turns.
template <typename T>
STILLFLOW_INLINE T TurnedSine(IntOf<T> quadrant, T sine, T cosine) {
  const T leg = (quadrant & 1) != 0 ? cosine : sine;
  return (quadrant & 2) != 0 ? -leg : leg;
}
template <typename T>
STILLFLOW_INLINE T SinOfAngle(ReducedAngle<T> angle) {
  return TurnedSine(angle.quadrant, SinOfReduced(angle), CosOfReduced(angle));
}
template <typename T>
STILLFLOW_INLINE T CosOfAngle(ReducedAngle<T> angle) {
  return TurnedSine(angle.quadrant + 1, SinOfReduced(angle), CosOfReduced(angle));
}
STILLFLOW_INLINE double TanOfAngle(ReducedAngle<double> angle) {
  const double sine = SinOfReduced(angle);
  const double cosine = CosOfReduced(angle);
  const bool is_odd = (angle.quadrant & 1) != 0;
  return (is_odd ? -cosine : sine) / (is_odd ? sine : cosine);
}
// After an odd number of quarter turns, -1 / tan(r), made better by one step of Newton's.
STILLFLOW_INLINE float TanOfAngle(ReducedAngle<float> angle) {
  const float r = angle.r;
  const float z = r * r;
  const float tail = Fma(r * z, TanTail(z), Fma(z, angle.r_low, angle.r_low));
  const float tangent = r + tail;
  const float inverse = -1 / tangent;
  const float error = Fma(inverse, tail, Fma(inverse, r, 1.0f));
  return (angle.quadrant & 1) != 0 ? Fma(inverse, error, inverse) : tangent;
}

// A double less n units of kQuarters quarter turns: r - excess. Of a zero, r is that zero and the excess is +0: sums
// that end with r then keep its sign.
struct AngleBeyond {
  double r;
  double excess;
};

template <int kQuarters>
STILLFLOW_INLINE AngleBeyond AngleBeyondTurns(double x, double n) {
  const double high = Fma(-n, kQuarters * kHalfPi, x);  // exact
  const double rest = n * (kQuarters * kHalfPiRest);
  const double r = high - rest;
  const double rest_low = Fma(n, kQuarters * kHalfPiLast, Fma(n, kQuarters * kHalfPiRest, -rest));
  return {r, rest_low - ((high - r) - rest)};
}

// The sine of a double less n half turns, which `shifted` holds; n may be 1/2 less than that.
//
// sin(r) = r (1 - z / 8) - r (z tail): the first product is as large as the result, and is rounded with the sum.
STILLFLOW_INLINE double SinBeyondHalfTurns(double x, double n, double shifted) {
  const AngleBeyond angle = AngleBeyondTurns<2>(x, n);
  const double r = angle.r;
  const double z = r * r;
  const double z_low = Fma(r, r, -z);
  const double most = Fma(z, -0.125, 1.0);
  const double most_low = Fma(z, -0.125, 1 - most);
  const double rest = Fma(z_low, 0.15, Fma(z, SinTailToHalfPi(z), -most_low));
  constexpr double kSlope = -0.4053;  // 1 + kSlope z is nearly cos(r)
  const double excess = Fma(kSlope * z, angle.excess, angle.excess);
  const double less = r * rest + excess;  // compilers negate an Fma by its parts, which loses the sign of zero
  const double sine = Fma(r, most, -less);
  return BitCast<double>(BitCast<uint64_t>(sine) ^ (BitCast<uint64_t>(shifted) << 63));
}

// For |x| <= kLargeAngle.
STILLFLOW_INLINE double Sin(double x) {
  const double shifted = Fma(x, kTwoOverPi / 2, FloatFormat<double>::kShift);
  return SinBeyondHalfTurns(x, shifted - FloatFormat<double>::kShift, shifted);
}
STILLFLOW_INLINE double Cos(double x) {
  const double shifted = Fma(x, kTwoOverPi / 2, 0.5) + FloatFormat<double>::kShift;
  return SinBeyondHalfTurns(x, shifted - FloatFormat<double>::kShift - 0.5, shifted);
}
// tan(r) = r + r z P / Q, and after an odd number of quarter turns -1 / tan(r).
STILLFLOW_INLINE double Tan(double x) {
  const double shifted = Fma(x, kTwoOverPi, FloatFormat<double>::kShift);
  const AngleBeyond angle = AngleBeyondTurns<1>(x, shifted - FloatFormat<double>::kShift);
  const double r = angle.r;
  const double z = r * r;
  const double divisor = TanDivisor(z);
  const double less = angle.excess * (divisor + z) - r * z * TanDividend(z);
  const double dividend = Fma(r, divisor, -less);
  const auto bits = BitCast<uint64_t>(shifted);
  const bool is_odd = (bits & 1) != 0;
  const double tangent = (is_odd ? divisor : dividend) / (is_odd ? dividend : divisor);
  return BitCast<double>(BitCast<uint64_t>(tangent) ^ (bits << 63));
}

STILLFLOW_INLINE float Sin(float x) {
  constexpr float kTinyAngle = 0x1p-13f;
  const float result = SinOfAngle(ReduceAngle(x));
  return Abs(x) < kTinyAngle ? x : result;
}
STILLFLOW_INLINE float Cos(float x) { return CosOfAngle(ReduceAngle(x)); }
STILLFLOW_INLINE float Tan(float x) {
  const float result = TanOfAngle(ReduceAngle(x));
  return x == 0 ? x : result;  // keeps the sign
}

// For all others.
float SinLarge(float x);
float CosLarge(float x);
float TanLarge(float x);
double SinLarge(double x);
double CosLarge(double x);
double TanLarge(double x);

}  // namespace stillflow
