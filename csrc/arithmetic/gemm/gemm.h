// gemm.h: the product of two matrices, c = a b or c += a b.
//
// The rule that fixes every bit: an element of c is one accumulator that starts at zero (or at its old value)
// and takes the products a[i][0] b[0][j], a[i][1] b[1][j], ... in this order, each by one fused multiply-add.
// Half and BFloat16 are widened to float, accumulated in float and rounded once at the end; integers wrap
// around. A NaN in the result is always the positive quiet one. Blocks, vectors and threads only choose which
// elements are computed when, so they cannot change the result.
//
// With a `k_block` an element is a sum of such sums: one for each `k_block` of k, which starts at zero; they are
// added in their order. Sums over very many products lose less that way.
//
// An operand is a matrix in memory, of any strides (so a transposed one as well), or a source of panels.
#pragma once

#include "arithmetic/gemm/panel_source.h"

namespace stillflow {

// Element (i, j) is data[i * row_stride + j * column_stride].
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
};

namespace gemm {

// An operand as lines along k, the rows of a or the columns of b: element l of line i is
// data[i * stride + l * k_stride], or what the source has.
template <typename T>
struct Lines {
  const T* data = nullptr;
  int64_t stride = 0;
  int64_t k_stride = 0;
  const PanelSource<T>* source = nullptr;
};

template <typename T>
Lines<T> RowsOf(MatrixView<T> a) {
  return {a.data, a.row_stride, a.column_stride, nullptr};
}
template <typename T>
Lines<T> ColumnsOf(MatrixView<T> b) {
  return {b.data, b.column_stride, b.row_stride, nullptr};
}
template <typename T>
Lines<T> LinesOf(const PanelSource<T>& source) {
  static_assert(!std::is_integral_v<T>);
  return {nullptr, 0, 0, &source};
}

template <typename T>
Status Multiply(const KernelCall& call, int64_t m, int64_t n, int64_t k, Lines<T> a, Lines<T> b, T* c, int64_t ldc,
                bool accumulate, int64_t k_block);

}  // namespace gemm

// c[m, n], whose rows are `ldc` elements apart, becomes a[m, k] b[k, n]; it is added to when `accumulate`.
// c must overlap neither a nor b. With k == 0 the product is zero. T: float, double, Half, BFloat16, int32_t
// or int64_t. Fails only when scratch memory runs out or the run is interrupted. May be called from a chunk of
// a parallel_for.
template <typename T>
Status Gemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
            int64_t ldc, bool accumulate = false, int64_t k_block = 0) {
  return gemm::Multiply<T>(call, m, n, k, gemm::RowsOf(a), gemm::ColumnsOf(b), c, ldc, accumulate, k_block);
}
// The lines of the source are the rows of a. T: a floating-point type.
template <typename T>
Status Gemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, const PanelSource<T>& a, MatrixView<T> b, T* c,
            int64_t ldc, bool accumulate = false, int64_t k_block = 0) {
  return gemm::Multiply<T>(call, m, n, k, gemm::LinesOf(a), gemm::ColumnsOf(b), c, ldc, accumulate, k_block);
}
// The lines of the source are the columns of b. T: a floating-point type.
template <typename T>
Status Gemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, const PanelSource<T>& b, T* c,
            int64_t ldc, bool accumulate = false, int64_t k_block = 0) {
  return gemm::Multiply<T>(call, m, n, k, gemm::RowsOf(a), gemm::LinesOf(b), c, ldc, accumulate, k_block);
}
template <typename T>
Status Gemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, const PanelSource<T>& a, const PanelSource<T>& b,
            T* c, int64_t ldc, bool accumulate = false, int64_t k_block = 0) {
  return gemm::Multiply<T>(call, m, n, k, gemm::LinesOf(a), gemm::LinesOf(b), c, ldc, accumulate, k_block);
}

}  // namespace stillflow
