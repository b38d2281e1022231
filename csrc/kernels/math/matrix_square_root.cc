// matrix_square_root, matrix_logarithm: functions of general matrices, by way of their triangular forms.
//
//   in[0]  a [..., n, n]
//   out[0] the principal square roots, of real matrices NaN where they are not real, or the principal logarithms
//
// Roots of triangular matrices are found from the diagonal outwards (Bjorck and Hammarling, 1983); a logarithm is
// that of a root near the identity, doubled (Higham, Functions of Matrices, 11.5), where log(1 + x) is the integral
// of x / (1 + t x) over t from 0 to 1, by Gauss and Legendre's rule.
#include "arithmetic/linear/matrices.h"
#include "arithmetic/linear/schur.h"

namespace stillflow {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// root root = t, both upper triangular.
void RootOfTriangle(const Complex128* t, int64_t n, Complex128* root) {
  std::fill_n(root, n * n, Complex128{0, 0});
  for (int64_t j = 0; j < n; ++j) {
    root[j * n + j] = Sqrt(t[j * n + j]);
    for (int64_t i = j - 1; i >= 0; --i) {
      Complex128 sum = {0, 0};
      for (int64_t k = i + 1; k < j; ++k) sum = sum + root[i * n + k] * root[k * n + j];
      root[i * n + j] = (t[i * n + j] - sum) / (root[i * n + i] + root[j * n + j]);
    }
  }
}

// The nodes and half the weights of the rule for [0, 1].
constexpr int kNodes = 7;
constexpr double kPlaces[] = {0.025446043828620736, 0.12923440720030277, 0.2970774243113014, 0.5,
                              0.7029225756886985,   0.8707655927996972,  0.9745539561713793};
constexpr double kWeights[] = {0.06474248308443485, 0.13985269574463834, 0.1909150252525595, 0.20897959183673470,
                               0.1909150252525595,  0.13985269574463834, 0.06474248308443485};

// sum += weight x (1 + place x)^-1 for upper triangular x, column by column from the front; `row` has n numbers.
void AddQuotient(const Complex128* x, int64_t n, double place, double weight, Complex128* row, Complex128* sum) {
  for (int64_t i = 0; i < n; ++i) {  // row (1 + place x) = weight x[i]
    for (int64_t j = i; j < n; ++j) {
      Complex128 rest = weight * x[i * n + j];
      for (int64_t k = i; k < j; ++k) rest = rest - row[k] * (place * x[k * n + j]);
      row[j] = rest / (Complex128{1, 0} + place * x[j * n + j]);
      sum[i * n + j] = sum[i * n + j] + row[j];
    }
  }
}

double DistanceFromIdentity(const Complex128* t, int64_t n) {
  double largest = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i <= j; ++i) sum += Magnitude(i == j ? t[i * n + j] - Complex128{1, 0} : t[i * n + j]);
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

// Makes t, upper triangular, its logarithm; `other` and `row` have n^2 and n numbers.
void LogarithmOfTriangle(Complex128* t, int64_t n, Complex128* result, Complex128* other, Complex128* row) {
  constexpr double kNear = 0.25;
  constexpr int kMostRoots = 1100;  // more than what the exponents of doubles allow
  int roots = 0;
  for (int64_t j = 0; j < n; ++j) row[n + j] = Log(t[j * n + j]);
  for (; roots < kMostRoots && DistanceFromIdentity(t, n) > kNear; ++roots) {
    RootOfTriangle(t, n, other);
    std::copy_n(other, n * n, t);
  }
  for (int64_t i = 0; i < n; ++i) t[i * n + i] = t[i * n + i] - Complex128{1, 0};
  std::fill_n(result, n * n, Complex128{0, 0});
  for (int i = 0; i < kNodes; ++i) AddQuotient(t, n, kPlaces[i], kWeights[i], row, result);
  ScaleAll(result, n * n, roots);
  for (int64_t j = 0; j < n; ++j) result[j * n + j] = row[n + j];  // which did not lose by the roots
}

// a = q f q^H
void TransformBack(const Complex128* f, const Complex128* q, int64_t n, Complex128* product, Complex128* a) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Complex128 sum = {0, 0};
      for (int64_t k = 0; k <= j; ++k) sum = sum + q[i * n + k] * f[k * n + j];
      product[i * n + j] = sum;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Complex128 sum = {0, 0};
      for (int64_t k = 0; k < n; ++k) sum = sum + product[i * n + k] * Conj(q[j * n + k]);
      a[i * n + j] = sum;
    }
  }
}

// Whether a matrix of real numbers has a root of real numbers: unless an eigenvalue is negative.
bool HasRealRoot(const Complex128* t, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, Magnitude(t[i * n + i]));
  for (int64_t i = 0; i < n; ++i) {
    const Complex128 x = t[i * n + i];
    const double nothing = 1e-13 * largest * static_cast<double>(n);
    if (x.re < -nothing && Abs(x.im) <= nothing) return false;
  }
  return true;
}

template <bool kIsRoot>
Status MatrixFunction(const KernelCall& call) {
  const char* const name = kIsRoot ? "MatrixSquareRoot" : "MatrixLogarithm";
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  const int64_t n = input.dims[input.rank - 1];
  const bool is_real = !IsComplex(input.dtype);
  if (is_real && (!kIsRoot || input.dtype == DType::kHalf)) return UnsupportedType(name, input.dtype);
  const int64_t cost = CubicCost(n) * 20;
  return ForEachMatrix<Complex128>(
      call, MatrixCount(input), cost, 4 * n * n + 2 * n, [&](int64_t index, Complex128* scratch) -> Status {
        Complex128* const a = Take(&scratch, n * n);
        Complex128* const q = Take(&scratch, n * n);
        Complex128* const result = Take(&scratch, n * n);
        Complex128* const other = Take(&scratch, n * n);
        if (is_real) {
          auto* const reals = reinterpret_cast<double*>(other);
          LoadElements(input, index * n * n, n * n, reals);
          for (int64_t i = 0; i < n * n; ++i) a[i] = {reals[i], 0};
        } else {
          LoadElements(input, index * n * n, n * n, a);
        }
        const bool is_found = ReduceToTriangle(a, n, q, scratch) && (!is_real || HasRealRoot(a, n));
        if (!is_found) {
          std::fill_n(a, n * n, Complex128{kNaN, is_real ? 0 : kNaN});
        } else {
          if constexpr (kIsRoot) {
            RootOfTriangle(a, n, result);
          } else {
            LogarithmOfTriangle(a, n, result, other, scratch);
          }
          TransformBack(result, q, n, other, a);
        }
        if (is_real) {
          auto* const reals = reinterpret_cast<double*>(other);
          for (int64_t i = 0; i < n * n; ++i) reals[i] = a[i].re;
          StoreElements(reals, n * n, call.out[0], index * n * n);
        } else {
          StoreElements(a, n * n, call.out[0], index * n * n);
        }
        return Status();
      });
}

}  // namespace

STILLFLOW_KERNELS(math, matrix_square_root){
    {"matrix_square_root", "input", MatrixFunction<true>}, {"matrix_logarithm", "input", MatrixFunction<false>}, {}};

}  // namespace stillflow
