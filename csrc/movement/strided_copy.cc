#include "movement/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "math/deinterleave.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 256 << 10;
constexpr int64_t kBytesPerRun = 64 << 10;  // of a run that is cut so that threads can share it
constexpr int64_t kLineBytes = 64;
constexpr int64_t kBytesAhead = 2048;  // of lines that are fetched while others are streamed

// Of the tiles that a transpose goes through: bytes along the rows of what is written and of what is read.
struct TileBytes {
  int64_t written;
  int64_t read;
};
constexpr TileBytes kCachedTile = {1024, 256};
// Memory is read in a few long streams, and written two lines at a time, which processors fetch and send together.
constexpr TileBytes kLargeTile = {128, 16 << 10};

struct Bytes16 {
  uint64_t words[2];
};

// ---- Transposing small blocks ----------------------------------------------------------------------------

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

// The same by blocks of whole lines: each line is read once and written once, though rows that lie a power of two
// apart drive each other out of the caches.
template <typename T>
void TransposeTile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns,
                   bool is_streamed) {
  constexpr int64_t kSide = kLineBytes / sizeof(T);
  alignas(kLineBytes) T block[kSide * kSide];
  const int64_t whole_rows = rows - rows % kSide;
  const int64_t whole_columns = columns - columns % kSide;
  for (int64_t j = 0; j < whole_columns; j += kSide) {
    for (int64_t i = 0; i < whole_rows; i += kSide) {
      TransposeByLanes<kWidestBytes<T>>(from + i * from_stride + j, from_stride, block, kSide, kSide, kSide);
      for (int64_t k = 0; k < kSide; ++k) {
        char* line = reinterpret_cast<char*>(to + (j + k) * to_stride + i);
        const char* source = reinterpret_cast<const char*>(block + k * kSide);
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

// ---- Walking over the outer dimensions ---------------------------------------------------------------------

// The offsets of item `index` in both arrays, then of the items after it; the last dimension moves fastest.
class Walk {
 public:
  Walk(const StridedCopy& copy, int rank, int64_t index) : copy_(copy), rank_(rank) {
    for (int i = rank - 1; i >= 0; --i) {
      position_[i] = index % copy.dims[i];
      index /= copy.dims[i];
      from += position_[i] * copy.from_strides[i];
      to += position_[i] * copy.to_strides[i];
    }
  }

  void Next() {
    for (int i = rank_ - 1; i >= 0; --i) {
      from += copy_.from_strides[i];
      to += copy_.to_strides[i];
      if (++position_[i] < copy_.dims[i]) return;
      from -= copy_.dims[i] * copy_.from_strides[i];
      to -= copy_.dims[i] * copy_.to_strides[i];
      position_[i] = 0;
    }
  }

  int64_t from = 0;
  int64_t to = 0;

 private:
  const StridedCopy& copy_;
  int rank_;
  int64_t position_[StridedCopy::kMostDims];
};

// Calls line(from, to, count) for the last dimension at every place of the others, long lines in pieces.
template <typename T, typename Line>
Status ForEachLine(const KernelCall& call, const StridedCopy& copy, const T* from, T* to, const Line& line,
                   bool is_streamed = false) {
  const int last = copy.rank - 1;
  const int64_t length = copy.dims[last];
  const int64_t piece = std::min<int64_t>(length, kBytesPerRun / sizeof(T));
  const int64_t pieces = (length + piece - 1) / piece;
  int64_t outer = 1;
  for (int i = 0; i < last; ++i) outer *= copy.dims[i];
  const int64_t items_per_chunk = std::max<int64_t>(kBytesPerChunk / (piece * static_cast<int64_t>(sizeof(T))), 1);
  return ForEachChunk(call, outer * pieces, items_per_chunk, [&](Range items) {
    int64_t part = items.begin % pieces;
    Walk walk(copy, last, items.begin / pieces);
    for (int64_t item = items.begin; item < items.end; ++item) {
      const int64_t begin = part * piece;
      line(from + walk.from + begin * copy.from_strides[last], to + walk.to + begin * copy.to_strides[last],
           std::min(piece, length - begin));
      if (++part == pieces) {
        part = 0;
        walk.Next();
      }
    }
    if (is_streamed) EndStream();
  });
}

// Whether its rows are made of lines.
template <typename T>
bool HasWholeLines(const StridedCopy& copy, const T* to) {
  const int last = copy.rank - 1;
  bool fits = reinterpret_cast<uintptr_t>(to) % kLineBytes == 0 && copy.dims[last] * sizeof(T) % kLineBytes == 0;
  for (int i = 0; i < last; ++i) fits &= copy.to_strides[i] * sizeof(T) % kLineBytes == 0;
  return fits;
}

// What is streamed may be written in any order, so that it is read in the order of memory. The last dimension stays.
StridedCopy InOrderOfSource(const StridedCopy& copy) {
  int order[StridedCopy::kMostDims];
  std::iota(order, order + copy.rank, 0);
  std::sort(order, order + copy.rank - 1, [&](int a, int b) {
    const int64_t a_stride = std::abs(copy.from_strides[a]);
    const int64_t b_stride = std::abs(copy.from_strides[b]);
    return a_stride > b_stride || (a_stride == b_stride && a < b);
  });
  StridedCopy sorted;
  for (int i = 0; i < copy.rank; ++i) {
    sorted.Add(copy.dims[order[i]], copy.from_strides[order[i]], copy.to_strides[order[i]]);
  }
  return sorted;
}

// Fewer do not fill the lines of a tile's blocks.
template <typename T>
constexpr int64_t kMostColumns = sizeof(T) == 16 ? 0 : 2 * kLineBytes / sizeof(T);

// The last dimension is dense in `to`, dimension `dense` in `from`: tiles of a transposed matrix.
template <typename T>
Status CopyTransposed(const KernelCall& call, const StridedCopy& copy, int dense, const T* from, T* to) {
  const int last = copy.rank - 1;
  StridedCopy outer;
  for (int i = 0; i < last; ++i) {
    if (i != dense) outer.Add(copy.dims[i], copy.from_strides[i], copy.to_strides[i]);
  }
  // Tiles follow each other in the direction of what is read.
  const bool is_large = IsStreamed(copy.Count() * sizeof(T));
  const bool is_streamed = is_large && HasWholeLines(copy, to);
  const bool has_few_columns =
      copy.dims[dense] <= kMostColumns<T> && copy.from_strides[last] == copy.dims[dense] && !is_large;
  const TileBytes tile_size = is_large ? kLargeTile : kCachedTile;
  const int64_t tile_rows = tile_size.written / sizeof(T);
  const int64_t tile_columns = tile_size.read / sizeof(T);
  const int64_t rows = copy.dims[last];
  const int64_t columns = copy.dims[dense];
  const int64_t column_tiles = (columns + tile_columns - 1) / tile_columns;
  const int64_t row_tiles = (rows + tile_rows - 1) / tile_rows;
  outer.Add(row_tiles, tile_rows * copy.from_strides[last], tile_rows);
  outer.Add(column_tiles, tile_columns, tile_columns * copy.to_strides[dense]);
  const int64_t tile_bytes = std::min(rows, tile_rows) * std::min(columns, tile_columns) * sizeof(T);
  const int64_t tiles_per_chunk = std::max<int64_t>(kBytesPerChunk / tile_bytes, 1);
  return ForEachChunk(call, outer.Count(), tiles_per_chunk, [&](Range tiles) {
    Walk walk(outer, outer.rank, tiles.begin);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, walk.Next()) {
      const int64_t column = tile % column_tiles * tile_columns;
      const int64_t row = tile / column_tiles % row_tiles * tile_rows;
      const int64_t tile_height = std::min(tile_rows, rows - row);
      if (has_few_columns) {
        Deinterleave(from + walk.from, tile_height, columns, to + walk.to, copy.to_strides[dense]);
        continue;
      }
      TransposeTile(from + walk.from, copy.from_strides[last], to + walk.to, copy.to_strides[dense], tile_height,
                    std::min(tile_columns, columns - column), is_streamed);
    }
    if (is_streamed) EndStream();
  });
}

// Distances that the compiler knows are vector code.
template <int kDistance, typename T>
Status CopySpaced(const KernelCall& call, const StridedCopy& copy, const T* from, T* to) {
  return ForEachLine(call, copy, from, to, [](const T* source, T* target, int64_t count) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) target[i] = source[i * kDistance];
  });
}

template <typename T>
Status CopyElements(const KernelCall& call, const StridedCopy& copy, const T* from, T* to) {
  const int last = copy.rank - 1;
  const int64_t from_stride = copy.from_strides[last];
  const int64_t to_stride = copy.to_strides[last];
  if (from_stride == 1 && to_stride == 1) {
    const bool is_streamed = IsStreamed(copy.Count() * sizeof(T)) && HasWholeLines(copy, to);
    const auto copy_line = [is_streamed](const T* source, T* target, int64_t count) {
      const auto bytes = static_cast<int64_t>(count * sizeof(T));
      if (is_streamed) {
        const char* const bytes_from = reinterpret_cast<const char*>(source);
        StreamLines(reinterpret_cast<char*>(target), bytes_from, bytes, bytes_from + kBytesAhead);
      } else {
        CopyBytes(reinterpret_cast<char*>(target), reinterpret_cast<const char*>(source), bytes);
      }
    };
    return ForEachLine(call, is_streamed ? InOrderOfSource(copy) : copy, from, to, copy_line, is_streamed);
  }
  if (from_stride == 0 && to_stride == 1) {
    return ForEachLine(call, copy, from, to,
                       [](const T* source, T* target, int64_t count) { std::fill_n(target, count, *source); });
  }
  if (from_stride == -1 && to_stride == 1) {
    return ForEachLine(call, copy, from, to, [](const T* source, T* target, int64_t count) {
      for (int64_t i = 0; i < count; ++i) target[i] = source[-i];
    });
  }
  if (to_stride == 1) {
    for (int i = 0; i < last; ++i) {
      if (copy.from_strides[i] == 1) return CopyTransposed(call, copy, i, from, to);
    }
    if (from_stride == 2) return CopySpaced<2>(call, copy, from, to);
    if (from_stride == 3) return CopySpaced<3>(call, copy, from, to);
    if (from_stride == 4) return CopySpaced<4>(call, copy, from, to);
  }
  return ForEachLine(call, copy, from, to, [=](const T* source, T* target, int64_t count) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < count; ++i) target[i * to_stride] = source[i * from_stride];
  });
}

