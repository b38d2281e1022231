// tile.h: the innermost loop of a product: a tile of c whose accumulators are all in registers.
#pragma once

#include "arithmetic/gemm/vector.h"

namespace stillflow::gemm {

// The tile's height, and its width in vectors. The accumulators, one row of b and one element of a fill the
// registers: 32 with AVX-512 and on AArch64, 16 otherwise. Wide rather than high: the rows of a, which are read where
// they lie, may all compete for the same lines of L1. Tiles of a single vector are higher, since few
// multiply-adds in flight would not hide their latency.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kMostTileRows = 6;
constexpr int kPanelVectors = 4;
constexpr int kMostNarrowTileRows = 12;
#elif defined(__AVX2__)
constexpr int kMostTileRows = 6;
constexpr int kPanelVectors = 2;
constexpr int kMostNarrowTileRows = 12;
#else
constexpr int kMostTileRows = 4;
constexpr int kPanelVectors = 2;
constexpr int kMostNarrowTileRows = 4;
#endif
template <typename T>
constexpr int kPanelColumns = kPanelVectors * kLanes<T>;

// With fewer rows, more columns keep enough multiply-adds in flight to hide their latency.
constexpr int kFewRows = 3;
constexpr int kFewRowsVectors = kMostTileRows * kPanelVectors / kFewRows / kPanelVectors * kPanelVectors;

// With two rows and up to so many, vectors of b are kept in registers, which three rows leave free where there
// are 32.
constexpr int kMostKeepingRows = kMostTileRows * kPanelVectors >= 24 ? 3 : 2;

// Tiles with few rows wait for b's memory; they ask for it so many rows ahead.
constexpr int kPrefetchedRows = 4;

// What one tile is computed from. Element (i, l) of a is a[i * a_row_stride + l * a_k_stride]; a row of b
// is contiguous within panels of kPanelColumns columns, which lie b_panel_stride apart.
template <typename T>
struct TileCall {
  int64_t k;
  const T* a;
  int64_t a_row_stride;
  int64_t a_k_stride;
  const T* b;
  int64_t b_k_stride;
  int64_t b_panel_stride;
  T* c;
  int64_t ldc;
  int last_lanes;  // used lanes of the last vector
  bool loads_c;    // whether the accumulators start at c's values
  bool adds_c;     // whether c's values are added to the sums in the end
};

template <typename T>
using TileFunction = void (*)(const TileCall<T>& call);

// Adds to the sums the products of one row of b, and goes on to the next. kUnitStride: a_row_stride is 1; otherwise
// a_k_stride is. `a` points to every third row.
template <typename T, int kRows, int kVectors, bool kUnitStride, bool kLoadsPartially>
STILLFLOW_INLINE void AddRow(const TileCall<T>& call, const T** a, const T** b, Vector<T> (&sums)[kRows][kVectors]) {
  Vector<T> row[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const T* from = *b + v / kPanelVectors * call.b_panel_stride + v % kPanelVectors * kLanes<T>;
    if constexpr (kRows <= kFewRows) __builtin_prefetch(from + kPrefetchedRows * call.b_k_stride);
    row[v] = kLoadsPartially && v == kVectors - 1 ? LoadPartial(from, call.last_lanes) : Load(from);
    if constexpr (kRows > 1 && kRows <= kMostKeepingRows) KeepInRegister<T>(&row[v]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const Vector<T> factor = Broadcast(kUnitStride ? a[0][i] : a[i / 3][i % 3 * call.a_row_stride]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[i][v] = MulAdd<T>(factor, row[v], sums[i][v]);
  }
  *b += call.b_k_stride;
#pragma GCC unroll 8
  for (int i = 0; i < (kRows + 2) / 3; ++i) a[i] += kUnitStride ? call.a_k_stride : 1;
}

template <typename T, int kRows, int kVectors, bool kUnitStride, bool kLoadsPartially>
void ComputeTile(const TileCall<T>& tile) {
  constexpr int kLast = kVectors - 1;
  const TileCall<T> call = tile;
  const int last_lanes = call.last_lanes;
  Vector<T> sums[kRows][kVectors];
  if (call.loads_c) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const T* c = call.c + i * call.ldc;
#pragma GCC unroll 8
      for (int v = 0; v < kLast; ++v) sums[i][v] = Load(c + v * kLanes<T>);
      sums[i][kLast] = LoadPartial(c + kLast * kLanes<T>, last_lanes);
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[i][v] = Vector<T>{};
    }
  }

  const T* b = call.b;
  const T* a[(kRows + 2) / 3];
  for (int i = 0; i < kRows; i += 3) a[i / 3] = call.a + i * call.a_row_stride;
  // Two rows in a turn: what a turn itself costs is taken from the multiply-adds. Wide tiles wait for memory.
  int64_t rows = call.k;
  if constexpr (!kLoadsPartially && kRows > kFewRows) {
    for (; rows >= 2; rows -= 2) {
      AddRow<T, kRows, kVectors, kUnitStride, false>(call, a, &b, sums);
      AddRow<T, kRows, kVectors, kUnitStride, false>(call, a, &b, sums);
    }
  }
  for (; rows > 0; --rows) AddRow<T, kRows, kVectors, kUnitStride, kLoadsPartially>(call, a, &b, sums);

#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    T* c = call.c + i * call.ldc;
    if (call.adds_c) {
#pragma GCC unroll 8
      for (int v = 0; v < kLast; ++v) sums[i][v] += Load(c + v * kLanes<T>);
      sums[i][kLast] += LoadPartial(c + kLast * kLanes<T>, last_lanes);
    }
#pragma GCC unroll 8
    for (int v = 0; v < kLast; ++v) Store(CanonicalNaN<T>(sums[i][v]), c + v * kLanes<T>);
    const Vector<T> last = CanonicalNaN<T>(sums[i][kLast]);
    if (last_lanes == kLanes<T>) {
      Store(last, c + kLast * kLanes<T>);
    } else {
      StorePartial(last, c + kLast * kLanes<T>, last_lanes);
    }
  }
}

}  // namespace stillflow::gemm
