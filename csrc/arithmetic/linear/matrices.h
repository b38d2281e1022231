// matrices.h: what kernels on matrices have in common. All but the last two dimensions count matrices; they are
// computed in double or Complex128 (number.h), each element in one order, whatever the type is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/linear/number.h"

namespace stillflow {

// row -= factor * other
template <typename S>
void Subtract(S factor, const S* __restrict other, int64_t count, S* __restrict row) {
  for (int64_t i = 0; i < count; ++i) row[i] = row[i] - factor * other[i];
}

// The sum of products in eight lanes by position and a tree over them.
template <bool kConjugatesA, typename S>
S SumOfProducts(const S* a, const S* b, int64_t count) {
  constexpr int kLanes = 8;
  const auto product = [=](int64_t i) __attribute__((always_inline)) {
    return kConjugatesA ? Conj(a[i]) * b[i] : a[i] * b[i];
  };
  S lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = lanes[j] + product(i + j);
  }
  for (int j = 0; i < count; ++i, ++j) lanes[j] = lanes[j] + product(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}
// Of a conjugated, or of both as they are.
template <typename S>
S Dot(const S* a, const S* b, int64_t count) {
  return SumOfProducts<true>(a, b, count);
}
template <typename S>
S PlainDot(const S* a, const S* b, int64_t count) {
  return SumOfProducts<false>(a, b, count);
}

// The length of (x, y), where the sum of squares might overflow.
inline double Hypotenuse(double x, double y) {
  const double larger = std::max(Abs(x), Abs(y));
  const double smaller = std::min(Abs(x), Abs(y));
  if (!(larger > 0)) return larger;
  const double ratio = smaller / larger;
  return larger * Sqrt(1 + ratio * ratio);
}

// The power of two that brings the largest element near 1; false if an element is not finite.
inline bool FindScale(const double* a, int64_t count, int* exponent) {
  double largest = 0;
  bool is_finite = true;
  for (int64_t i = 0; i < count; ++i) {
    is_finite = is_finite && Abs(a[i]) <= std::numeric_limits<double>::max();
    largest = std::max(largest, Abs(a[i]));
  }
  std::frexp(largest, exponent);
  return is_finite;
}

inline bool FindScale(const Complex128* a, int64_t count, int* exponent) {
  return FindScale(reinterpret_cast<const double*>(a), 2 * count, exponent);
}

// a times 2^exponent.
template <typename S>
void ScaleAll(S* a, int64_t count, int exponent) {
  auto* const parts = reinterpret_cast<double*>(a);
  for (int64_t i = 0; i < count * static_cast<int64_t>(sizeof(S) / sizeof(double)); ++i) {
    parts[i] = std::ldexp(parts[i], exponent);
  }
}

// Elements [begin, begin + count) of a tensor as numbers, and back; a NaN becomes the positive quiet one. The tensor
// is of a type that ForNumber allows.
void LoadElements(const Tensor& from, int64_t begin, int64_t count, double* to);
void LoadElements(const Tensor& from, int64_t begin, int64_t count, Complex128* to);
void StoreElements(const double* from, int64_t count, Tensor* to, int64_t begin);
void StoreElements(const Complex128* from, int64_t count, Tensor* to, int64_t begin);
// Real numbers, of which complex elements have the real parts.
void StoreReals(const double* from, int64_t count, Tensor* to, int64_t begin);

// Calls body(TypeTag<S>) for the number S that elements of a type are computed with.
template <typename Body>
Status ForNumber(const char* kernel, DType dtype, bool takes_half, const Body& body) {
  if (IsComplex(dtype)) return body(TypeTag<Complex128>{});
  const bool is_real = dtype == DType::kFloat || dtype == DType::kDouble || (dtype == DType::kHalf && takes_half);
  return is_real ? body(TypeTag<double>{}) : UnsupportedType(kernel, dtype);
}

template <typename S>
void Transpose(const S* from, int64_t rows, int64_t columns, S* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
}

// Calls solve(index, scratch) for each matrix, with `scratch_count` numbers.
template <typename S = double, typename Solve>
Status ForEachMatrix(const KernelCall& call, int64_t matrices, int64_t cost, int64_t scratch_count,
                     const Solve& solve) {
  constexpr int64_t kCostPerChunk = 100000;
  return ForEachChunk(call, matrices, std::max<int64_t>(kCostPerChunk / std::max<int64_t>(cost, 1), 1),
                      [&](Range chunk) -> Status {
                        const Scratch scratch(call, scratch_count * static_cast<int64_t>(sizeof(S)));
                        if (!scratch.ok()) return OutOfScratch();
                        for (int64_t i = chunk.begin; i < chunk.end; ++i) {
                          STILLFLOW_RETURN_IF_ERROR(solve(i, scratch.data<S>()));
                        }
                        return Status();
                      });
}

// An estimate of n^3 that does not overflow.
inline int64_t CubicCost(int64_t n) { return n > 1000 ? 1000000000 : n * n * n; }

inline Status CheckMatrices(const Tensor& tensor, const char* name) {
  if (tensor.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("%s must have rank >= 2, got shape %s", name, ShapeText(tensor).c_str());
  }
  return Status();
}

inline Status CheckSquare(const Tensor& tensor) {
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(tensor, "Input tensor"));
  if (tensor.dims[tensor.rank - 1] == tensor.dims[tensor.rank - 2]) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input matrix must be square.");
}

// Memory of `count` numbers from scratch memory.
template <typename S>
S* Take(S** scratch, int64_t count) {
  S* const taken = *scratch;
  *scratch += count;
  return taken;
}

// An output that nobody asked for has no elements.
inline Status AllocateNothing(const KernelCall& call, int out, DType dtype) {
  Shape shape;
  shape.Add(0);
  return AllocateOutput(call, out, dtype, shape);
}

// How many matrices there are.
inline int64_t MatrixCount(const Tensor& tensor) { return Shape(tensor).Count(0, tensor.rank - 2); }

}  // namespace stillflow
