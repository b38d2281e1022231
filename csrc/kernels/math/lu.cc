// lu, matrix_inverse, matrix_solve, matrix_determinant, log_matrix_determinant: by triangular factors.
//
//   lu                      in[0] a [..., n, n]; attr index type; out[0] u, and below its diagonal l, whose diagonal
//   is
//                           1, of the rows of a in the order of out[1] [..., n]
//   matrix_inverse          in[0] a; attr adjoint; out[0] the inverse, or its transposed
//   matrix_solve            in[0] a, in[1] b [..., n, k]; attr adjoint; out[0] x of a x = b, or of a transposed
//   matrix_determinant      in[0] a; out[0] [...]
//   log_matrix_determinant  in[0] a; out[0] the determinant's sign, out[1] the logarithm of its magnitude
#include "arithmetic/linear/factors.h"
#include "arithmetic/linear/matrices.h"
#include "arithmetic/math/logarithm.h"

namespace stillflow {
namespace {

constexpr char kNotInvertible[] = "Input is not invertible.";

// One matrix's factors in scratch memory: n * n doubles, and n places for the order of the rows.
struct Lu {
  int64_t n;
  double* a;
  int64_t* rows;
  bool is_odd;

  static int64_t ScratchCount(int64_t n) { return n * n + n; }
  Lu(int64_t size, double* scratch)
      : n(size), a(scratch), rows(reinterpret_cast<int64_t*>(scratch + size * size)), is_odd(false) {}

  template <typename T>
  Status Factor(const KernelCall& call, const T* from) {
    LoadElements(from, n * n, a);
    return FactorLu(call, a, n, rows, &is_odd);
  }
  double pivot(int64_t i) const { return a[i * n + i]; }
  // No pivot is zero or NaN.
  bool is_invertible() const {
    for (int64_t i = 0; i < n; ++i) {
      if (!(Abs(pivot(i)) > 0)) return false;
    }
    return true;
  }
  // x = the solution for b, both [n, width].
  Status Solve(const KernelCall& call, const double* b, int64_t width, double* x) const {
    for (int64_t i = 0; i < n; ++i) std::copy_n(b + rows[i] * width, width, x + i * width);
    STILLFLOW_RETURN_IF_ERROR(SolveTriangle(call, {a, n, 1}, n, true, true, x, width));
    return SolveTriangle(call, {a, n, 1}, n, false, false, x, width);
  }
  // The same for a transposed; b is overwritten.
  Status SolveTransposed(const KernelCall& call, double* b, int64_t width, double* x) const {
    STILLFLOW_RETURN_IF_ERROR(SolveTriangle(call, {a, 1, n}, n, true, false, b, width));
    STILLFLOW_RETURN_IF_ERROR(SolveTriangle(call, {a, 1, n}, n, false, true, b, width));
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
  return ForType<float, double>("Lu", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachMatrix(call, MatrixCount(input), CubicCost(n), Lu::ScratchCount(n),
                         [&](int64_t i, double* scratch) {
                           Lu lu(n, scratch);
                           STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, Data<T>(input) + i * n * n));
                           if (!lu.is_invertible()) return STILLFLOW_INVALID_ARGUMENT("%s", kNotInvertible);
                           StoreElements(lu.a, n * n, MutableData<T>(*call.out[0]) + i * n * n);
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
  return ForType<float, double, Half>("MatrixInverse", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t size = n * n;
    return ForEachMatrix(call, MatrixCount(input), CubicCost(n), Lu::ScratchCount(n) + 2 * size,
                         [&](int64_t i, double* scratch) {
                           Lu lu(n, scratch);
                           STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, Data<T>(input) + i * size));
                           if (!lu.is_invertible()) return STILLFLOW_INVALID_ARGUMENT("%s", kNotInvertible);
                           double* const identity = scratch + Lu::ScratchCount(n);
                           double* const inverse = identity + size;
                           std::fill_n(identity, size, 0.0);
                           for (int64_t j = 0; j < n; ++j) identity[j * n + j] = 1;
                           STILLFLOW_RETURN_IF_ERROR(is_adjoint ? lu.SolveTransposed(call, identity, n, inverse)
                                                                : lu.Solve(call, identity, n, inverse));
                           StoreElements(inverse, size, MutableData<T>(*call.out[0]) + i * size);
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
  return ForType<float, double, Half>("MatrixSolve", rhs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t size = n * width;
    return ForEachMatrix(call, MatrixCount(rhs), CubicCost(n), Lu::ScratchCount(n) + 2 * size,
                         [&](int64_t i, double* scratch) {
                           Lu lu(n, scratch);
                           STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, Data<T>(matrix) + i * n * n));
                           if (!lu.is_invertible())
                             return STILLFLOW_INVALID_ARGUMENT("Input matrix is not invertible.");
                           double* const b = scratch + Lu::ScratchCount(n);
                           LoadElements(Data<T>(rhs) + i * size, size, b);
                           STILLFLOW_RETURN_IF_ERROR(is_adjoint ? lu.SolveTransposed(call, b, width, b + size)
                                                                : lu.Solve(call, b, width, b + size));
                           StoreElements(b + size, size, MutableData<T>(*call.out[0]) + i * size);
                           return Status();
                         });
  });
}

// ---- Determinants -------------------------------------------------------------------------------------------------

// mantissa * 2^exponent, so that products of many pivots neither overflow nor vanish on the way.
struct Product {
  double mantissa = 1;
  int64_t exponent = 0;

