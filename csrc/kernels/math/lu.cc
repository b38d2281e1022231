// lu, matrix_inverse, matrix_solve, matrix_determinant, log_matrix_determinant: by triangular factors.
//
//   lu                      in[0] a [..., n, n]; attr index type; out[0] u, and below its diagonal l, whose diagonal
//   is
//                           1, of the rows of a in the order of out[1] [..., n]
//   matrix_inverse          in[0] a; attr adjoint; out[0] the inverse, or its adjoint
//   matrix_solve            in[0] a, in[1] b [..., n, k]; attr adjoint; out[0] x of a x = b, or of the adjoint of a
//   matrix_determinant      in[0] a; out[0] [...]
//   log_matrix_determinant  in[0] a; out[0] the determinant's sign, out[1] the logarithm of its magnitude
#include "arithmetic/linear/factors.h"
#include "arithmetic/linear/matrices.h"
#include "arithmetic/math/logarithm.h"

namespace stillflow {
namespace {

constexpr char kNotInvertible[] = "Input is not invertible.";

// One matrix's factors in scratch memory: n * n numbers, and n places for the order of the rows.
template <typename S>
struct Lu {
  int64_t n;
  S* a;
  int64_t* rows;
  bool is_odd;

  static int64_t ScratchCount(int64_t n) { return n * n + n; }
  Lu(int64_t size, S* scratch)
      : n(size), a(scratch), rows(reinterpret_cast<int64_t*>(scratch + size * size)), is_odd(false) {}

  // Of matrix `index`.
  Status Factor(const KernelCall& call, const Tensor& from, int64_t index) {
    LoadElements(from, index * n * n, n * n, a);
    return FactorLu(call, a, n, rows, &is_odd);
  }
  S pivot(int64_t i) const { return a[i * n + i]; }
  // No pivot is zero or NaN.
  bool is_invertible() const {
    for (int64_t i = 0; i < n; ++i) {
      if (!(Magnitude(pivot(i)) > 0)) return false;
    }
    return true;
  }
  // x = the solution for b, both [n, width].
  Status Solve(const KernelCall& call, const S* b, int64_t width, S* x) const {
    for (int64_t i = 0; i < n; ++i) std::copy_n(b + rows[i] * width, width, x + i * width);
    STILLFLOW_RETURN_IF_ERROR(SolveTriangle<S>(call, {a, n, 1}, n, true, true, x, width));
    return SolveTriangle<S>(call, {a, n, 1}, n, false, false, x, width);
  }
  // The same for the adjoint; b is overwritten.
  Status SolveAdjoint(const KernelCall& call, S* b, int64_t width, S* x) const {
    STILLFLOW_RETURN_IF_ERROR(SolveTriangle<S>(call, {a, 1, n, true}, n, true, false, b, width));
    STILLFLOW_RETURN_IF_ERROR(SolveTriangle<S>(call, {a, 1, n, true}, n, false, true, b, width));
    for (int64_t i = 0; i < n; ++i) std::copy_n(b + i * width, width, x + rows[i] * width);
    return Status();
  }
};

Status FactorMatrices(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  const int64_t n = input.dims[input.rank - 1];
  Shape rows_shape(input);
  --rows_shape.rank;
  const auto index_type = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, index_type, rows_shape));
  if (input.count == 0) return Status();
  return ForNumber("Lu", input.dtype, false, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return ForEachMatrix<S>(call, MatrixCount(input), CubicCost(n), Lu<S>::ScratchCount(n),
                            [&](int64_t i, S* scratch) {
                              Lu<S> lu(n, scratch);
                              STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, input, i));
                              if (!lu.is_invertible()) return STILLFLOW_INVALID_ARGUMENT("%s", kNotInvertible);
                              StoreElements(lu.a, n * n, call.out[0], i * n * n);
                              for (int64_t j = 0; j < n; ++j) {
                                if (index_type == DType::kInt64) {
                                  MutableData<int64_t>(*call.out[1])[i * n + j] = lu.rows[j];
                                } else {
                                  MutableData<int32_t>(*call.out[1])[i * n + j] = static_cast<int32_t>(lu.rows[j]);
                                }
                              }
                              return Status();
                            });
  });
}

