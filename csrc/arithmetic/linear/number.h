// number.h: what matrices are made of, double or Complex128, so that one algorithm serves both. For a double each of
// these is nothing or one operation, and the arithmetic that of real matrices.
#pragma once

#include "arithmetic/gemm/complex_gemm.h"
#include "arithmetic/math/complex.h"

namespace stillflow {

STILLFLOW_INLINE double Conj(double x) { return x; }
STILLFLOW_INLINE double RealPart(double x) { return x; }
STILLFLOW_INLINE double RealPart(Complex128 x) { return x.re; }
STILLFLOW_INLINE double ImaginaryPart(double) { return 0; }
STILLFLOW_INLINE double ImaginaryPart(Complex128 x) { return x.im; }
// |x|^2
STILLFLOW_INLINE double Squared(double x) { return x * x; }
STILLFLOW_INLINE double Squared(Complex128 x) { return x.re * x.re + x.im * x.im; }
STILLFLOW_INLINE double Magnitude(double x) { return Abs(x); }
STILLFLOW_INLINE float Magnitude(float x) { return Abs(x); }
inline double Magnitude(Complex64 x) { return Magnitude(Widen(x)); }
STILLFLOW_INLINE Complex128 operator*(double a, Complex128 b) { return {a * b.re, a * b.im}; }
STILLFLOW_INLINE Complex128 operator/(Complex128 a, double b) { return {a.re / b, a.im / b}; }

template <typename S>
STILLFLOW_INLINE S NumberOf(double x) {
  if constexpr (kIsComplex<S>) {
    return {x, 0};
  } else {
    return x;
  }
}

// A matrix whose elements are taken as they are, or conjugated.
template <typename S>
struct NumberView {
  const S* data;
  int64_t row_stride;
  int64_t column_stride;
  bool is_conjugate = false;

  S at(int64_t i, int64_t j) const {
    const S element = data[i * row_stride + j * column_stride];
    return is_conjugate ? Conj(element) : element;
  }
};

template <typename S>
Status Multiply(const KernelCall& call, int64_t m, int64_t n, int64_t k, NumberView<S> a, NumberView<S> b, S* c,
                int64_t ldc, bool accumulate = false) {
  if constexpr (kIsComplex<S>) {
    return ComplexGemm<double>(call, m, n, k, {a.data, a.row_stride, a.column_stride, a.is_conjugate},
                               {b.data, b.row_stride, b.column_stride, b.is_conjugate}, c, ldc, accumulate);
  } else {
    return Gemm<double>(call, m, n, k, {a.data, a.row_stride, a.column_stride},
                        {b.data, b.row_stride, b.column_stride}, c, ldc, accumulate);
  }
}

}  // namespace stillflow