  void Multiply(double factor) {
    int shift = 0;
    mantissa = std::frexp(mantissa * std::frexp(factor, &shift), &unit_);
    exponent += shift + unit_;
  }
  double Value() const {
    return std::ldexp(mantissa, static_cast<int>(std::clamp<int64_t>(exponent, -100000, 100000)));
  }

 private:
  int unit_ = 0;
};

double Determinant(const Lu& lu) {
  Product product;
  for (int64_t i = 0; i < lu.n; ++i) product.Multiply(lu.pivot(i));
  return lu.is_odd ? -product.Value() : product.Value();
}

void LogDeterminant(const Lu& lu, double* sign, double* logarithm) {
  *sign = lu.is_odd ? -1 : 1;
  *logarithm = 0;
  for (int64_t i = 0; i < lu.n; ++i) {
    const double pivot = lu.pivot(i);
    *logarithm += Log(Abs(pivot));
    *sign *= pivot > 0 ? 1 : pivot < 0 ? -1 : pivot;  // zero and NaN stay
  }
  if (*sign == 0) {
    *sign = 0;
    *logarithm = -std::numeric_limits<double>::infinity();
  }
}

template <typename Store>
Status ForEachDeterminant(const KernelCall& call, const char* kernel, const Store& store) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  Shape shape(input);
  shape.rank -= 2;
  for (int i = 0; i < call.out_count; ++i) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, input.dtype, shape));
  const int64_t n = input.dims[input.rank - 1];
  return ForType<float, double>(kernel, input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachMatrix(call, shape.Count(), CubicCost(n), Lu::ScratchCount(n), [&](int64_t i, double* scratch) {
      Lu lu(n, scratch);
      STILLFLOW_RETURN_IF_ERROR(lu.Factor(call, Data<T>(input) + i * n * n));
      double values[2] = {};
      store(lu, values);
      for (int out = 0; out < call.out_count; ++out) {
        StoreElements(values + out, 1, MutableData<T>(*call.out[out]) + i);
      }
      return Status();
    });
  });
}

Status MatrixDeterminant(const KernelCall& call) {
  return ForEachDeterminant(call, "MatrixDeterminant",
                            [](const Lu& lu, double* values) { values[0] = Determinant(lu); });
}

Status LogMatrixDeterminant(const KernelCall& call) {
  return ForEachDeterminant(call, "LogMatrixDeterminant",
                            [](const Lu& lu, double* values) { LogDeterminant(lu, values, values + 1); });
}

}  // namespace

STILLFLOW_KERNELS(math, lu){
    {"lu", "input | output_idx_type", FactorMatrices},         {"matrix_inverse", "input | adjoint", MatrixInverse},
    {"matrix_solve", "matrix, rhs | adjoint", MatrixSolve},    {"matrix_determinant", "input", MatrixDeterminant},
    {"log_matrix_determinant", "input", LogMatrixDeterminant}, {}};

}  // namespace stillflow