// ---- matrix_inverse and matrix_solve ------------------------------------------------------------------------------

Status MatrixInverse(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  const int64_t n = input.dims[input.rank - 1];
  const bool is_adjoint = call.attrs[0].i != 0;
  return ForNumber("MatrixInverse", input.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const int64_t size = n * n;
    return ForEachMatrix<S>(call, MatrixCount(input), CubicCost(n), Lu<S>::ScratchCount(n) + 2 * size,
                            [&](int64_t i, S* scratch) {
                              Lu<S> lu(n, scratch);
                              STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, input, i));
                              if (!lu.is_invertible()) return STILLFLOW_INVALID_ARGUMENT("%s", kNotInvertible);
                              S* const identity = scratch + Lu<S>::ScratchCount(n);
                              S* const inverse = identity + size;
                              std::fill_n(identity, size, NumberOf<S>(0));
                              for (int64_t j = 0; j < n; ++j) identity[j * n + j] = NumberOf<S>(1);
                              STILLFLOW_RETURN_IF_ERROR(is_adjoint ? lu.SolveAdjoint(call, identity, n, inverse)
                                                                   : lu.Solve(call, identity, n, inverse));
                              StoreElements(inverse, size, call.out[0], i * size);
                              return Status();
                            });
  });
}

Status CheckEquations(const Tensor& matrix, const Tensor& rhs) {
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(matrix, "Input matrix"));
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(rhs, "Input right-hand side"));
  const int64_t n = matrix.dims[matrix.rank - 1];
  if (matrix.dims[matrix.rank - 2] != n) {
    return STILLFLOW_INVALID_ARGUMENT("First input (lhs) must be a square matrix.");
  }
  bool fits = matrix.rank == rhs.rank && rhs.dims[rhs.rank - 2] == n;
  for (int i = 0; fits && i < rhs.rank - 2; ++i) fits = matrix.dims[i] == rhs.dims[i];
  if (fits) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input matrix and rhs are incompatible: %s vs. %s", ShapeText(matrix).c_str(),
                                    ShapeText(rhs).c_str());
}

Status MatrixSolve(const KernelCall& call) {
  const Tensor& matrix = *call.in[0];
  const Tensor& rhs = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckEquations(matrix, rhs));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, rhs.dtype, Shape(rhs)));
  if (rhs.count == 0) return Status();
  const int64_t n = matrix.dims[matrix.rank - 1];
  const int64_t width = rhs.dims[rhs.rank - 1];
  const bool is_adjoint = call.attrs[0].i != 0;
  return ForNumber("MatrixSolve", rhs.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const int64_t size = n * width;
    return ForEachMatrix<S>(call, MatrixCount(rhs), CubicCost(n), Lu<S>::ScratchCount(n) + 2 * size,
                            [&](int64_t i, S* scratch) {
                              Lu<S> lu(n, scratch);
                              STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, matrix, i));
                              if (!lu.is_invertible())
                                return STILLFLOW_INVALID_ARGUMENT("Input matrix is not invertible.");
                              S* const b = scratch + Lu<S>::ScratchCount(n);
                              LoadElements(rhs, i * size, size, b);
                              STILLFLOW_RETURN_IF_ERROR(is_adjoint ? lu.SolveAdjoint(call, b, width, b + size)
                                                                   : lu.Solve(call, b, width, b + size));
                              StoreElements(b + size, size, call.out[0], i * size);
                              return Status();
                            });
  });
}

// ---- Determinants -------------------------------------------------------------------------------------------------