// Makes short runs at the end the elements: pairs of floats are copied as doubles would be.
void WidenElements(const void* from, const void* to, StridedCopy* copy, int64_t* element_bytes) {
  while (copy->rank > 1) {
    const int last = copy->rank - 1;
    if (copy->from_strides[last] != 1 || copy->to_strides[last] != 1) return;
    const int64_t bytes = *element_bytes * copy->dims[last];
    if (bytes > 16 || (bytes & (bytes - 1)) != 0) return;
    if (((reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to)) & (bytes - 1)) != 0) return;
    for (int i = 0; i < last; ++i) {
      if (copy->from_strides[i] % copy->dims[last] != 0 || copy->to_strides[i] % copy->dims[last] != 0) return;
    }
    for (int i = 0; i < last; ++i) {
      copy->from_strides[i] /= copy->dims[last];
      copy->to_strides[i] /= copy->dims[last];
    }
    *element_bytes = bytes;
    copy->rank = last;
  }
}

}  // namespace

void StridedCopy::Simplify() {
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 1) continue;
    const int before = kept - 1;
    if (kept > 0 && from_strides[before] == from_strides[i] * dims[i] &&
        to_strides[before] == to_strides[i] * dims[i]) {
      dims[before] *= dims[i];
      from_strides[before] = from_strides[i];
      to_strides[before] = to_strides[i];
      continue;
    }
    dims[kept] = dims[i];
    from_strides[kept] = from_strides[i];
    to_strides[kept++] = to_strides[i];
  }
  rank = kept;
}

