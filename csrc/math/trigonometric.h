// trigonometric.h: sine, cosine and tangent.
//
// Angles up to kLargeAngle are reduced with pi / 2 in parts, by vector code; larger ones, infinities and NaN are
// few, and are reduced with as many digits of 2 / pi as it takes, one by one.
//
// Errors: Sin and Cos within 1 ulp; Tan of double within 2 ulp, of float within 1.3 ulp.
#pragma once

#include "math/approximations.h"

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

template <typename T>
constexpr T kTinyAngle = sizeof(T) == 4 ? T{0x1p-13} : T{0x1p-27};

// For |x| <= kLargeAngle.
template <typename T>
STILLFLOW_INLINE T Sin(T x) {
  const T result = SinOfAngle(ReduceAngle(x));
  return Abs(x) < kTinyAngle<T> ? x : result;
}
template <typename T>
STILLFLOW_INLINE T Cos(T x) {
  return CosOfAngle(ReduceAngle(x));
}
STILLFLOW_INLINE double Tan(double x) {
  const double result = TanOfAngle(ReduceAngle(x));
  return Abs(x) < kTinyAngle<double> ? x : result;
}
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
