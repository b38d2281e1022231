// sparse_tensor_matmul: the product of a sparse and a dense matrix.
//
//   in[0]  indices int32 | int64 [n, 2], in[1] values [n], in[2] shape int64[2]; in[3] b [k, width]
//   attrs  adjoint_a, adjoint_b: whether the matrix is transposed first
//   out[0] [m, width]
//
// A row of the product takes the entries of a's row in their order, each by one fused multiply-add; bfloat16 is added
// up in float and rounded once, integers wrap around. Each row has one writer.
#include <algorithm>

#include "arithmetic/math/complex.h"

namespace stillflow {
namespace {

constexpr int64_t kProductsPerChunk = 32768;

// The factors as the product sees them, after transposition.
struct Factors {
  int64_t m, k, width;
  int64_t row_column, inner_column;  // of the indices
  int64_t b_row_stride, b_column_stride;
};

Status CheckForms(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  if (call.in[3]->rank != 2) return STILLFLOW_INVALID_ARGUMENT("Tensor 'b' is not a matrix");
  if (call.in[2]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("Tensor 'a_shape' is not a vector");
  if (call.in[2]->count != 2) return STILLFLOW_INVALID_ARGUMENT("Tensor 'a_shape' must have 2 elements");
  if (call.in[1]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("Tensor 'a_values' is not a vector");
  if (indices.rank != 2) return STILLFLOW_INVALID_ARGUMENT("Tensor 'a_indices' is not a matrix");
  if (indices.dims[0] != call.in[1]->count) {
    return STILLFLOW_INVALID_ARGUMENT("Number of rows of a_indices does not match number of entries in a_values");
  }
  if (indices.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Number of columns of a_indices does not match number of entries in a_shape");
  }
  return Status();
}

Status ReadFactors(const KernelCall& call, Factors* factors) {
  STILLFLOW_RETURN_IF_ERROR(CheckForms(call));
  Shape a;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &a));
  const Tensor& b = *call.in[3];
  const int adjoint_a = call.attrs[0].i != 0 ? 1 : 0;
  const int adjoint_b = call.attrs[1].i != 0 ? 1 : 0;
  *factors = {a.dims[adjoint_a], a.dims[1 - adjoint_a],     b.dims[1 - adjoint_b],    adjoint_a,
              1 - adjoint_a,     adjoint_b ? 1 : b.dims[1], adjoint_b ? b.dims[1] : 1};
  if (factors->k == b.dims[adjoint_b]) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "Cannot multiply A and B because inner dimension does not match: %lld vs. %lld.  Did you forget a transpose?  "
      "Dimensions of A: [%lld, %lld).  Dimensions of B: %s",
      static_cast<long long>(factors->k), static_cast<long long>(b.dims[adjoint_b]),
      static_cast<long long>(a.dims[0]), static_cast<long long>(a.dims[1]), ShapeText(b).c_str());
}

// An entry of a: the row of b that it multiplies, and which value it has.
struct Term {
  int64_t inner;
  int64_t entry;
};

// The entries by row of the product: those of row i are terms[starts[i]...starts[i + 1]), in their order.
Status SortByRow(const Tensor& indices, const Factors& factors, int64_t* rows, int64_t* starts, Term* terms) {
  const int64_t count = indices.dims[0];
  std::fill_n(starts, factors.m + 2, 0);
  for (int64_t i = 0; i < count; ++i) {
    rows[i] = IntAt(indices, 2 * i + factors.row_column);
    if (static_cast<uint64_t>(rows[i]) >= static_cast<uint64_t>(factors.m)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "m (%lld) from index[%lld,%lld] out of bounds (>=%lld)", static_cast<long long>(rows[i]),
          static_cast<long long>(i), static_cast<long long>(factors.row_column), static_cast<long long>(factors.m));
    }
    ++starts[rows[i] + 2];
  }
  for (int64_t row = 2; row <= factors.m + 1; ++row) starts[row] += starts[row - 1];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t inner = IntAt(indices, 2 * i + factors.inner_column);
    if (static_cast<uint64_t>(inner) >= static_cast<uint64_t>(factors.k)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "k (%lld) from index[%lld,%lld] out of bounds (>=%lld)", static_cast<long long>(inner),
          static_cast<long long>(i), static_cast<long long>(factors.inner_column), static_cast<long long>(factors.k));
    }
    terms[starts[rows[i] + 1]++] = {inner, i};
  }
  return Status();
}

