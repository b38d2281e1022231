// qr, matrix_triangular_solve: factors of matrices, and solutions with such factors. All but the last two dimensions
// count matrices.
//
//   qr: in[0]   input [..., m, n]; attr full_matrices
//       out[0]  q [..., m, p], out[1] r [..., p, n], p = m if full_matrices, else min(m, n)
//   matrix_triangular_solve: in[0] matrix [..., n, n], in[1] rhs [..., n, k]; attrs lower, adjoint
//       out[0]  x [..., n, k] of matrix * x = rhs, or of matrix transposed if `adjoint`; the other triangle is not
//       read
//
// Arithmetic is in double or Complex128, row by row: each element adds up in one order.
#include "arithmetic/linear/factors.h"
#include "arithmetic/linear/householder.h"

namespace stillflow {
namespace {

// ---- qr -----------------------------------------------------------------------------------------------------

Status Qr(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input, "Input tensor"));
  const int64_t m = input.dims[input.rank - 2];
  const int64_t n = input.dims[input.rank - 1];
  const int64_t p = call.attrs[0].i != 0 ? m : std::min(m, n);
  Shape q_shape(input);
  Shape r_shape(input);
  q_shape.dims[input.rank - 1] = p;
  r_shape.dims[input.rank - 2] = p;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, q_shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, input.dtype, r_shape));
  if (call.out[0]->count == 0 && call.out[1]->count == 0) return Status();
  const int64_t matrices = Shape(input).Count(0, input.rank - 2);
  const int64_t cost = m * n * p * 2;
  return ForNumber("Qr", input.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    using Factors = Factorization<S>;
    return ForEachMatrix<S>(call, matrices, cost, Factors::ScratchCount(m, n, p), [&](int64_t i, S* scratch) {
      const Factors factors(m, n, p, scratch);
      LoadElements(input, i * m * n, m * n, factors.a);
      factors.Triangularize();
      factors.MakeQ();
      for (int64_t at = 0; at < p * n; ++at) {
        if (at / n > at % n) factors.a[at] = NumberOf<S>(0);
      }
      StoreElements(factors.q, m * p, call.out[0], i * m * p);
      StoreElements(factors.a, p * n, call.out[1], i * p * n);
      return Status();
    });
  });
}

// ---- matrix_triangular_solve --------------------------------------------------------------------------------

Status CheckEquations(const Tensor& matrix, const Tensor& rhs) {
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(matrix, "Input matrix"));
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(rhs, "Input right-hand side"));
  const int64_t n = matrix.dims[matrix.rank - 1];
  if (matrix.dims[matrix.rank - 2] != n) {
    return STILLFLOW_INVALID_ARGUMENT("Input matrix must be square, got shape %s", ShapeText(matrix).c_str());
  }
  bool fits = matrix.rank == rhs.rank && rhs.dims[rhs.rank - 2] == n;
  for (int i = 0; fits && i < rhs.rank - 2; ++i) fits = matrix.dims[i] == rhs.dims[i];
  if (!fits) {
    return STILLFLOW_INVALID_ARGUMENT("Input matrix and right-hand side have incompatible shapes: %s vs. %s",
                                      ShapeText(matrix).c_str(), ShapeText(rhs).c_str());
  }
  return Status();
}

Status MatrixTriangularSolve(const KernelCall& call) {
  const Tensor& matrix = *call.in[0];
  const Tensor& rhs = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckEquations(matrix, rhs));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, rhs.dtype, Shape(rhs)));
  if (rhs.count == 0) return Status();
  const int64_t n = matrix.dims[matrix.rank - 1];
  const int64_t k = rhs.dims[rhs.rank - 1];
  const bool is_adjoint = call.attrs[1].i != 0;
  const bool is_lower = (call.attrs[0].i != 0) != is_adjoint;
  return ForNumber("MatrixTriangularSolve", rhs.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return ForEachMatrix<S>(call, MatrixCount(rhs), n * n * k, n * (n + k), [&](int64_t index, S* a) -> Status {
      LoadElements(matrix, index * n * n, n * n, a);
      for (int64_t i = 0; i < n; ++i) {
        if (a[i * n + i] == NumberOf<S>(0)) return STILLFLOW_INVALID_ARGUMENT("Input matrix is not invertible.");
      }
      S* const x = a + n * n;
      LoadElements(rhs, index * n * k, n * k, x);
      const NumberView<S> view{a, is_adjoint ? 1 : n, is_adjoint ? n : 1, is_adjoint};
      STILLFLOW_RETURN_IF_ERROR(SolveTriangle(call, view, n, is_lower, false, x, k));
      StoreElements(x, n * k, call.out[0], index * n * k);
      return Status();
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, qr){{"qr", "input | full_matrices", Qr},
                            {"matrix_triangular_solve", "matrix, rhs | lower, adjoint", MatrixTriangularSolve},
                            {}};

}  // namespace stillflow
