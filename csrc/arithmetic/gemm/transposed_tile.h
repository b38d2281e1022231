// transposed_tile.h: a tile of a product with few rows whose b is contiguous along k. Squares of b are transposed
// in registers and used there: with so few multiply-adds for each element, a copy would cost more than the product.
#pragma once

#include <cstring>

#include "arithmetic/gemm/tile.h"

namespace stillflow::gemm {

// Adds to sums[i] the products of `depth` elements of row i of a and of a square of b, one after the other.
template <typename T, int kRows>
STILLFLOW_INLINE void AddSquare(const T* a, int64_t a_row_stride, const T* b, int64_t b_stride, int depth,
                                Vector<T>* sums) {
  Vector<T> columns[kLanes<T>];
  LoadTransposed<T>(b, b_stride, columns);
#pragma GCC unroll 16
  for (int l = 0; l < kLanes<T>; ++l) {
    if (l == depth) break;
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) sums[i] = MulAdd<T>(Broadcast(a[i * a_row_stride + l]), columns[l], sums[i]);
  }
}

// Two vectors of columns side by side hide the latency of each other's multiply-adds.
constexpr int kSquares = 2;
template <typename T>
constexpr int64_t kTransposedColumns = kSquares * kLanes<T>;

// As ComputeTile for `columns` columns, but column j of b starts at call.b + j * call.b_panel_stride and is
// contiguous.
template <typename T, int kRows>
void ComputeTransposedTile(const TileCall<T>& call, int columns) {
  constexpr int kCount = kLanes<T>;
  const int64_t stride = call.b_panel_stride;
  Vector<T> sums[kSquares][kRows] = {};
  if (call.loads_c) {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < kRows; ++i) sums[j / kCount][i][j % kCount] = call.c[i * call.ldc + j];
    }
  }
  for (int64_t l = 0; l < call.k; l += kCount) {
    const int depth = call.k - l < kCount ? static_cast<int>(call.k - l) : kCount;
    const T* a = call.a + l * call.a_k_stride;
    int64_t a_row_stride = call.a_row_stride;
    T copy_of_a[kRows][kCount];
    if (call.a_k_stride != 1) {
      for (int i = 0; i < kRows; ++i) {
        for (int d = 0; d < depth; ++d) copy_of_a[i][d] = a[i * a_row_stride + d * call.a_k_stride];
      }
      a = copy_of_a[0];
      a_row_stride = kCount;
    }
    const T* b = call.b + l;
    if (depth == kCount && columns == kTransposedColumns<T>) {
#pragma GCC unroll 4
      for (int v = 0; v < kSquares; ++v) {
        AddSquare<T, kRows>(a, a_row_stride, b + v * kCount * stride, stride, kCount, sums[v]);
      }
      continue;
    }
    for (int v = 0; v * kCount < columns; ++v) {
      const int width = columns - v * kCount < kCount ? columns - v * kCount : kCount;
      T square[kCount][kCount] = {};
      for (int j = 0; j < width; ++j) std::memcpy(square[j], b + (v * kCount + j) * stride, depth * sizeof(T));
      AddSquare<T, kRows>(a, a_row_stride, square[0], kCount, depth, sums[v]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    T row[kTransposedColumns<T>];
    if (call.adds_c) {
      for (int j = 0; j < columns; ++j) sums[j / kCount][i][j % kCount] += call.c[i * call.ldc + j];
    }
    for (int v = 0; v < kSquares; ++v) Store<T>(CanonicalNaN<T>(sums[v][i]), row + v * kCount);
    std::memcpy(call.c + i * call.ldc, row, columns * sizeof(T));
  }
}

}  // namespace stillflow::gemm
