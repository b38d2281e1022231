// schur.h: triangular forms of general matrices.
#pragma once

#include "arithmetic/linear/number.h"

namespace stillflow {

// Makes a[n, n] upper triangular and q unitary, with what a was = q a q^H. False for what is not finite, or where the
// QR algorithm does not converge. `scratch` has n numbers.
bool ReduceToTriangle(Complex128* a, int64_t n, Complex128* q, Complex128* scratch);

}  // namespace stillflow
