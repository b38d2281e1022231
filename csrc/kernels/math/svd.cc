// svd, matrix_solve_ls: singular values, and what they solve.
//
//   svd               in[0] a [..., m, n]; attrs compute_uv, full_matrices; out[0] the singular values [..., p], p =
//                     min(m, n), in descending order; out[1] u [..., m, p or m], out[2] v [..., n, p or n], or
//                     nothing
//   matrix_solve_ls   in[0] a [..., m, n], in[1] b [..., m, k], in[2] float64 scalar l2 >= 0; attr fast; out[0] the x
//                     [..., n, k] of the least |a x - b|^2 + l2 |x|^2 and, where there are several, the shortest. If
//                     `fast`, by Cholesky's factors, else by singular values and without l2
#include "arithmetic/linear/factors.h"
#include "arithmetic/linear/matrices.h"
#include "arithmetic/linear/spectrum.h"

namespace stillflow {
namespace {

// ---- svd ----------------------------------------------------------------------------------------------------------

// The sizes of a decomposition; m >= n after what is wide has been transposed.
struct Sizes {
  int64_t m, n, left_count;
  bool is_transposed;

  Sizes(int64_t rows, int64_t columns, bool is_full)
      : m(std::max(rows, columns)),
        n(std::min(rows, columns)),
        left_count(is_full ? m : n),
        is_transposed(rows < columns) {}
  int64_t ScratchCount() const { return m * n + n + left_count * m + n * n; }
};

// One decomposition in scratch memory: the vectors are rows. Of a wide matrix it is that of the adjoint.
template <typename S>
struct Decomposition {
  double* values;
  S* left;
  S* right;

  // Of matrix `index`.
  Status Compute(const KernelCall& call, const Sizes& sizes, const Tensor& from, int64_t index, bool wants_vectors,
                 S* scratch) {
    const int64_t count = sizes.m * sizes.n;
    S* const a = Take(&scratch, count);
    values = reinterpret_cast<double*>(Take(&scratch, sizes.n));
    left = Take(&scratch, sizes.left_count * sizes.m);
    right = scratch;
    LoadElements(from, index * count, count, a);
    if (sizes.is_transposed) {
      S* const adjoint = left;  // which is not needed yet
      Transpose(a, sizes.n, sizes.m, adjoint);
      for (int64_t i = 0; i < count; ++i) a[i] = Conj(adjoint[i]);
    }
    return SingularValues(call, a, sizes.m, sizes.n, values, wants_vectors ? left : nullptr, sizes.left_count,
                          wants_vectors ? right : nullptr);
  }
};

// The rows as columns of matrix `index`.
template <typename S>
void StoreColumns(const S* rows, int64_t count, int64_t length, Tensor* to, int64_t index) {
  for (int64_t j = 0; j < length; ++j) {
    for (int64_t i = 0; i < count; ++i) StoreElements(rows + i * length + j, 1, to, (index * length + j) * count + i);
  }
}

Status Svd(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input, "Input tensor"));
  const int64_t rows = input.dims[input.rank - 2];
  const int64_t columns = input.dims[input.rank - 1];
  const bool wants_vectors = call.attrs[0].i != 0;
  const bool is_full = call.attrs[1].i != 0;
  const Sizes sizes(rows, columns, is_full);
  Shape shape(input);
  --shape.rank;
  shape.dims[shape.rank - 1] = sizes.n;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  ++shape.rank;
  for (int out = 1; out <= 2; ++out) {
    if (!wants_vectors) {
      STILLFLOW_RETURN_IF_ERROR(AllocateNothing(call, out, input.dtype));
      continue;
    }
    const int64_t length = out == 1 ? rows : columns;
    shape.dims[shape.rank - 2] = length;
    shape.dims[shape.rank - 1] = is_full ? length : sizes.n;
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, input.dtype, shape));
  }
  if (input.count == 0 && (!wants_vectors || (call.out[1]->count == 0 && call.out[2]->count == 0))) return Status();
  return ForNumber("Svd", input.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return ForEachMatrix<S>(call, MatrixCount(input), CubicCost(sizes.m), sizes.ScratchCount(),
                            [&](int64_t i, S* scratch) -> Status {
                              Decomposition<S> parts{};
                              STILLFLOW_RETURN_IF_ERROR(parts.Compute(call, sizes, input, i, wants_vectors, scratch));
                              StoreReals(parts.values, sizes.n, call.out[0], i * sizes.n);
                              if (!wants_vectors) return Status();
                              Tensor* const left = call.out[sizes.is_transposed ? 2 : 1];
                              Tensor* const right = call.out[sizes.is_transposed ? 1 : 2];
                              StoreColumns(parts.left, sizes.left_count, sizes.m, left, i);
                              StoreColumns(parts.right, sizes.n, sizes.n, right, i);
                              return Status();
                            });
  });
}

// ---- matrix_solve_ls ----------------------------------------------------------------------------------------------

struct LeastSquares {
  int64_t m, n, width;
  double l2;
};

