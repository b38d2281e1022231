// gamma.h: the logarithm of |gamma(x)| and its derivative, digamma.
//
// Errors: double within 6 ulp for x > 0, elsewhere within 8 ulp of the largest term; the functions have zeros at
// negative x, near which digits cancel. Float, which is computed in double, is within 0.51 ulp but for those zeros.
#pragma once

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"

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

STILLFLOW_INLINE float Digamma(float x) { return static_cast<float>(Digamma(static_cast<double>(x))); }

// ---- Lgamma of floats, in double with as many terms as floats need ----------------------------------------------

// log(x) for a positive normal number, to 2^-36.
STILLFLOW_INLINE double RoughLog(double x) {
  constexpr uint64_t kLeast = 0x3FE5555555555555;  // 2/3: what is beyond 1 stays within 1/3
  constexpr uint64_t kExponentBits = ~uint64_t{0} << FloatFormat<double>::kMantissaBits;
  constexpr uint64_t kOne = static_cast<uint64_t>(FloatFormat<double>::kBias) << FloatFormat<double>::kMantissaBits;
  const auto bits = BitCast<uint64_t>(x);
  const uint64_t shifted = bits + (kOne - kLeast);
  const auto k = static_cast<int64_t>(shifted >> FloatFormat<double>::kMantissaBits) - FloatFormat<double>::kBias;
  const double f = BitCast<double>(bits - (shifted & kExponentBits) + kOne) - 1;
  const double tail = Fma(f * f, Fma(f, RoughLogTail(f), -0.5), f);
  return Fma(FromInteger<double>(k), kLn2<double>, tail);
}

// For x >= -1/2.
STILLFLOW_INLINE double RoughLgammaOfRight(double x) {
  const bool is_tail = x >= 3.5;
  const bool is_above = x >= 2.5;
  const bool is_below = x < 1.5;
  const bool is_below_half = x < 0.5;
  // gamma(x) = gamma(2 + t) times or divided by a factor.
  const double t = is_below_half ? x : (is_below ? x - 1 : (is_above ? x - 3 : x - 2));
  const double factor = is_below_half ? Abs(x * (1 + x)) : (is_below ? x : (is_above ? x - 1 : 1.0));
  const double log = RoughLog(is_tail ? x : factor);
  const double near = Fma(t, RoughLgammaNearTwo(t), is_below ? -log : log);
  const double inverse = 1 / static_cast<float>(x);  // its error matters little
  constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;
  const double tail = Fma(x - 0.5, log - 1, Fma(inverse, RoughLgammaTail(inverse * inverse), kHalfLog2Pi - 0.5));
  return x == 0 ? kInfinity<double> : (is_tail ? tail : near);
}

// In the order of bits as unsigned integers, what is not below 0 comes before NaN and what is below.
constexpr uint32_t kMostBitsOfRight = 0x7F800000;  // infinity
STILLFLOW_INLINE float LgammaOfPlain(float x) { return static_cast<float>(RoughLgammaOfRight(x)); }

STILLFLOW_INLINE float Lgamma(float x) {
  const bool is_reflected = x < -0.5f;
  const double right = RoughLgammaOfRight(is_reflected ? 1 - static_cast<double>(x) : x);
  const double distance = Abs(BeyondNearestInteger(Abs(static_cast<double>(x))));
  const double sine = distance * RoughSinPiOverX(distance * distance);
  constexpr double kLogPi = 0x1.250d048e7a1bdp+0;
  const double reflected = (kLogPi - RoughLog(sine)) - right;
  const double result = is_reflected ? (sine == 0 ? kInfinity<double> : reflected) : right;
  const float other = x != x ? kNan<float> : kInfinity<float>;
  return Abs(x) < kInfinity<float> ? static_cast<float>(result) : other;
}

}  // namespace stillflow