Status CopyRun(const KernelCall& call, int64_t bytes, const void* from, void* to) {
  return ForEachChunk(call, bytes, kBytesPerChunk, [&](Range range) {
    CopyOrStream(IsStreamed(bytes), static_cast<char*>(to) + range.begin,
                 static_cast<const char*>(from) + range.begin, range.end - range.begin);
    if (IsStreamed(bytes)) EndStream();
  });
}

Status AllocateZeros(const KernelCall& call, int out, DType dtype, const Shape& shape) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, dtype, shape));
  if (HasCells(dtype)) return Status();  // empty already
  char* to = MutableData<char>(*call.out[out]);
  return ForEachChunk(call, call.out[out]->count * ElementBytes(dtype), kBytesPerChunk,
                      [&](Range range) { std::memset(to + range.begin, 0, range.end - range.begin); });
}

Status TakeRun(const KernelCall& call, int in, int out, const Shape& shape, int64_t offset, bool may_view) {
  constexpr int64_t kSmallestView = 2048;
  const Tensor& input = *call.in[in];
  Tensor* output = call.out[out];
  const int64_t count = shape.Count();
  const int64_t element_bytes = ElementBytes(input.dtype);
  char* from = static_cast<char*>(input.data) + offset * element_bytes;
  if (count == input.count) {
    Alias(call, in, out, shape);
    return Status();
  }
  if (may_view && count * element_bytes >= kSmallestView) {
    Alias(call, in, out, shape);
    output->data = from;
    output->count = count;
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, input.dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(CopyRun(call, count * element_bytes, from, output->data));
  RetainStrings(*output);
  return Status();
}

Status TakeStrided(const KernelCall& call, int in, int out, const Shape& shape, int64_t offset,
                   const int64_t* strides) {
  const Tensor& input = *call.in[in];
  int64_t out_strides[kMaxRank];
  DenseStrides(shape, out_strides);
  StridedCopy copy;
  for (int i = 0; i < shape.rank; ++i) copy.Add(shape.dims[i], strides[i], out_strides[i]);
  const bool is_empty = copy.Count() == 0;
  copy.Simplify();
  if (copy.IsOneRun() && !is_empty) return TakeRun(call, in, out, shape, offset, MayView(call, in));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, input.dtype, shape));
  const int64_t element_bytes = ElementBytes(input.dtype);
  const char* from = Data<char>(input) + offset * element_bytes;
  STILLFLOW_RETURN_IF_ERROR(CopyStrided(call, copy, element_bytes, from, call.out[out]->data));
  RetainStrings(*call.out[out]);
  return Status();
}

