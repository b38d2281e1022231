// tridiagonal_solve, tridiagonal_mat_mul: matrices of three diagonals.
//
//   tridiagonal_solve    in[0] [..., 3, n]: the diagonals above, on and below the main one, row by row; the last
//   element of
//                        the first and the first of the last do not count; in[1] right sides [..., n, k]
//                        attr partial_pivoting: whether rows may be swapped; out[0] solutions [..., n, k]
//   tridiagonal_mat_mul  in[0..2] these diagonals, [..., 1, n] each; in[3] [..., n, k]; out[0] products [..., n, k]
//
// Matrices are worked on one by one.
#include <algorithm>

#include "arithmetic/linear/number.h"

namespace stillflow {
namespace {

Status NotInvertible() { return STILLFLOW_INVALID_ARGUMENT("The matrix is not invertible."); }

// ---- Solutions ----------------------------------------------------------------------------------------------------

// Row i of the factor u after elimination: u[3 * i] on, u[3 * i + 1] right of, u[3 * i + 2] two right of the
// diagonal.
template <typename T>
bool Eliminate(const T* above, const T* main, const T* below, int64_t n, int64_t k, T* u, T* x, bool may_swap) {
  u[0] = main[0];
  u[1] = n > 1 ? above[0] : T{0};
  u[2] = T{0};
  for (int64_t i = 0; i + 1 < n; ++i) {
    T* row = u + 3 * i;
    T* next = row + 3;
    next[0] = main[i + 1];
    next[1] = i + 2 < n ? above[i + 1] : T{0};
    next[2] = T{0};
    const T left = below[i + 1];
    if (!may_swap || Magnitude(row[0]) >= Magnitude(left)) {
      if (row[0] == T{0}) return false;
      const T factor = left / row[0];
      next[0] = next[0] - factor * row[1];
      next[1] = next[1] - factor * row[2];
      for (int64_t j = 0; j < k; ++j) x[(i + 1) * k + j] = x[(i + 1) * k + j] - factor * x[i * k + j];
    } else {
      const T factor = row[0] / left;
      const T old[3] = {row[0], row[1], row[2]};
      row[0] = left;
      row[1] = next[0];
      row[2] = next[1];
      next[0] = old[1] - factor * row[1];
      next[1] = old[2] - factor * row[2];
      for (int64_t j = 0; j < k; ++j) {
        const T upper = x[i * k + j], lower = x[(i + 1) * k + j];
        x[i * k + j] = lower;
        x[(i + 1) * k + j] = upper - factor * lower;
      }
    }
  }
  return u[3 * (n - 1)] != T{0};
}

template <typename T>
void SubstituteBack(const T* u, int64_t n, int64_t k, T* x) {
  for (int64_t i = n - 1; i >= 0; --i) {
    for (int64_t j = 0; j < k; ++j) {
      T value = x[i * k + j];
      if (i + 1 < n) value = value - u[3 * i + 1] * x[(i + 1) * k + j];
      if (i + 2 < n) value = value - u[3 * i + 2] * x[(i + 2) * k + j];
      x[i * k + j] = value / u[3 * i];
    }
  }
}

Status CheckSolve(const Tensor& diagonals, const Tensor& rhs) {
  if (diagonals.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Expected diagonals to have rank at least 2, got %d", diagonals.rank);
  }
  if (diagonals.dims[diagonals.rank - 2] != 3) {
    return STILLFLOW_INVALID_ARGUMENT("Expected diagonals to have 3 rows, got shape %s",
                                      ShapeText(diagonals).c_str());
  }
  bool fits = rhs.rank == diagonals.rank;
  for (int i = 0; fits && i + 2 < rhs.rank; ++i) fits = rhs.dims[i] == diagonals.dims[i];
  if (fits && rhs.dims[rhs.rank - 2] == diagonals.dims[diagonals.rank - 1]) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Right sides of shape %s do not fit diagonals of shape %s",
                                    ShapeText(rhs).c_str(), ShapeText(diagonals).c_str());
}

Status TridiagonalSolve(const KernelCall& call) {
  const Tensor& diagonals = *call.in[0];
  const Tensor& rhs = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckSolve(diagonals, rhs));
  const bool may_swap = call.attrs[0].i != 0;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, rhs.dtype, Shape(rhs)));
  const int64_t n = diagonals.dims[diagonals.rank - 1], k = rhs.dims[rhs.rank - 1];
  if (rhs.dtype != diagonals.dtype) return UnsupportedType("TridiagonalSolve", rhs.dtype);
  if (n == 0) return Status();
  const int64_t batch = diagonals.count / (3 * n);
  return ForType<float, double, Complex64, Complex128>("TridiagonalSolve", diagonals.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, batch, 1, [&](Range range) {
      Scratch memory(call, 3 * n * static_cast<int64_t>(sizeof(T)));
      if (!memory.ok()) return OutOfScratch();
      for (int64_t i = range.begin; i < range.end; ++i) {
        const T* above = Data<T>(diagonals) + i * 3 * n;
        T* x = MutableData<T>(*call.out[0]) + i * n * k;
        std::copy_n(Data<T>(rhs) + i * n * k, n * k, x);
        if (!Eliminate(above, above + n, above + 2 * n, n, k, memory.data<T>(), x, may_swap)) {
          if (n == 1)
            return STILLFLOW_INVALID_ARGUMENT("The matrix is not invertible: it is a scalar with value zero.");
          if (may_swap) return NotInvertible();
          return STILLFLOW_INVALID_ARGUMENT(
              "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True.");
        }
        SubstituteBack(memory.data<T>(), n, k, x);
      }
      return Status();
    });
  });
}