template <typename R>
void AddScaled(Complex<R> factor, const Complex<R>* __restrict from, int64_t stride, int64_t count, bool conjugates,
               Complex<R>* __restrict to) {
  for (int64_t j = 0; j < count; ++j) {
    const Complex<R> element = from[j * stride];
    to[j] = to[j] + factor * (conjugates ? Conj(element) : element);
  }
}

template <typename W, typename T>
void AddScaled(T factor, const T* __restrict from, int64_t stride, int64_t count, W* __restrict to) {
  if constexpr (kIsFloating<T>) {
    const W wide = Widen(factor);
    if (stride == 1) {
      for (int64_t j = 0; j < count; ++j) to[j] = Fma(wide, Widen(from[j]), to[j]);
    } else {
      for (int64_t j = 0; j < count; ++j) to[j] = Fma(wide, Widen(from[j * stride]), to[j]);
    }
  } else {
    for (int64_t j = 0; j < count; ++j) {
      to[j] = static_cast<T>(static_cast<uint32_t>(to[j]) +
                             static_cast<uint32_t>(factor) * static_cast<uint32_t>(from[j * stride]));
    }
  }
}

// The product of elements of T, with sums of W in `to`.
template <typename T, typename W>
Status Multiply(const KernelCall& call, const Factors& factors, const int64_t* starts, const Term* terms, W* to) {
  const auto* values = Data<T>(*call.in[1]);
  const auto* b = Data<T>(*call.in[3]);
  const double terms_per_row = static_cast<double>(call.in[1]->count) / static_cast<double>(factors.m) + 1;
  const double work = terms_per_row * static_cast<double>(factors.width + 8);
  const int64_t chunk = std::max<int64_t>(static_cast<int64_t>(kProductsPerChunk / work), 1);
  return ForEachChunk(call, factors.m, chunk, [&](Range range) {
    std::fill(to + range.begin * factors.width, to + range.end * factors.width, W{});
    for (int64_t row = range.begin; row < range.end; ++row) {
      for (int64_t i = starts[row]; i < starts[row + 1]; ++i) {
        const T value = values[terms[i].entry];
        const T* const other = b + terms[i].inner * factors.b_row_stride;
        W* const sums = to + row * factors.width;
        if constexpr (kIsComplex<T>) {
          const bool conjugates_a = call.attrs[0].i != 0;
          const bool conjugates_b = call.attrs[1].i != 0;
          AddScaled(conjugates_a ? Conj(value) : value, other, factors.b_column_stride, factors.width, conjugates_b,
                    sums);
        } else {
          AddScaled(value, other, factors.b_column_stride, factors.width, sums);
        }
      }
    }
  });
}

Status SparseTensorMatMul(const KernelCall& call) {
  Factors factors{};
  STILLFLOW_RETURN_IF_ERROR(ReadFactors(call, &factors));
  Shape shape;
  shape.Add(factors.m);
  shape.Add(factors.width);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, call.in[3]->dtype, shape));
  const int64_t count = call.in[1]->count;
  int64_t starts_bytes = 0;
  if (__builtin_mul_overflow(factors.m + 2, int64_t{8}, &starts_bytes)) return OutOfScratch();
  const Scratch rows(call, count * 8);
  const Scratch starts(call, starts_bytes);
  const Scratch terms(call, count * static_cast<int64_t>(sizeof(Term)));
  if (!rows.ok() || !starts.ok() || !terms.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(
      SortByRow(*call.in[0], factors, rows.data<int64_t>(), starts.data<int64_t>(), terms.data<Term>()));
  if (call.out[0]->count == 0) return Status();
  return ForType<float, double, int32_t, BFloat16, Complex64, Complex128>(
      "SparseTensorDenseMatMul", call.in[3]->dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        auto* to = MutableData<T>(*call.out[0]);
        if constexpr (std::is_same_v<T, BFloat16>) {
          const Scratch sums(call, call.out[0]->count * 4);
          if (!sums.ok()) return OutOfScratch();
          STILLFLOW_RETURN_IF_ERROR(
              Multiply<T>(call, factors, starts.data<int64_t>(), terms.data<Term>(), sums.data<float>()));
          for (int64_t i = 0; i < call.out[0]->count; ++i) to[i] = Narrow<T>(sums.data<float>()[i]);
          return Status();
        } else {
          return Multiply<T>(call, factors, starts.data<int64_t>(), terms.data<Term>(), to);
        }
      });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_tensor_matmul){
    {"sparse_tensor_matmul", "a_indices, a_values, a_shape, b | adjoint_a, adjoint_b", SparseTensorMatMul}, {}};

}  // namespace stillflow
