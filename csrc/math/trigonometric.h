// trigonometric.h: sine, cosine and tangent.
//
// Angles up to kLargeAngle are reduced with pi / 2 in parts, by vector code; larger ones, infinities and NaN are
// few, and are reduced with as many digits of 2 / pi as it takes, one by one (MapAngles).
//
// Errors: double within 1 ulp, Tan 2 ulp; float, which is computed in double, within 0.501 ulp.
#pragma once

#include "math/approximations.h"

namespace stillflow {

template <typename T>
constexpr T kLargeAngle = sizeof(T) == 4 ? T{0x1p18} : T{0x1p28};

// An angle is `quadrant` quarter turns plus r + r_low, |r| <= pi / 4 and a little.
struct ReducedAngle {
  int64_t quadrant;  // its last two bits
  double r;
  double r_low;
};

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
constexpr double kHalfPiLast = -0x1.f1976b7ed8fbcp-110;

STILLFLOW_INLINE ReducedAngle ReduceAngle(double x) {
  const double shifted = Fma(x, kTwoOverPi, FloatFormat<double>::kShift);
  const double n = shifted - FloatFormat<double>::kShift;
  const double high = Fma(-n, kHalfPi, x);  // exact
  const double rest = n * kHalfPiRest;
  const double rest_low = Fma(n, kHalfPiRest, -rest);
  const double r = high - rest;
  return {ShiftedInteger(shifted), r, SumError(high, -rest, r) - Fma(n, kHalfPiLast, rest_low)};
}

// Of a float: the first product is exact, and what is left has more digits than float needs.
STILLFLOW_INLINE ReducedAngle ReduceAngleOfFloat(double x) {
  const double shifted = x * kTwoOverPi + FloatFormat<double>::kShift;
  const double n = shifted - FloatFormat<double>::kShift;
  const double r = (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
  return {ShiftedInteger(shifted), r, 0};
}

// Any angle that is finite and not below 1.
ReducedAngle ReduceLargeAngle(double x);

STILLFLOW_INLINE double SinOfReduced(ReducedAngle angle) {
  const double r = angle.r;
  const double z = r * r;
  return r + Fma(r * z, SinTail(z), Fma(-0.5 * z, angle.r_low, angle.r_low));
}
STILLFLOW_INLINE double CosOfReduced(ReducedAngle angle) {
  const double r = angle.r;
  const double z = r * r;
  const double half = 0.5 * z;
  const double high = 1 - half;
  return high + (((1 - high) - half) + Fma(z * z, CosTail(z), -r * angle.r_low));
}

// The polynomials of floats: their digits are few, so that products and sums need not be fused.
STILLFLOW_INLINE double SinOfReducedFloat(ReducedAngle angle) {
  const double z = angle.r * angle.r;
  return angle.r + angle.r * z * SinTailOfFloat(z);
}
STILLFLOW_INLINE double CosOfReducedFloat(ReducedAngle angle) {
  const double z = angle.r * angle.r;
  return (1 - 0.5 * z) + z * z * CosTailOfFloat(z);
}

// The sine after `quadrant` quarter turns.
STILLFLOW_INLINE double TurnedSine(int64_t quadrant, double sine, double cosine) {
  const double leg = (quadrant & 1) != 0 ? cosine : sine;
  return (quadrant & 2) != 0 ? -leg : leg;
}

template <typename T>
struct SineAndCosine {
  int64_t quadrant;
  double sine;
  double cosine;
  STILLFLOW_INLINE explicit SineAndCosine(ReducedAngle angle) : quadrant(angle.quadrant) {
    if constexpr (sizeof(T) == 4) {
      sine = SinOfReducedFloat(angle);
      cosine = CosOfReducedFloat(angle);
    } else {
      sine = SinOfReduced(angle);
      cosine = CosOfReduced(angle);
    }
  }
  STILLFLOW_INLINE T Sin() const { return static_cast<T>(TurnedSine(quadrant, sine, cosine)); }
  STILLFLOW_INLINE T Cos() const { return static_cast<T>(TurnedSine(quadrant + 1, sine, cosine)); }
  STILLFLOW_INLINE T Tan() const {
    const bool is_odd = (quadrant & 1) != 0;
    return static_cast<T>((is_odd ? -cosine : sine) / (is_odd ? sine : cosine));
  }
};

template <typename T>
STILLFLOW_INLINE SineAndCosine<T> Turn(T x) {
  if constexpr (sizeof(T) == 4) {
    return SineAndCosine<T>(ReduceAngleOfFloat(x));
  } else {
    return SineAndCosine<T>(ReduceAngle(x));
  }
}

template <typename T>
constexpr T kTinyAngle = sizeof(T) == 4 ? T{0x1p-13} : T{0x1p-27};

// For |x| <= kLargeAngle.
template <typename T>
STILLFLOW_INLINE T Sin(T x) {
  const T result = Turn(x).Sin();
  return Abs(x) < kTinyAngle<T> ? x : result;
}
template <typename T>
STILLFLOW_INLINE T Cos(T x) {
  return Turn(x).Cos();
}
template <typename T>
STILLFLOW_INLINE T Tan(T x) {
  const T result = Turn(x).Tan();
  return Abs(x) < kTinyAngle<T> ? x : result;
}

// For all others.
float SinLarge(float x);
float CosLarge(float x);
float TanLarge(float x);
double SinLarge(double x);
double CosLarge(double x);
double TanLarge(double x);

// to[i] = small(from[i]), or large(from[i]) for large angles. `to` may be `from`.
template <typename T, typename Small, typename Large>
inline void MapAngles(const T* from, T* to, int64_t count, Small small, Large large) {
  constexpr int64_t kBlock = 256;
  T saved[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = count - begin < kBlock ? count - begin : kBlock;
    int large_count = 0;
    for (int64_t i = 0; i < size; ++i) {
      saved[i] = from[begin + i];
      large_count += !(Abs(saved[i]) <= kLargeAngle<T>);
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < size; ++i) to[begin + i] = small(saved[i]);
    for (int64_t i = 0; large_count != 0 && i < size; ++i) {
      if (!(Abs(saved[i]) <= kLargeAngle<T>)) to[begin + i] = large(saved[i]);
    }
  }
}

}  // namespace stillflow
