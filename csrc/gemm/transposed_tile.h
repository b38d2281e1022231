// transposed_tile.h: a tile of a product with few rows whose b is contiguous along k. Squares of b are transposed
// in registers and used there: with so few multiply-adds for each element, a copy would cost more than the product.
#pragma once

#include "gemm/tile.h"

namespace stillflow::gemm {

// Columns of a tile, in vectors: two, for one vector's sums are a chain too slow for the transposition.
constexpr int kSquares = 2;
// Squares ahead of the one in use whose memory is asked for.
constexpr int kSquaresAhead = 4;

// sums[i] += the products of `depth` elements of row i and of the square's columns, one element after the other.
template <typename T, int kRows>
STILLFLOW_INLINE void AddSquare(const TileCall<T>& call, const T* a, const Vector<T>* square, int depth,
                                Vector<T>* sums) {
#pragma GCC unroll 16
  for (int l = 0; l < kLanes<T>; ++l) {
    if (l == depth) break;
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const Vector<T> factor = Broadcast(a[i * call.a_row_stride + l * call.a_k_stride]);
      sums[i] = MulAdd<T>(factor, square[l], sums[i]);
    }
  }
}

// As ComputeTile, but column j of b starts at call.b + j * call.b_panel_stride and is contiguous.
template <typename T, int kRows>
void ComputeTransposedTile(const TileCall<T>& call, int columns) {
  constexpr int kCount = kLanes<T>;
  const int vectors = (columns + kCount - 1) / kCount;
  const T* from[kSquares][kCount];  // past the last column, the last one again
  int counts[kSquares];
  Vector<T> sums[kSquares][kRows];
  for (int v = 0; v < kSquares; ++v) {
    const int count = columns - v * kCount < kCount ? columns - v * kCount : kCount;
    counts[v] = count < 0 ? 0 : count;
    for (int r = 0; r < kCount; ++r) {
      const int column = v * kCount + r < columns ? v * kCount + r : columns - 1;
      from[v][r] = call.b + column * call.b_panel_stride;
    }
    for (int i = 0; i < kRows; ++i) {
      sums[v][i] = call.loads_c ? LoadPartial(call.c + i * call.ldc + v * kCount, counts[v]) : Vector<T>{};
    }
  }
  const int64_t whole = call.k / kCount * kCount;
  for (int64_t l = 0; l < call.k; l += kCount) {
#pragma GCC unroll 2
    for (int v = 0; v < kSquares; ++v) {
      if (v == vectors) break;
      Vector<T> square[kCount];
      if (l < whole) {
#ifdef PFD
        for (int r = 0; r < kCount; ++r) __builtin_prefetch(from[v][r] + l + PFD * kCount, 0, PFL);
#endif
        LoadTransposed<T>(from[v], l, square);
        AddSquare<T, kRows>(call, call.a + l * call.a_k_stride, square, kCount, sums[v]);
      } else {
        const int depth = static_cast<int>(call.k - l);
        for (int r = 0; r < kCount; ++r) square[r] = LoadPartial(from[v][r] + l, depth);
        Transpose<T>(square);
        AddSquare<T, kRows>(call, call.a + l * call.a_k_stride, square, depth, sums[v]);
      }
    }
  }
  for (int v = 0; v < kSquares; ++v) {
    for (int i = 0; i < kRows; ++i) {
      StorePartial<T>(CanonicalNaN<T>(sums[v][i]), call.c + i * call.ldc + v * kCount, counts[v]);
    }
  }
}

}  // namespace stillflow::gemm
