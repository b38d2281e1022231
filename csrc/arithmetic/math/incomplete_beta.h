// incomplete_beta.h: the regularized incomplete beta function I_x(a, b).
//
// Errors: double within 2^-42 of itself or 2^-51 of 1, whichever is larger; float, which is computed in double,
// likewise within 0.501 ulp of itself.
#pragma once

namespace stillflow {

// 0 for x = 0 and 1 for x = 1; NaN for x outside [0, 1], for a <= 0, b <= 0, and infinite a + b.
double Betainc(double a, double b, double x);

}  // namespace stillflow