// ---- Products -----------------------------------------------------------------------------------------------------

Status TridiagonalMatMul(const KernelCall& call) {
  const Tensor& rhs = *call.in[3];
  constexpr const char* kNames[] = {"superdiagonal", "main diagonal", "subdiagonal"};
  if (rhs.rank < 2) return STILLFLOW_INVALID_ARGUMENT("Input must have rank >= 2, but got %d", rhs.rank);
  Shape expected(rhs);
  expected.dims[rhs.rank - 2] = 1;
  expected.dims[rhs.rank - 1] = rhs.dims[rhs.rank - 2];
  for (int i = 0; i < 3; ++i) {
    if (!(Shape(*call.in[i]) == expected)) return STILLFLOW_INVALID_ARGUMENT("Invalid %s shape.", kNames[i]);
    if (call.in[i]->dtype != rhs.dtype) return UnsupportedType("TridiagonalMatMul", call.in[i]->dtype);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, rhs.dtype, Shape(rhs)));
  if (rhs.count == 0) return Status();
  const int64_t n = rhs.dims[rhs.rank - 2], k = rhs.dims[rhs.rank - 1];
  return ForType<float, double, Complex64, Complex128>("TridiagonalMatMul", rhs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t chunk = std::max<int64_t>(1, 4096 / k);
    return ForEachChunk(call, rhs.count / k, chunk, [&](Range range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        const T above = Data<T>(*call.in[0])[row], main = Data<T>(*call.in[1])[row],
                below = Data<T>(*call.in[2])[row];
        const T* x = Data<T>(rhs) + row * k;
        T* to = MutableData<T>(*call.out[0]) + row * k;
        for (int64_t j = 0; j < k; ++j) {
          T value = main * x[j];
          if (row % n > 0) value = value + below * x[j - k];
          if (row % n + 1 < n) value = value + above * x[j + k];
          to[j] = value;
        }
      }
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, tridiagonal){{"tridiagonal_solve", "diagonals, rhs | partial_pivoting", TridiagonalSolve},
                                     {"tridiagonal_mat_mul", "superdiag, maindiag, subdiag, rhs", TridiagonalMatMul},
                                     {}};

}  // namespace stillflow