// x times the power of two that brings it near 1; its exponent, negated.
double Normalized(double x, int* exponent) { return std::frexp(x, exponent); }
Complex128 Normalized(Complex128 x, int* exponent) {
  std::frexp(Abs(x.re) > Abs(x.im) ? x.re : x.im, exponent);
  return {std::ldexp(x.re, -*exponent), std::ldexp(x.im, -*exponent)};
}
double TimesPowerOfTwo(double x, int exponent) { return std::ldexp(x, exponent); }
Complex128 TimesPowerOfTwo(Complex128 x, int exponent) {
  return {std::ldexp(x.re, exponent), std::ldexp(x.im, exponent)};
}

// mantissa * 2^exponent, so that products of many pivots neither overflow nor vanish on the way.
template <typename S>
struct Product {
  S mantissa = NumberOf<S>(1);
  int64_t exponent = 0;

  void Multiply(S factor) {
    int of_factor = 0;
    int of_product = 0;
    mantissa = Normalized(mantissa * Normalized(factor, &of_factor), &of_product);
    exponent += of_factor + of_product;
  }
  S Value() const {
    return TimesPowerOfTwo(mantissa, static_cast<int>(std::clamp<int64_t>(exponent, -100000, 100000)));
  }
};

template <typename S>
S Determinant(const Lu<S>& lu) {
  Product<S> product;
  for (int64_t i = 0; i < lu.n; ++i) product.Multiply(lu.pivot(i));
  return lu.is_odd ? -product.Value() : product.Value();
}

// Zero and NaN stay.
double SignOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
Complex128 SignOf(Complex128 x) { return Sign(x); }

template <typename S>
void LogDeterminant(const Lu<S>& lu, S* sign, S* logarithm) {
  double sum = 0;
  *sign = NumberOf<S>(lu.is_odd ? -1 : 1);
  for (int64_t i = 0; i < lu.n; ++i) {
    sum += Log(Magnitude(lu.pivot(i)));
    *sign = *sign * SignOf(lu.pivot(i));
  }
  if (*sign == NumberOf<S>(0)) {
    *sign = NumberOf<S>(0);
    sum = -std::numeric_limits<double>::infinity();
  }
  *logarithm = NumberOf<S>(sum);
}

// `kOutputs` is 1 for the determinant, 2 for its sign and logarithm.
template <int kOutputs>
Status ForEachDeterminant(const KernelCall& call, const char* kernel) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  Shape shape(input);
  shape.rank -= 2;
  for (int i = 0; i < kOutputs; ++i) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, input.dtype, shape));
  const int64_t n = input.dims[input.rank - 1];
  return ForNumber(kernel, input.dtype, false, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return ForEachMatrix<S>(call, shape.Count(), CubicCost(n), Lu<S>::ScratchCount(n), [&](int64_t i, S* scratch) {
      Lu<S> lu(n, scratch);
      STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, input, i));
      S values[2] = {};
      if constexpr (kOutputs == 1) {
        values[0] = Determinant(lu);
      } else {
        LogDeterminant(lu, values, values + 1);
      }
      for (int out = 0; out < kOutputs; ++out) StoreElements(values + out, 1, call.out[out], i);
      return Status();
    });
  });
}

Status MatrixDeterminant(const KernelCall& call) { return ForEachDeterminant<1>(call, "MatrixDeterminant"); }
Status LogMatrixDeterminant(const KernelCall& call) { return ForEachDeterminant<2>(call, "LogMatrixDeterminant"); }

}  // namespace

STILLFLOW_KERNELS(math, lu){
    {"lu", "input | output_idx_type", FactorMatrices},         {"matrix_inverse", "input | adjoint", MatrixInverse},
    {"matrix_solve", "matrix, rhs | adjoint", MatrixSolve},    {"matrix_determinant", "input", MatrixDeterminant},
    {"log_matrix_determinant", "input", LogMatrixDeterminant}, {}};

}  // namespace stillflow
