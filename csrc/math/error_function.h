// error_function.h: erf and erfc.
//
// Errors: Erf within 1.5 ulp of double and 1.25 ulp of float; Erfc within 4 ulp of double and 1.5 ulp of float, for
// x > 4 within 1.75 ulp.
#pragma once

#include "math/erf_table.h"
#include "math/exponential.h"

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

// For x >= 0 e^-x^2 v S, where v = c / (x + c) and S is a polynomial. All but the last sum is done with the rounding
// errors of what comes before; v S grows by c times an error of v, nearly. What is denormal is flushed to 0.
STILLFLOW_INLINE float Erfc(float x) {
  constexpr float kBound = 0x1.2639bep+3f;
  const float a = Abs(x);
  // -a^2 = n log(2) + r, and e^r = 1 + r + tail.
  const float square = a * a;
  const float shifted = Fma(square, -kLog2E<float>, FloatFormat<float>::kShift);
  const float n = shifted - FloatFormat<float>::kShift;
  const float r = Fma(-n, kLn2<float>, -square) - Fma(n, kLn2Rest<float>, Fma(a, a, -square));
  const float tail = r * r * ShortExpTail(r);
  constexpr float kCenter = 1.5625f;
  const float divisor = a + kCenter;
  const float divisor_low = a - (divisor - kCenter);
  const float v = kCenter / divisor;
  const float error = Fma(-v, divisor_low, Fma(-v, divisor, kCenter));
  constexpr float kShapeAtCenter = 0x1.3f20dp-1f;
  const float q = Fma(2.0f, v, -1.0f);
  const float shape_tail = ErfcTail(q);
  const float shape = Fma(q, shape_tail, kShapeAtCenter);
  const float shape_low = Fma(q, shape_tail, kShapeAtCenter - shape);
  const float high = shape * v;
  const float low = Fma(shape_low, v, Fma(high, error, Fma(shape, v, -high)));
  const float scaled = high + Fma(high, r, Fma(high, tail, Fma(low, r, low)));
  const uint32_t shift = BitCast<uint32_t>(shifted) << FloatFormat<float>::kMantissaBits;
  const float at_end = 0 * v;  // 0 or NaN
  const float positive = a <= kBound ? BitCast<float>(BitCast<uint32_t>(scaled) + shift) : at_end;
  return x < 0 ? 2 - positive : positive;
}

}  // namespace stillflow
