// matrices.h: what kernels on matrices have in common. All but the last two dimensions count matrices; they are
// computed in double, each element in one order, whatever the type is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/math/scalar.h"

namespace stillflow {

// row -= factor * other
inline void Subtract(double factor, const double* __restrict other, int64_t count, double* __restrict row) {
  for (int64_t i = 0; i < count; ++i) row[i] -= factor * other[i];
}

// The sum of products, in eight lanes by position and a tree over them.
inline double Dot(const double* a, const double* b, int64_t count) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  for (int j = 0; i < count; ++i, ++j) lanes[j] += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
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

template <typename T>
void LoadElements(const T* from, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(Widen(from[i]));
}

// A NaN becomes the positive quiet one.
template <typename T>
void StoreElements(const double* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = Narrow<T>(from[i] != from[i] ? std::numeric_limits<double>::quiet_NaN() : from[i]);
  }
}

inline void Transpose(const double* from, int64_t rows, int64_t columns, double* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
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

// Memory of `count` doubles from scratch memory.
inline double* Take(double** scratch, int64_t count) {
  double* const taken = *scratch;
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
