// transposed_tile.h: tiles of a matrix, written to their places in the transpose.
#pragma once

#include <algorithm>
#include <utility>

#include "memory/deinterleave.h"
#include "memory/stream.h"

namespace stillflow {

// Elements of a cache line: the side of the blocks that tiles are made of.
template <typename T>
constexpr int64_t kSide = kLineBytes / sizeof(T);

// ---- Squares in registers -----------------------------------------------------------------------------------

// Short vectors for short elements: as many of them as a vector has lanes must fit into registers.
template <typename T>
constexpr int kWidestBytes = sizeof(T) >= 4 ? kRegisterBytes : 16;

template <typename T, int kBytes>
struct VectorOf {
  static constexpr int kLanes = kBytes / sizeof(T);
  typedef T type __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
};

// The lower (half 0) or upper halves of a and b, lane by lane in turn.
template <int kHalf, typename Vector, int... kLane>
inline Vector Interleave(Vector a, Vector b, std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = sizeof...(kLane);
  return __builtin_shuffle(a, b, Vector{(kLane / 2 + kHalf * kLanes / 2 + (kLane % 2) * kLanes)...});
}

// Element j of rows[i] becomes element i of rows[j].
template <typename Vector, int kLanes>
inline void TransposeRegisters(Vector (&rows)[kLanes]) {
  using Lanes = std::make_integer_sequence<int, kLanes>;
  Vector next[kLanes];
  // Each round interleaves rows i and i + n/2: a perfect shuffle of the whole block, log2(n) times.
  for (int round = 1; round < kLanes; round *= 2) {
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = Interleave<0>(rows[i], rows[i + kLanes / 2], Lanes{});
      next[2 * i + 1] = Interleave<1>(rows[i], rows[i + kLanes / 2], Lanes{});
    }
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

// to[j * to_stride + i] = from[i * from_stride + j] for all i and j below the number of lanes.
template <int kBytes, typename T>
inline void TransposeLanes(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  constexpr int kLanes = VectorOf<T, kBytes>::kLanes;
  using Vector = typename VectorOf<T, kBytes>::type;
  Vector rows[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = *reinterpret_cast<const Vector*>(from + i * from_stride);
  TransposeRegisters(rows);
  for (int j = 0; j < kLanes; ++j) *reinterpret_cast<Vector*>(to + j * to_stride) = rows[j];
}

template <typename T>
inline void TransposeElements(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                              int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) CopyElement(from + i * from_stride + j, to + j * to_stride + i);
  }
}

// to[j * to_stride + i] = from[i * from_stride + j] for i < rows, j < columns.
template <int kBytes, typename T>
void TransposeByLanes(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns) {
  if constexpr (sizeof(T) == 16) {
    TransposeElements(from, from_stride, to, to_stride, rows, columns);
  } else {
    constexpr int64_t kLanes = VectorOf<T, kBytes>::kLanes;
    const int64_t whole_rows = rows - rows % kLanes;
    const int64_t whole_columns = columns - columns % kLanes;
    for (int64_t i = 0; i < whole_rows; i += kLanes) {
      for (int64_t j = 0; j < whole_columns; j += kLanes) {
        TransposeLanes<kBytes>(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
      }
    }
    if (whole_columns < columns) {
      TransposeElements(from + whole_columns, from_stride, to + whole_columns * to_stride, to_stride, whole_rows,
                        columns - whole_columns);
    }
    if (whole_rows < rows) {
      TransposeElements(from + whole_rows * from_stride, from_stride, to + whole_rows, to_stride, rows - whole_rows,
                        columns);
    }
  }
}

// ---- Tiles ---------------------------------------------------------------------------------------------------

// The same by blocks of whole lines: each line is read once and written once, though rows that lie a power of two
// apart drive each other out of the caches. If `is_streamed`, past the caches: `to` and its rows begin where lines
// do.
template <typename T>
void TransposeTile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns,
                   bool is_streamed = false) {
  alignas(kLineBytes) T block[kSide<T> * kSide<T>];
  const int64_t whole_rows = rows - rows % kSide<T>;
  const int64_t whole_columns = columns - columns % kSide<T>;
  for (int64_t j = 0; j < whole_columns; j += kSide<T>) {
    for (int64_t i = 0; i < whole_rows; i += kSide<T>) {
      TransposeByLanes<kWidestBytes<T>>(from + i * from_stride + j, from_stride, block, kSide<T>, kSide<T>, kSide<T>);
      for (int64_t k = 0; k < kSide<T>; ++k) {
        auto* const line = reinterpret_cast<char*>(to + (j + k) * to_stride + i);
        const auto* const made = reinterpret_cast<const char*>(block + k * kSide<T>);
        is_streamed ? StreamLine(line, made) : static_cast<void>(std::memcpy(line, made, kLineBytes));
      }
    }
  }
  TransposeByLanes<16>(from + whole_columns, from_stride, to + whole_columns * to_stride, to_stride, whole_rows,
                       columns - whole_columns);
  TransposeByLanes<16>(from + whole_rows * from_stride, from_stride, to + whole_rows, to_stride, rows - whole_rows,
                       columns);
}

// Rows of few elements, one after another.
template <typename T>
bool HasFewColumns(int64_t from_stride, int64_t columns, int64_t most) {
  return sizeof(T) < 16 && from_stride == columns && columns <= most;
}

}  // namespace stillflow
