// error_function.h: erf and erfc.
//
// Errors: Erf within 1.5 ulp of double and 1.25 ulp of float; Erfc within 4 ulp of double and, computed in double,
// within 0.501 ulp of float.
#pragma once

#include "math/exponential.h"

namespace stillflow {

// erfc(a) for a >= 1/2.
STILLFLOW_INLINE double ErfcOfPositive(double a) {
  const double bounded = a > 28 ? 28.0 : a;
  const double square = bounded * bounded;
  const ExpParts<double> power = SplitExp(-square, -Fma(bounded, bounded, -square));
  const double shape = ErfcxShape((bounded - 4) / (bounded + 4)) / Fma(2.0, bounded, 1.0);
  return Scale((power.high + power.low) * shape, power.n);
}

// erf(x) for |x| <= 1.
STILLFLOW_INLINE double ErfOfSmall(double x) { return Fma(x, ErfTail(x * x), x); }

STILLFLOW_INLINE double Erf(double x) {
  const double magnitude = Abs(x);
  const double large = CopySign(1 - ErfcOfPositive(magnitude), x);
  const double result = magnitude < 1 ? ErfOfSmall(x) : large;
  return x != x ? kNan<double> : result;
}

STILLFLOW_INLINE double Erfc(double x) {
  const double positive = ErfcOfPositive(Abs(x));
  const double outside = x < 0 ? 2 - positive : positive;
  const double result = (x > -1) & (x < 0.5) ? 1 - ErfOfSmall(x) : outside;
  return x != x ? kNan<double> : result;
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
STILLFLOW_INLINE float Erfc(float x) { return static_cast<float>(Erfc(static_cast<double>(x))); }

}  // namespace stillflow
