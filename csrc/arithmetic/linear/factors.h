// factors.h: triangular factors of matrices, and solutions with them. Matrices are rows of numbers S, double or
// Complex128, one after the other. Large ones are factored in blocks, whose products are gemm's.
#pragma once

#include "arithmetic/linear/number.h"

namespace stillflow {

// Replaces a by its factors: u on and above the diagonal, and below it l, whose diagonal is 1, of the matrix with the
// rows rows[0], rows[1], ... Of pivots of equal magnitude the first is taken. A pivot that is zero stays where it is.
template <typename S>
Status FactorLu(const KernelCall& call, S* a, int64_t n, int64_t* rows, bool* is_odd);

// Replaces the lower triangle of a by that of l with a = l l'; the upper is zero. Of the diagonal the real part is
// read. `is_positive` says whether it could.
template <typename S>
Status FactorCholesky(const KernelCall& call, S* a, int64_t n, bool* is_positive);

// x[n, width] becomes the solution of a x = x for a triangle of a, whose diagonal is 1 if `is_unit`.
template <typename S>
Status SolveTriangle(const KernelCall& call, NumberView<S> a, int64_t n, bool is_lower, bool is_unit, S* x,
                     int64_t width);

}  // namespace stillflow
