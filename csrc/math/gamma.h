// gamma.h: the logarithm of |gamma(x)| and its derivative, digamma.
//
// Errors: double within 4 ulp for x >= 1/2, elsewhere within 4 ulp of the largest term; the functions have zeros at
// negative x, near which digits cancel. Float, which is computed in double, is within 0.501 ulp but for those zeros.
#pragma once

#include "math/logarithm.h"

namespace stillflow {

constexpr double kTailBegins = 8.5;

// x - n for the nearest integer n, for x >= 0.
STILLFLOW_INLINE double BeyondNearestInteger(double x) {
  constexpr double kUnit = 0x1p52;  // from here on all numbers are integers
  const double nearest = x < kUnit ? (x + kUnit) - kUnit : x;
  return x - nearest;
}

// sin(pi t) for 0 <= t <= 1/2.
STILLFLOW_INLINE double SinPi(double t) { return t * SinPiOverX(t * t); }

// For x >= -1/2, x != 0.
STILLFLOW_INLINE double LgammaOfRight(double x) {
  // Below the tail: gamma(x) = product gamma(2 + t), or gamma(2 + t) / product, for t in [-1/2, 1/2].
  double product = 1;
  double t = x;
#pragma GCC unroll 8
  for (int i = 1; i <= 6; ++i) {
    const bool is_above = x >= 1.5 + i;
    product *= is_above ? x - i : 1.0;
    t -= is_above ? 1.0 : 0.0;
  }
  const bool is_below_half = x < 0.5;
  const bool is_below = x < 1.5;
  const double below = is_below_half ? x * (1 + x) : x;
  // The terms are subtracted one by one since 2 + t loses digits of a small x.
  t = is_below ? (is_below_half ? x : x - 1) : t - 2;
  const bool is_tail = x >= kTailBegins;
  const double log = Log(is_tail ? x : (is_below ? Abs(below) : product));
  const double near = Fma(t, LgammaNearTwo(t), is_below ? -log : log);
  const double inverse = 1 / x;
  constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;
  // (x - 1/2) (log x - 1) + (log(2 pi) - 1) / 2 + ...
  const double tail = Fma(x - 0.5, log - 1, Fma(inverse, LgammaTail(inverse * inverse), kHalfLog2Pi - 0.5));
  return is_tail ? tail : near;
}

STILLFLOW_INLINE double Lgamma(double x) {
  const bool is_reflected = x < -0.5;
  const double right = LgammaOfRight(is_reflected ? 1 - x : x);
  const double sine = SinPi(Abs(BeyondNearestInteger(Abs(x))));
  constexpr double kLogPi = 0x1.250d048e7a1bdp+0;
  const double reflected = (kLogPi - Log(sine)) - right;
  const double finite = is_reflected ? (sine == 0 ? kInfinity<double> : reflected) : right;
  const double result = x == 0 ? kInfinity<double> : finite;
  return Abs(x) < kInfinity<double> ? result : (x != x ? kNan<double> : kInfinity<double>);
}

// For x > 0.
STILLFLOW_INLINE double DigammaOfRight(double x) {
  // Below the tail: digamma(x) = digamma(y) + sum, for y in [1, 2); the sum of 1 / (x - i) as one fraction.
  double over = 0;
  double under = 1;
  double y = x;
#pragma GCC unroll 8
  for (int i = 1; i <= 7; ++i) {
    const bool is_above = x >= 1.0 + i;
    const double term = is_above ? x - i : 1.0;
    over = is_above ? Fma(over, term, under) : over;
    under *= term;
    y -= is_above ? 1.0 : 0.0;
  }
  const bool is_below = x < 1;
  y = is_below ? x + 1 : y;
  const double sum = (is_below ? -1.0 : over) / (is_below ? x : under);
  constexpr double kRoot = 0x1.762d86356be3fp+0;
  constexpr double kRootRest = 0x1.b86a722197829p-54;
  const double near = Fma((y - kRoot) - kRootRest, DigammaNearRoot(y - 1.5), sum);
  const double inverse = 1 / x;
  const double square = inverse * inverse;
  const double tail = Log(x) - Fma(square, DigammaTail(square), 0.5 * inverse);
  return x >= kTailBegins ? tail : near;
}

// Infinite at 0 and the negative integers.
STILLFLOW_INLINE double Digamma(double x) {
  const bool is_reflected = x < 0;
  const double right = DigammaOfRight(is_reflected ? 1 - x : x);
  const double beyond = BeyondNearestInteger(Abs(x));
  const double distance = Abs(beyond);
  // pi / tan(pi x), for x = -|x|.
  constexpr double kPi = 0x1.921fb54442d18p+1;
  const double cotangent = kPi * (SinPi(0.5 - distance) / SinPi(beyond));
  const double reflected = right + cotangent;
  const double finite = is_reflected ? (distance == 0 ? kInfinity<double> : reflected) : right;
  const double result = x == 0 ? kInfinity<double> : finite;
  return Abs(x) < kInfinity<double> ? result : (x != x ? kNan<double> : kInfinity<double>);
}

STILLFLOW_INLINE float Lgamma(float x) { return static_cast<float>(Lgamma(static_cast<double>(x))); }
STILLFLOW_INLINE float Digamma(float x) { return static_cast<float>(Digamma(static_cast<double>(x))); }

}  // namespace stillflow
