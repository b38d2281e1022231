// spectrum.h: eigenvalues of symmetric (Hermitian) matrices, and singular values. Matrices are rows of numbers S,
// double or Complex128.
#pragma once

#include "arithmetic/linear/number.h"

namespace stillflow {

// The eigenvalues of the symmetric or Hermitian matrix a[n, n], of which the lower triangle is read and which is
// overwritten, in ascending order; the rows of vectors[n, n] become eigenvectors, unless it is null. `has_converged`
// is false for what is not finite.
template <typename S>
Status SymmetricEigen(const KernelCall& call, S* a, int64_t n, double* values, S* vectors, bool* has_converged);

// The singular values of a[m, n], m >= n, in descending order. If left is not null, its rows are the `left_count`
// vectors of length m, n <= left_count <= m, and the rows of right the n ones of length n. Everything is NaN if a has
// elements that are not finite. a is overwritten.
template <typename S>
Status SingularValues(const KernelCall& call, S* a, int64_t m, int64_t n, double* values, S* left, int64_t left_count,
                      S* right);

}  // namespace stillflow
