// transposed_tile.h: parts of a matrix written where they lie in its transpose.
#pragma once

#include <algorithm>
#include <utility>

#include "kernel_api/stream.h"
#include "math/deinterleave.h"

namespace stillflow {

// Elements of a line, which is as wide as the blocks that tiles are made of.
template <typename T>
constexpr int64_t kSide = kLineBytes / sizeof(T);
// Where tiles have to be put together, many rows are read, so that few lines are written in two parts.
constexpr int64_t kStagedRows = 512;

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

// to[j * to_stride + i] = from[i * from_stride + j] for all i and j below the number of lanes.
template <int kBytes, typename T>
inline void TransposeLanes(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  constexpr int kLanes = VectorOf<T, kBytes>::kLanes;
  using Vector = typename VectorOf<T, kBytes>::type;
  using Lanes = std::make_integer_sequence<int, kLanes>;
  Vector rows[kLanes];
  Vector next[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = *reinterpret_cast<const Vector*>(from + i * from_stride);
  // Each round interleaves rows i and i + n/2: a perfect shuffle of the whole block, log2(n) times.
  for (int round = 1; round < kLanes; round *= 2) {
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = Interleave<0>(rows[i], rows[i + kLanes / 2], Lanes{});
      next[2 * i + 1] = Interleave<1>(rows[i], rows[i + kLanes / 2], Lanes{});
    }
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
  for (int j = 0; j < kLanes; ++j) *reinterpret_cast<Vector*>(to + j * to_stride) = rows[j];
}

template <typename T>
inline void TransposeElements(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                              int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) to[j * to_stride + i] = from[i * from_stride + j];
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

// Asks for the lines of a block that will be read soon: of the same rows, or of those from `next` on at their end.
// Processors do not foresee so many rows, and in the first-level cache there is no room for what they ask for.
template <typename T>
STILLFLOW_INLINE void FetchBlock(const T* from, int64_t stride, int64_t column, int64_t columns, const T* next) {
  constexpr int64_t kAhead = 8 * kSide<T>;
  const T* row = column + kAhead < columns ? from + column + kAhead : next + (column + kAhead - columns);
  for (int64_t i = 0; i < kSide<T>; ++i, row += stride) __builtin_prefetch(row, 0, 2);
}

// The same by blocks of whole lines: each line is read once and written once, though rows that lie a power of two
// apart drive each other out of the caches. What is streamed goes on at `next`.
template <typename T>
void TransposeTile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns,
                   bool is_streamed, const T* next) {
  alignas(kLineBytes) T block[kSide<T> * kSide<T>];
  const int64_t whole_rows = rows - rows % kSide<T>;
  const int64_t whole_columns = columns - columns % kSide<T>;
  for (int64_t j = 0; j < whole_columns; j += kSide<T>) {
    for (int64_t i = 0; i < whole_rows; i += kSide<T>) {
      if (is_streamed) FetchBlock(from + i * from_stride, from_stride, j, columns, next + i * from_stride);
      TransposeByLanes<kWidestBytes<T>>(from + i * from_stride + j, from_stride, block, kSide<T>, kSide<T>, kSide<T>);
      for (int64_t k = 0; k < kSide<T>; ++k) {
        char* line = reinterpret_cast<char*>(to + (j + k) * to_stride + i);
        const char* source = reinterpret_cast<const char*>(block + k * kSide<T>);
        if (is_streamed) {
          StreamLine(line, source);
        } else {
          std::memcpy(line, source, kLineBytes);
        }
      }
    }
  }
  TransposeByLanes<16>(from + whole_columns, from_stride, to + whole_columns * to_stride, to_stride, whole_rows,
                       columns - whole_columns);
  TransposeByLanes<16>(from + whole_rows * from_stride, from_stride, to + whole_rows, to_stride, rows - whole_rows,
                       columns);
}

// Rows of `to` that begin within lines, past the caches: what is left of a line waits for the rows below.
template <typename T>
class SkewedTile {
 public:
  static constexpr int64_t kMostColumns = 1024;
  static constexpr int64_t kBand = 2 * kSide<T>;  // rows that are read at once

  SkewedTile(const T* from, int64_t from_stride, T* to, int64_t to_stride)
      : from_(from), from_stride_(from_stride), to_(to), to_stride_(to_stride) {}

  // What is read next begins at `next`.
  void Stream(int64_t rows, int64_t columns, const T* next) {
    const int64_t whole_rows = rows - rows % kBand;
    const int64_t whole_columns = columns - columns % kSide<T>;
    for (int64_t row = 0; row < whole_rows; row += kBand) {
      const T* const band = from_ + row * from_stride_;
      const T* const below = row + kBand < whole_rows ? band + kBand * from_stride_ : next;
      for (int64_t column = 0; column < whole_columns; column += kSide<T>) {
        // Long before it is read together with what follows: the processor waits for parts of different stores.
        for (int64_t k = 0; k < kSide<T>; ++k) std::memcpy(staged_[k], waiting_[column + k], kLineBytes);
        for (int64_t i = 0; i < kBand; i += kSide<T>) {
          const T* const block = band + i * from_stride_;
          FetchBlock(block, from_stride_, column, columns, below + i * from_stride_);
          TransposeByLanes<kWidestBytes<T>>(block + column, from_stride_, staged_[0] + kSide<T> + i, kStaged,
                                            kSide<T>, kSide<T>);
        }
        for (int64_t k = 0; k < kSide<T>; ++k) WriteLines(row, column + k, staged_[k]);
      }
    }
    if (whole_rows > 0) {
      for (int64_t column = 0; column < whole_columns; ++column) WriteWaiting(whole_rows, column);
    }
    TransposeByLanes<16>(from_ + whole_columns, from_stride_, to_ + whole_columns * to_stride_, to_stride_,
                         whole_rows, columns - whole_columns);
    TransposeByLanes<16>(from_ + whole_rows * from_stride_, from_stride_, to_ + whole_rows, to_stride_,
                         rows - whole_rows, columns);
  }

