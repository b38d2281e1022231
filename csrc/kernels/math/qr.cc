// qr, matrix_triangular_solve: factors of matrices, and solutions with such factors. All but the last two dimensions
// count matrices.
//
//   qr: in[0]   input [..., m, n]; attr full_matrices
//       out[0]  q [..., m, p], out[1] r [..., p, n], p = m if full_matrices, else min(m, n)
//   matrix_triangular_solve: in[0] matrix [..., n, n], in[1] rhs [..., n, k]; attrs lower, adjoint
//       out[0]  x [..., n, k] of matrix * x = rhs, or of matrix transposed if `adjoint`; the other triangle is not
//       read
//
// Arithmetic is in double, row by row: each element adds up in one order.
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
  return ForType<float, double>("Qr", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const q = MutableData<T>(*call.out[0]);
    T* const r = MutableData<T>(*call.out[1]);
    return ForEachMatrix(call, matrices, cost, Factorization::ScratchCount(m, n, p), [&](int64_t i, double* scratch) {
      const Factorization factors(m, n, p, scratch);
      std::copy_n(Data<T>(input) + i * m * n, m * n, factors.a);
      factors.Triangularize();
      factors.MakeQ();
      for (int64_t at = 0; at < m * p; ++at) q[i * m * p + at] = static_cast<T>(factors.q[at]);
      for (int64_t at = 0; at < p * n; ++at) {
        r[i * p * n + at] = at / n > at % n ? T{0} : static_cast<T>(factors.a[at]);
      }
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
  return ForType<float, double, Half>("MatrixTriangularSolve", rhs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachMatrix(call, MatrixCount(rhs), n * n * k, n * (n + k), [&](int64_t index, double* a) -> Status {
      LoadElements(Data<T>(matrix) + index * n * n, n * n, a);
      for (int64_t i = 0; i < n; ++i) {
        if (a[i * n + i] == 0) return STILLFLOW_INVALID_ARGUMENT("Input matrix is not invertible.");
      }
      double* const x = a + n * n;
      LoadElements(Data<T>(rhs) + index * n * k, n * k, x);
      const MatrixView<double> view{a, is_adjoint ? 1 : n, is_adjoint ? n : 1};
      STILLFLOW_RETURN_IF_ERROR(SolveTriangle(call, view, n, is_lower, false, x, k));
      StoreElements(x, n * k, MutableData<T>(*call.out[0]) + index * n * k);
      return Status();
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, qr){{"qr", "input | full_matrices", Qr},
                            {"matrix_triangular_solve", "matrix, rhs | lower, adjoint", MatrixTriangularSolve},
                            {}};

}  // namespace stillflow
