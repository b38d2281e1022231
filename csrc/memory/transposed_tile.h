// transposed_tile.h: parts of a matrix written where they lie in its transpose.
#pragma once

#include <algorithm>
#include <utility>

#include "memory/deinterleave.h"
#include "memory/stream.h"

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
// apart drive each other out of the caches.
template <typename T>
void TransposeTile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns) {
  alignas(kLineBytes) T block[kSide<T> * kSide<T>];
  const int64_t whole_rows = rows - rows % kSide<T>;
  const int64_t whole_columns = columns - columns % kSide<T>;
  for (int64_t j = 0; j < whole_columns; j += kSide<T>) {
    for (int64_t i = 0; i < whole_rows; i += kSide<T>) {
      TransposeByLanes<kWidestBytes<T>>(from + i * from_stride + j, from_stride, block, kSide<T>, kSide<T>, kSide<T>);
      for (int64_t k = 0; k < kSide<T>; ++k) {
        std::memcpy(to + (j + k) * to_stride + i, block + k * kSide<T>, kLineBytes);
      }
    }
  }
  TransposeByLanes<16>(from + whole_columns, from_stride, to + whole_columns * to_stride, to_stride, whole_rows,
                       columns - whole_columns);
  TransposeByLanes<16>(from + whole_rows * from_stride, from_stride, to + whole_rows, to_stride, rows - whole_rows,
                       columns);
}

// ---- Tiles past the caches ------------------------------------------------------------------------------------

// How large matrices are read and written. Bands of as many rows as a line has elements are transposed into a cache,
// panel by panel; several bands make a group, whose lines of a row are written together.
struct StreamedShape {
  int64_t bands;    // of a group
  int64_t panel;    // lines of a panel's rows
  int64_t columns;  // lines of a tile's rows, at most
  int64_t ahead;    // lines between those that are asked for and those that are read
};
#if defined(__AVX512F__)
// Zen 4: two lines at once are written nearly as fast as four, and a small panel stays in the first-level cache.
constexpr StreamedShape kStreamedShape = {2, 1, 64, 8};
#else
// Zen 3: reading 32 rows at once takes twice as long as 16, writing single lines twice as long as four of a row.
constexpr StreamedShape kStreamedShape = {4, 16, 16, 2};
#endif

// A tile that is written past the caches: each panel while the next one is read. Where rows of `to` begin within
// lines, what is left of a line waits for the next group.
template <typename T>
class StreamedTile {
 public:
  static constexpr int64_t kMostColumns = kStreamedShape.columns * kSide<T>;

