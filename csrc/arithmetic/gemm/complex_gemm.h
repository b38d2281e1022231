// complex_gemm.h: products of complex matrices, by products of real ones.
//
// A row of a is read as it lies in memory, real and imaginary parts by turns; b is a source of panels in which each
// element is the matrix [[re, im], [-im, re]]. The real product then has the parts of c by turns. So an element of c
// takes, for each k in ascending order, re re and -im im (real part), re im and im re (imaginary part), by one fused
// multiply-add each.
#pragma once

#include "arithmetic/gemm/gemm.h"

namespace stillflow {

// A matrix of complex numbers, conjugated if that is set.
template <typename R>
struct ComplexView {
  const Complex<R>* data;
  int64_t row_stride;
  int64_t column_stride;
  bool is_conjugate = false;
};

// As Gemm. R: float or double.
template <typename R>
Status ComplexGemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, ComplexView<R> a, ComplexView<R> b,
                   Complex<R>* c, int64_t ldc, bool accumulate = false);

}  // namespace stillflow