 private:
  static constexpr int64_t kStaged = kSide<T> + kBand;

  // Elements before `to` in its line.
  static int64_t Skew(const T* to) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes / sizeof(T));
  }

  // A band's part of a row of `to`, which stands behind a line's elements in `staged`.
  STILLFLOW_INLINE void WriteLines(int64_t row, int64_t column, T* staged) {
    T* const to = to_ + column * to_stride_ + row;
    const int64_t skew = Skew(to);
    T* const waiting = waiting_[column];
    if (row > 0) {
      StreamLine(reinterpret_cast<char*>(to - skew), reinterpret_cast<const char*>(staged + kSide<T> - skew));
    } else {
      std::memcpy(to, staged + kSide<T>, (kSide<T> - skew) * sizeof(T));
    }
    StreamLine(reinterpret_cast<char*>(to - skew + kSide<T>),
               reinterpret_cast<const char*>(staged + 2 * kSide<T> - skew));
    std::memcpy(waiting, staged + kBand, kLineBytes);
  }

  // What waits for `row`.
  void WriteWaiting(int64_t row, int64_t column) {
    T* const to = to_ + column * to_stride_ + row;
    const int64_t skew = Skew(to);
    std::memcpy(to - skew, waiting_[column] + kSide<T> - skew, skew * sizeof(T));
  }

  const T* const from_;
  const int64_t from_stride_;
  T* const to_;
  const int64_t to_stride_;
  alignas(kLineBytes) T staged_[kSide<T>][kStaged];
  alignas(kLineBytes) T waiting_[kMostColumns][kSide<T>];  // the last line's elements of each row of `to`
};

// ---- Tiles past the caches ------------------------------------------------------------------------------------

// Fetches the lines of a tile of a matrix, one for each line that is streamed meanwhile.
class TileAhead {
 public:
  TileAhead(const char* tile, int64_t stride, int64_t rows, int64_t row_bytes)
      : row_(tile), stride_(stride), rows_left_(rows), row_bytes_(row_bytes) {}

  template <typename Stream>
  void ForLines(int64_t begin, int64_t count, const Stream& stream) {
    for (int64_t i = begin; i < begin + count; ++i) {
      if (rows_left_ > 0) FetchLine();
      stream(i);
    }
  }

 private:
  void FetchLine() {
    __builtin_prefetch(row_ + at_, 0, 2);
    at_ += kLineBytes;
    if (at_ < row_bytes_) return;
    at_ = 0;
    row_ += stride_;
    --rows_left_;
  }

  const char* row_;
  int64_t stride_;
  int64_t rows_left_;
  int64_t row_bytes_;
  int64_t at_ = 0;
};

// Rows of few elements, one after another.
template <typename T>
bool HasFewColumns(int64_t from_stride, int64_t columns, int64_t most) {
  return sizeof(T) < 16 && from_stride == columns && columns <= most;
}

// The same past the caches for few columns, or few rows with nothing between them in `to`: whole lines are put
// together before they are written.
template <typename T>
void StreamTransposed(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  alignas(kLineBytes) T staged[kSide<T> * kStagedRows];
  const bool is_dense = to_stride == rows;
  const int64_t widest = is_dense ? kSide<T> * (kStagedRows / rows) : kSide<T>;
  const int64_t staged_stride = is_dense ? rows : kStagedRows;
  for (int64_t j = 0; j < columns; j += widest) {
    const int64_t width = std::min(widest, columns - j);
    TileAhead ahead(reinterpret_cast<const char*>(from + j + 2 * widest), from_stride * kBytes, rows,
                    widest * kBytes);
    if (HasFewColumns<T>(from_stride, columns, kSide<T>)) {
      Deinterleave(from, rows, columns, staged, staged_stride);
      ahead = TileAhead(reinterpret_cast<const char*>(from + 2 * rows * columns), 0, 1, rows * columns * kBytes);
    } else {
      TransposeByLanes<kWidestBytes<T>>(from + j, from_stride, staged, staged_stride, rows, width);
    }
    const int64_t runs = is_dense ? 1 : width;
    for (int64_t k = 0; k < runs; ++k) {
      StreamBytes(reinterpret_cast<char*>(to + (j + k) * to_stride),
                  reinterpret_cast<const char*>(staged + k * staged_stride), rows * (width / runs) * kBytes, 0,
                  ahead);
    }
  }
}

}  // namespace stillflow
