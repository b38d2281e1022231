// error_function.h: erf and erfc.
//
// Errors: Erf within 1.5 ulp of double and 1.25 ulp of float; Erfc within 4 ulp of double and 3.75 ulp of float.
#pragma once

#include "arithmetic/math/erf_table.h"
#include "arithmetic/math/exponential.h"

namespace stillflow {

// erf(p + d) = erf(p) + erf'(p) (d - p d^2 + (2 p^2 - 1) d^3 / 3 - ...) for the nearest point p of a table.
STILLFLOW_INLINE double Erf(double x) {
  const double magnitude = Abs(x);
  const double a = kErfBound < magnitude ? kErfBound : magnitude;
  const double shifted = Fma(a, 1 / kErfStep, FloatFormat<double>::kShift);
  const double n = shifted - FloatFormat<double>::kShift;
  const uint64_t index = BitCast<uint64_t>(shifted) % kErfPoints;
  const double d = Fma(-n, kErfStep, a);  // exact
  const double p = n * kErfStep;
  const double square = p * p;
  const double u = p * d;
  const double w = d * d;
  const double third = Fma(square, 2.0 / 3, -1.0 / 3);
  const double fourth = Fma(square, -1.0 / 3, 0.5);
  const double fifth = Fma(square, Fma(square, 2.0 / 15, -0.4), 0.1);
  const double sixth = Fma(square, Fma(square, 2.0 / 45, -2.0 / 9), 1.0 / 6);
  const double rest = Fma(w, Fma(w, Fma(-u, sixth, fifth), Fma(u, fourth, third)), -u);
  const double linear = kErfSlopes[index] * d;
  return CopySign(kErfOfPoints[index] + Fma(linear, rest, linear), x);
}

// For x >= 0 e^-x^2 v S, where v = c / (x + c) and S is a polynomial. How much v S grows by an error of v is nearly
// kErrorAtInfinity + kErrorGrowth v^2. What is denormal is flushed to 0.
STILLFLOW_INLINE double Erfc(double x) {
  constexpr double kBound = 26.6;
  const double a = Abs(x);
  constexpr double kCenter = 3.5;
  const double divisor = a + kCenter;
  const double divisor_low = a - (divisor - kCenter);
  const double v = kCenter / divisor;
  const double error = Fma(-v, divisor_low, Fma(-v, divisor, kCenter));
  constexpr double kErrorAtInfinity = 0.29;
  constexpr double kErrorGrowth = 0.84;
  const double shape = ErfcxOverV(Fma(2.0, v, -1.0)) * v;
  const double whole = Fma(shape, error * Fma(v * v, kErrorGrowth, kErrorAtInfinity), shape);
  // -a^2 = n log(2) + r.
  const double square = a * a;
  const double shifted = Fma(-square, kLog2E<double>, kBiasedShift<double>);
  const double n = shifted - kBiasedShift<double>;
  const double r = Fma(-n, kLn2<double>, -square) + Fma(-n, kLn2Rest<double>, -Fma(a, a, -square));
  const double growth = Fma(r * r, ShortExpTail(r), r);
  const double scaled = Fma(whole, growth, whole) * PowerOfBiased(shifted);
  const double at_end = 0 * v;  // 0 or NaN
  const double positive = a <= kBound ? scaled : at_end;
  return x < 0 ? 2 - positive : positive;
}

// 1 - 2^p, where p is log2(erfc(|x|)), or the polynomial of small numbers. From the bound on, the result is 1.
STILLFLOW_INLINE float Erf(float x) {
  constexpr float kBound = 3.95f;
  const float magnitude = Abs(x);
  const float a = magnitude > kBound ? kBound : magnitude;
  const float exponent = a * Log2ErfcOverX(a);
  const float shifted = exponent + FloatFormat<float>::kShift;
  const float r = exponent - (shifted - FloatFormat<float>::kShift);
  const float power = Fma(r, Exp2Tail(r), 1.0f);
  const uint32_t shift = BitCast<uint32_t>(shifted) << FloatFormat<float>::kMantissaBits;
  const float large = 1 - BitCast<float>(BitCast<uint32_t>(power) + shift);
  const float small = Fma(a, ErfTail(a * a), a);
  return CopySign(magnitude > 0.94f ? large : small, x);
}

// For x >= 0 e^-x^2 v S, where v = 2 / (x + 2) and S is a polynomial of 2 - 3 v. How much v S grows by the error of
// v, which is 2 - v (x + 2), is nearly kErrorAtInfinity + kErrorGrowth v. What is denormal is flushed to 0; from the
// bound on all is.
STILLFLOW_INLINE float Erfc(float x) {
  constexpr float kBound = 9.3f;
  const float magnitude = Abs(x);
  const float a = SmallerMagnitude(magnitude, kBound);
  // -a^2 = n log(2) + r. Both n and the high part of log(2) have so few bits that their product is exact.
  constexpr float kLn2High = 0x1.62e4p-1f;
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const float shifted = Fma(a, a * -kLog2E<float>, kBiasedShift<float>);
  const float n = shifted - kBiasedShift<float>;
  const float r = Fma(-n, kLn2Low, Fma(-a, a, -n * kLn2High));
  const float v = 2 / (magnitude + 2);  // NaN of NaN
  const float t = Fma(-3.0f, v, 2.0f);
  const float error = Fma(v, 1 - a, t);
  constexpr float kErrorAtInfinity = 0.5f;
  constexpr float kErrorGrowth = 0.63f;
  const float growth = Fma(error, Fma(v, kErrorGrowth, kErrorAtInfinity), Fma(r * r, ShortExpTail(r), r));
  constexpr float kShapeAtOne = 0x1.48625ap-1f;
  const float whole = Fma(t, ErfcTail(t), kShapeAtOne) * v;
  const float positive = Fma(whole, growth, whole) * PowerOfBiased(shifted);
  return x < 0 ? 2 - positive : positive;
}

}  // namespace stillflow
