// error_function.h: erf and erfc.
//
// Errors: double within 1 ulp for Erf and 4 ulp for Erfc; float, which is computed in double, within 0.501 ulp.
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

STILLFLOW_INLINE float Erf(float x) { return static_cast<float>(Erf(static_cast<double>(x))); }
STILLFLOW_INLINE float Erfc(float x) { return static_cast<float>(Erfc(static_cast<double>(x))); }

}  // namespace stillflow