Status TakePart(const KernelCall& call, int in, int out, const Shape& shape, int axis, int64_t begin, int64_t size,
                bool may_view) {
  const Shape whole(*call.in[in]);
  const int64_t outer = whole.Count(0, axis);
  const int64_t inner = whole.Count(axis + 1, whole.rank);
  if (outer == 1 || size == whole.dims[axis]) return TakeRun(call, in, out, shape, begin * inner, may_view);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, call.in[in]->dtype, shape));
  StridedCopy copy;
  copy.Add(outer, whole.dims[axis] * inner, size * inner);
  copy.Add(size * inner, 1, 1);
  const int64_t element_bytes = ElementBytes(call.in[in]->dtype);
  const char* from = Data<char>(*call.in[in]) + begin * inner * element_bytes;
  STILLFLOW_RETURN_IF_ERROR(CopyStrided(call, copy, element_bytes, from, call.out[out]->data));
  RetainStrings(*call.out[out]);
  return Status();
}

Status CopyStrided(const KernelCall& call, StridedCopy copy, int64_t element_bytes, const void* from, void* to) {
  for (int i = 0; i < copy.rank; ++i) {
    if (copy.dims[i] == 0) return Status();
  }
  copy.Simplify();
  if (copy.IsOneRun()) return CopyRun(call, copy.Count() * element_bytes, from, to);
  WidenElements(from, to, &copy, &element_bytes);
  switch (element_bytes) {
    case 1:
      return CopyElements(call, copy, static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to));
    case 2:
      return CopyElements(call, copy, static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to));
    case 4:
      return CopyElements(call, copy, static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to));
    case 8:
      return CopyElements(call, copy, static_cast<const uint64_t*>(from), static_cast<uint64_t*>(to));
    default:
      return CopyElements(call, copy, static_cast<const Bytes16*>(from), static_cast<Bytes16*>(to));
  }
}

}  // namespace stillflow
