// zeta.h: Hurwitz' zeta function and the derivatives of digamma.
//
// zeta(s, q) is the sum of (q + n)^-s over n >= 0; polygamma(n, x) = (-1)^(n + 1) n! zeta(n + 1, x).
//
// Errors: double within 8 ulp for q > 0, elsewhere within 8 ulp of the largest term; polygamma within 2^-42 of itself
// where n! is no finite number. Float, which is computed in double, is within 0.501 ulp but where terms cancel.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

// Infinite for s = 1 and where q is 0 or a negative integer; NaN for s < 1, and for q < 0 unless s is an integer.
double Zeta(double s, double q);

// Digamma for n = 0; NaN if n is negative or no integer.
double Polygamma(double n, double x);

}  // namespace stillflow
