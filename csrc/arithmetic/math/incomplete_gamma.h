// incomplete_gamma.h: the regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x).
//
// Errors: double within (16 + 4 E) ulp, where e^-E is the function's order of magnitude, and within 64 + 4 E ulp for
// the derivative; float, which is computed in double, within 0.501 ulp.
#pragma once

#include "arithmetic/math/error_function.h"
#include "arithmetic/math/gamma.h"

namespace stillflow {

// P: 0 for x = 0; NaN for x < 0, for a <= 0, and for infinite a.
double Igamma(double a, double x);

// Q: NaN where P is, and for a <= 0 even if x = 0.
double Igammac(double a, double x);

// The derivative of P with respect to a: 0 for x = 0, NaN where P is.
double IgammaGradA(double a, double x);

// t - log(1 + t) for 1 + t in [sqrt(1/2), sqrt(2)], without cancellation.
STILLFLOW_INLINE double BeyondLog1p(double t) {
  const double s = t / (2 + t);
  const double z = s * s;
  return s * Fma(-z, LogTail(z), t);
}

STILLFLOW_INLINE bool IsNearOne(double ratio) { return (ratio > 0.7072) & (ratio < 1.4142); }

// The logarithm of gamma(a) over Stirling's formula, for a >= 8.5.
STILLFLOW_INLINE double StirlingError(double a) {
  const double inverse = 1 / a;
  return inverse * LgammaTail(inverse * inverse);
}

// e^(x^2) erfc(x) for x >= 0.
STILLFLOW_INLINE double ScaledErfc(double x) {
  const double q = x > 1e17 ? 1.0 : (x - 4) / (x + 4);
  return ErfcxShape(q) / Fma(2.0, x, 1.0);
}

}  // namespace stillflow
