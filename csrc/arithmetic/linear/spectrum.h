// spectrum.h: eigenvalues of symmetric matrices, and singular values. Matrices are rows of doubles.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// The eigenvalues of the symmetric matrix a[n, n], of which the lower triangle is read and which is overwritten, in
// ascending order; the rows of vectors[n, n] become eigenvectors, unless it is null. `has_converged` is false for
// what is not finite.
Status SymmetricEigen(const KernelCall& call, double* a, int64_t n, double* values, double* vectors,
                      bool* has_converged);

// The singular values of a[m, n], m >= n, in descending order. If left is not null, its rows are the `left_count`
// vectors of length m, n <= left_count <= m, and the rows of right the n ones of length n. Everything is NaN if a has
// elements that are not finite. a is overwritten.
Status SingularValues(const KernelCall& call, double* a, int64_t m, int64_t n, double* values, double* left,
                      int64_t left_count, double* right);

}  // namespace stillflow
