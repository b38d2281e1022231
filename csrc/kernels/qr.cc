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
#include <algorithm>
#include <cmath>
#include <limits>

#include "math/scalar.h"

namespace stillflow {
namespace {

// row -= factor * other
void Subtract(double factor, const double* __restrict other, int64_t count, double* __restrict row) {
  for (int64_t i = 0; i < count; ++i) row[i] -= factor * other[i];
}

// Calls solve(index, scratch) for each matrix, with `scratch_count` doubles.
template <typename Solve>
Status ForEachMatrix(const KernelCall& call, int64_t matrices, int64_t cost, int64_t scratch_count,
                     const Solve& solve) {
  constexpr int64_t kCostPerChunk = 100000;
  return ForEachChunk(call, matrices, std::max<int64_t>(kCostPerChunk / std::max<int64_t>(cost, 1), 1),
                      [&](Range chunk) -> Status {
                        const Scratch scratch(call, scratch_count * static_cast<int64_t>(sizeof(double)));
                        if (!scratch.ok()) return OutOfScratch();
                        for (int64_t i = chunk.begin; i < chunk.end; ++i) {
                          STILLFLOW_RETURN_IF_ERROR(solve(i, scratch.data<double>()));
                        }
                        return Status();
                      });
}

Status CheckMatrices(const Tensor& tensor, const char* name) {
  if (tensor.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("%s must have rank >= 2, got shape %s", name, ShapeText(tensor).c_str());
  }
  return Status();
}

// ---- qr -----------------------------------------------------------------------------------------------------

// rows - tau v (v' rows), for a reflection with v[0] = 1 and the rest of v in a column of `reflections`.
void Reflect(const double* reflections, int64_t stride, double tau, int64_t row_count, int64_t columns, double* rows,
             int64_t row_stride, double* sums) {
  std::copy_n(rows, columns, sums);
  for (int64_t i = 1; i < row_count; ++i) Subtract(-reflections[i * stride], rows + i * row_stride, columns, sums);
  for (int64_t j = 0; j < columns; ++j) sums[j] *= tau;
  Subtract(1, sums, columns, rows);
  for (int64_t i = 1; i < row_count; ++i) Subtract(reflections[i * stride], sums, columns, rows + i * row_stride);
}

// One factorization by Householder reflections; the diagonal of r has the sign opposite to what it replaces.
struct Factorization {
  int64_t m, n, p;
  double* a;     // [m, n]: becomes r, with the reflections below its diagonal
  double* q;     // [m, p]
  double* taus;  // [min(m, n)]
  double* sums;  // [max(n, p)]

  static int64_t ScratchCount(int64_t m, int64_t n, int64_t p) {
    return m * n + m * p + std::min(m, n) + std::max(n, p);
  }
  Factorization(int64_t m_, int64_t n_, int64_t p_, double* scratch)
      : m(m_), n(n_), p(p_), a(scratch), q(a + m * n), taus(q + m * p), sums(taus + std::min(m, n)) {}

  void Triangularize() const {
    for (int64_t j = 0; j < std::min(m, n); ++j) {
      double* const corner = a + j * n + j;
      const int64_t rows = m - j;
      const double first = corner[0];
      double rest = 0;
      for (int64_t i = 1; i < rows; ++i) rest += corner[i * n] * corner[i * n];
      taus[j] = 0;
      if (rest <= std::numeric_limits<double>::min()) continue;
      const double norm = std::sqrt(first * first + rest);
      const double beta = first >= 0 ? -norm : norm;
      taus[j] = (beta - first) / beta;
      for (int64_t i = 1; i < rows; ++i) corner[i * n] /= first - beta;
      corner[0] = beta;
      Reflect(corner, n, taus[j], rows, n - j - 1, corner + 1, n, sums);
    }
  }
  void MakeQ() const {
    std::fill_n(q, m * p, 0.0);
    for (int64_t i = 0; i < std::min(m, p); ++i) q[i * p + i] = 1;
    for (int64_t j = std::min(m, n) - 1; j >= 0; --j) {
      Reflect(a + j * n + j, n, taus[j], m - j, p - j, q + j * p + j, p, sums);
    }
  }
};

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
  const bool starts_at_top = (call.attrs[0].i != 0) != is_adjoint;
  const int64_t matrices = Shape(rhs).Count(0, rhs.rank - 2);
  return ForType<float, double>("MatrixTriangularSolve", rhs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const to = MutableData<T>(*call.out[0]);
    return ForEachMatrix(call, matrices, n * n * k, n * k, [&](int64_t index, double* x) {
      const T* const a = Data<T>(matrix) + index * n * n;
      std::copy_n(Data<T>(rhs) + index * n * k, n * k, x);
      for (int64_t step = 0; step < n; ++step) {
        const int64_t i = starts_at_top ? step : n - 1 - step;
        for (int64_t done = 0; done < step; ++done) {
          const int64_t j = starts_at_top ? done : n - 1 - done;
          Subtract(is_adjoint ? a[j * n + i] : a[i * n + j], x + j * k, k, x + i * k);
        }
        if (a[i * n + i] == 0) return STILLFLOW_INVALID_ARGUMENT("Input matrix is not invertible.");
        for (int64_t j = 0; j < k; ++j) x[i * k + j] /= a[i * n + i];
      }
      for (int64_t at = 0; at < n * k; ++at) to[index * n * k + at] = static_cast<T>(x[at]);
      return Status();
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(qr){{"qr", "input | full_matrices", Qr},
                      {"matrix_triangular_solve", "matrix, rhs | lower, adjoint", MatrixTriangularSolve},
                      {}};

}  // namespace stillflow