  // From where on rows of `columns` elements are read, and to where they are written.
  StreamedTile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t columns)
      : from_(from),
        from_stride_(from_stride),
        to_(to),
        to_stride_(to_stride),
        columns_(columns),
        whole_columns_(columns - columns % kSide<T>),
        is_skewed_(Skew(to) != 0 || to_stride % kSide<T> != 0) {}

  // What is read after these rows begins at `next`.
  void Stream(int64_t rows, const T* next) {
    const int64_t whole_rows = rows - rows % kSide<T>;
    const int64_t grouped_rows = rows - rows % (kBands * kSide<T>);
    StreamGroups<kBands>(0, grouped_rows, grouped_rows < whole_rows ? from_ + grouped_rows * from_stride_ : next);
    StreamGroups<1>(grouped_rows, whole_rows, next);
    if (is_skewed_ && whole_rows > 0) WriteWaiting(whole_rows);
    TransposeByLanes<16>(from_ + whole_columns_, from_stride_, to_ + whole_columns_ * to_stride_, to_stride_,
                         whole_rows, columns_ - whole_columns_);
    TransposeByLanes<16>(from_ + whole_rows * from_stride_, from_stride_, to_ + whole_rows, to_stride_,
                         rows - whole_rows, columns_);
  }

 private:
  static constexpr int64_t kBands = kStreamedShape.bands;
  static constexpr int64_t kAhead = kStreamedShape.ahead * kSide<T>;
  static constexpr int64_t kPanelColumns = kStreamedShape.panel * kSide<T>;
  static constexpr int64_t kStaged = (1 + kBands) * kSide<T>;  // what waits, and a group

  // Columns of a group, and the half of what is staged that has them.
  struct Panel {
    int64_t row, column, columns;
    int half;
  };

  template <int kGroup>
  void StreamGroups(int64_t begin, int64_t end, const T* next) {
    constexpr int64_t kRows = kGroup * kSide<T>;
    Panel before = {begin, 0, 0, 1};
    for (int64_t row = begin; row < end; row += kRows) {
      const T* const group = from_ + row * from_stride_;
      const T* const below = row + kRows < end ? group + kRows * from_stride_ : next;
      for (int64_t column = 0; column < whole_columns_; column += kPanelColumns) {
        const Panel panel = {row, column, std::min(kPanelColumns, whole_columns_ - column), before.half ^ 1};
        TransposePanel<kGroup>(panel, before, group, below);
        before = panel;
      }
    }
    WriteColumns<kGroup>(before, 0, before.columns);
  }

  template <int kGroup>
  void TransposePanel(const Panel& panel, const Panel& before, const T* group, const T* below) {
    auto* const staged = staged_[panel.half];
    auto* const waiting = waiting_ + panel.column;
    // Long before it is read together with what follows: the processor waits for parts of different stores.
    for (int64_t k = 0; is_skewed_ && k < panel.columns; ++k) std::memcpy(staged[k], waiting[k], kLineBytes);
    int64_t written = 0;
    for (int band = 0; band < kGroup; ++band) {
      const int64_t first = band * kSide<T> * from_stride_;
      for (int64_t k = 0; k < panel.columns; k += kSide<T>) {
        const int64_t ahead = panel.column + k + kAhead;
        Fetch((ahead < columns_ ? group + ahead : below + ahead - columns_) + first);
        TransposeByLanes<kWidestBytes<T>>(group + first + panel.column + k, from_stride_,
                                          staged[k] + (1 + band) * kSide<T>, kStaged, kSide<T>, kSide<T>);
        const int64_t end = std::min(written + kSide<T> / kGroup, before.columns);
        WriteColumns<kGroup>(before, written, end);
        written = end;
      }
    }
    WriteColumns<kGroup>(before, written, before.columns);
    for (int64_t k = 0; is_skewed_ && k < panel.columns; ++k) {
      std::memcpy(waiting[k], staged[k] + kGroup * kSide<T>, kLineBytes);
    }
  }

  // Asks for a line of each of a band's rows. Processors do not foresee so many.
  STILLFLOW_INLINE void Fetch(const T* row) const {
    for (int64_t i = 0; i < kSide<T>; ++i, row += from_stride_) __builtin_prefetch(row, 0, 2);
  }

  // Elements before `to` in its line.
  static int64_t Skew(const T* to) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes / sizeof(T));
  }

  template <int kGroup>
  void WriteColumns(const Panel& panel, int64_t begin, int64_t end) {
    T* to = to_ + (panel.column + begin) * to_stride_ + panel.row;
    for (int64_t k = begin; k < end; ++k, to += to_stride_) {
      const T* const staged = staged_[panel.half][k] + kSide<T>;
      const int64_t skew = Skew(to);
      if (panel.row == 0 && skew > 0) {
        std::memcpy(to, staged, (kSide<T> - skew) * sizeof(T));
      } else {
        StreamLine(reinterpret_cast<char*>(to - skew), reinterpret_cast<const char*>(staged - skew));
      }
      for (int64_t at = kSide<T> - skew; at < kGroup * kSide<T> - skew; at += kSide<T>) {
        StreamLine(reinterpret_cast<char*>(to + at), reinterpret_cast<const char*>(staged + at));
      }
    }
  }

  // What waits for `row`.
  void WriteWaiting(int64_t row) const {
    for (int64_t column = 0; column < whole_columns_; ++column) {
      T* const to = to_ + column * to_stride_ + row;
      std::memcpy(to - Skew(to), waiting_[column] + kSide<T> - Skew(to), Skew(to) * sizeof(T));
    }
  }

  const T* const from_;
  const int64_t from_stride_;
  T* const to_;
  const int64_t to_stride_;
  const int64_t columns_;
  const int64_t whole_columns_;
  const bool is_skewed_;
  alignas(kLineBytes) T staged_[2][kPanelColumns][kStaged];
  alignas(kLineBytes) T waiting_[kMostColumns][kSide<T>];  // the last line's elements of each row of `to`
};

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