// x = a' (a a' + l2)^-1 b, or (a' a + l2)^-1 a' b for a tall a.
template <typename S>
Status SolveNormalEquations(const KernelCall& call, const LeastSquares& sizes, const S* a, S* b, S* x) {
  const auto& [m, n, width, l2] = sizes;
  const bool is_tall = m >= n;
  const int64_t size = is_tall ? n : m;
  const Scratch scratch(call, size * (size + width) * static_cast<int64_t>(sizeof(S)));
  if (!scratch.ok()) return OutOfScratch();
  S* const gramian = scratch.data<S>();
  const NumberView<S> plain{a, n, 1};
  const NumberView<S> adjoint{a, 1, n, true};
  STILLFLOW_RETURN_IF_ERROR(Multiply<S>(call, size, size, is_tall ? m : n, is_tall ? adjoint : plain,
                                        is_tall ? plain : adjoint, gramian, size));
  for (int64_t i = 0; i < size; ++i) gramian[i * size + i] = gramian[i * size + i] + NumberOf<S>(l2);
  bool is_positive = false;
  STILLFLOW_RETURN_IF_ERROR(FactorCholesky(call, gramian, size, &is_positive));
  if (!is_positive)
    return STILLFLOW_INVALID_ARGUMENT(
        "Input matrix was rank deficient or ill-conditioned. Try setting "
        "fast=False or provide a larger l2_regularizer > 0.");
  S* solution = b;
  if (is_tall) {
    solution = x;
    STILLFLOW_RETURN_IF_ERROR(Multiply<S>(call, n, width, m, adjoint, {b, width, 1}, x, width));
  }
  STILLFLOW_RETURN_IF_ERROR(SolveTriangle<S>(call, {gramian, size, 1}, size, true, false, solution, width));
  STILLFLOW_RETURN_IF_ERROR(SolveTriangle<S>(call, {gramian, 1, size, true}, size, false, false, solution, width));
  if (is_tall) return Status();
  return Multiply<S>(call, n, width, m, adjoint, {b, width, 1}, x, width);
}

// x = v (u' b / s) without the directions in which a is as good as zero.
template <typename S>
Status SolveBySingularValues(const KernelCall& call, const LeastSquares& sizes, int64_t index, const S* b, S* x) {
  const Tensor& a = *call.in[0];
  const Sizes parts_sizes(sizes.m, sizes.n, false);
  const int64_t p = parts_sizes.n;
  const Scratch scratch(call, (parts_sizes.ScratchCount() + p * sizes.width) * static_cast<int64_t>(sizeof(S)));
  if (!scratch.ok()) return OutOfScratch();
  Decomposition<S> parts{};
  STILLFLOW_RETURN_IF_ERROR(parts.Compute(call, parts_sizes, a, index, true, scratch.data<S>()));
  S* const u = parts_sizes.is_transposed ? parts.right : parts.left;
  S* const v = parts_sizes.is_transposed ? parts.left : parts.right;
  S* const products = scratch.data<S>() + parts_sizes.ScratchCount();
  STILLFLOW_RETURN_IF_ERROR(
      Multiply<S>(call, p, sizes.width, sizes.m, {u, sizes.m, 1, true}, {b, sizes.width, 1}, products, sizes.width));
  const DType part = PartType(a.dtype);
  const double epsilon = part == DType::kDouble ? 0x1p-52 : part == DType::kHalf ? 0x1p-10 : 0x1p-23;
  const double least = parts.values[0] * epsilon * static_cast<double>(parts_sizes.m);
  for (int64_t i = 0; i < p; ++i) {
    const double factor = parts.values[i] <= least ? 0 : 1 / parts.values[i];
    for (int64_t j = 0; j < sizes.width; ++j) products[i * sizes.width + j] = factor * products[i * sizes.width + j];
  }
  return Multiply<S>(call, sizes.n, sizes.width, p, {v, 1, sizes.n}, {products, sizes.width, 1}, x, sizes.width);
}

Status CheckEquations(const KernelCall& call) {
  const Tensor& a = *call.in[0];
  const Tensor& b = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(a, "Input matrix"));
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(b, "Input right-hand side"));
  bool fits = a.rank == b.rank;
  for (int i = 0; fits && i < a.rank - 1; ++i) fits = a.dims[i] == b.dims[i];
  if (!fits) return STILLFLOW_INVALID_ARGUMENT("Input matrix and rhs are incompatible.");
  if (call.in[2]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("l2_regularizer must be scalar, got shape %s", ShapeText(*call.in[2]).c_str());
  }
  if (*Data<double>(*call.in[2]) < 0) return STILLFLOW_INVALID_ARGUMENT("l2_regularizer must be >= 0.");
  return Status();
}

Status MatrixSolveLs(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckEquations(call));
  const Tensor& a = *call.in[0];
  const Tensor& b = *call.in[1];
  const LeastSquares sizes{a.dims[a.rank - 2], a.dims[a.rank - 1], b.dims[b.rank - 1], *Data<double>(*call.in[2])};
  Shape shape(b);
  shape.dims[shape.rank - 2] = sizes.n;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, b.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  const bool is_fast = call.attrs[0].i != 0;
  return ForNumber("MatrixSolveLs", b.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if (sizes.m == 0) {
      std::memset(call.out[0]->data, 0, call.out[0]->count * ElementBytes(b.dtype));
      return Status();
    }
    const int64_t a_size = sizes.m * sizes.n;
    const int64_t b_size = sizes.m * sizes.width;
    const int64_t x_size = sizes.n * sizes.width;
    return ForEachMatrix<S>(call, MatrixCount(b), CubicCost(std::max(sizes.m, sizes.n)), a_size + b_size + x_size,
                            [&](int64_t i, S* scratch) {
                              S* const matrix = Take(&scratch, a_size);
                              S* const rhs = Take(&scratch, b_size);
                              LoadElements(a, i * a_size, a_size, matrix);
                              LoadElements(b, i * b_size, b_size, rhs);
                              STILLFLOW_RETURN_IF_ERROR(is_fast
                                                            ? SolveNormalEquations(call, sizes, matrix, rhs, scratch)
                                                            : SolveBySingularValues(call, sizes, i, rhs, scratch));
                              StoreElements(scratch, x_size, call.out[0], i * x_size);
                              return Status();
                            });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, svd){{"svd", "input | compute_uv, full_matrices", Svd},
                             {"matrix_solve_ls", "matrix, rhs, l2_regularizer | fast", MatrixSolveLs},
                             {}};

}  // namespace stillflow
