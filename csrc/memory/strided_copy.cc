#include "memory/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "memory/prefetch.h"
#include "memory/run_writer.h"
#include "memory/transposed_tile.h"
#include "memory/walk.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 256 << 10;
constexpr int64_t kBytesPerRun = 64 << 10;  // of a run that is cut so that threads can share it
constexpr int64_t kBytesAhead = 2048;       // of lines that are fetched while others are streamed
constexpr int64_t kLongRunBytes = 4096;     // of runs whose first and last line do not count
constexpr int64_t kShortLineBytes = 32;     // of what takes longer to put cache lines together from than to store

// Bytes of the tiles that a transpose goes through, along the rows of what is written and of what is read.
constexpr int64_t kWrittenTileBytes = 1024;
constexpr int64_t kReadTileBytes = 256;

struct Bytes16 {
  uint64_t words[2];
};

// ---- Lines of the last dimension ------------------------------------------------------------------------------

// Calls line(from, to, count) for the last dimension at every place of the others, long lines in pieces.
template <typename T, typename Line>
Status ForEachLine(const KernelCall& call, const StridedCopy& copy, const T* from, T* to, const Line& line,
                   bool is_streamed = false) {
  const int last = copy.rank - 1;
  constexpr auto kPiece = static_cast<int64_t>(kBytesPerRun / sizeof(T));
  const Lines lines(copy);
  const int64_t length = lines.length;
  if (length <= kPiece) {
    const int64_t group_bytes = lines.per_group * length * static_cast<int64_t>(sizeof(T));
    return ForEachChunk(call, lines.groups, std::max<int64_t>(kBytesPerChunk / group_bytes, 1), [&](Range groups) {
      lines.ForEachPart(groups, from, to, [&](const T* part_from, T* part_to, int64_t count) {
        lines.ForEach(part_from, part_to, count, [&](const T* source, T* target) { line(source, target, length); });
      });
      if (is_streamed) EndStream();
    });
  }
  const int64_t pieces = (length + kPiece - 1) / kPiece;
  return ForEachChunk(call, copy.Count() / length * pieces, kBytesPerChunk / kBytesPerRun, [&](Range items) {
    for (int64_t item = items.begin; item < items.end; ++item) {
      const Walk walk(copy, last, item / pieces);
      const int64_t begin = item % pieces * kPiece;
      line(from + walk.from + begin * copy.from_strides[last], to + walk.to + begin * copy.to_strides[last],
           std::min(kPiece, length - begin));
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

// The last dimension is dense in `to`, dimension `dense` in `from`: tiles of a transposed matrix.
template <typename T>
Status CopyTransposed(const KernelCall& call, const StridedCopy& copy, int dense, const T* from, T* to) {
  const int last = copy.rank - 1;
  StridedCopy outer;
  for (int i = 0; i < last; ++i) {
    if (i != dense) outer.Add(copy.dims[i], copy.from_strides[i], copy.to_strides[i]);
  }
  const int64_t rows = copy.dims[last];
  const int64_t columns = copy.dims[dense];
  const int64_t from_stride = copy.from_strides[last];
  const int64_t to_stride = copy.to_strides[dense];
  // Tiles follow each other in the direction of what is read.
  const bool has_few_columns = HasFewColumns<T>(from_stride, columns, 2 * kSide<T>);
  const bool is_streamed = IsStreamed(copy.Count() * sizeof(T)) && HasWholeLines(copy, to);
  const int64_t tile_rows = kWrittenTileBytes / sizeof(T);
  const int64_t tile_columns = kReadTileBytes / sizeof(T);
  const int64_t column_tiles = (columns + tile_columns - 1) / tile_columns;
  const int64_t row_tiles = (rows + tile_rows - 1) / tile_rows;
  outer.Add(row_tiles, tile_rows * from_stride, tile_rows);
  outer.Add(column_tiles, tile_columns, tile_columns * to_stride);
  const int64_t tile_bytes = std::min(rows, tile_rows) * std::min(columns, tile_columns) * sizeof(T);
  const int64_t tiles_per_chunk = std::max<int64_t>(kBytesPerChunk / tile_bytes, 1);
  return ForEachChunk(call, outer.Count(), tiles_per_chunk, [&](Range tiles) {
    Walk walk(outer, outer.rank, tiles.begin);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, walk.Next()) {
      const int64_t column = tile % column_tiles * tile_columns;
      const int64_t row = tile / column_tiles % row_tiles * tile_rows;
      const int64_t height = std::min(tile_rows, rows - row);
      const int64_t width = std::min(tile_columns, columns - column);
      if (has_few_columns) {
        Deinterleave(from + walk.from, height, columns, to + walk.to, to_stride);
      } else {
        TransposeTile(from + walk.from, from_stride, to + walk.to, to_stride, height, width, is_streamed);
      }
    }
    if (is_streamed) EndStream();
  });
}

// Whether the destination is written without gaps, from its begin to its end.
bool IsDense(const StridedCopy& copy) {
  int64_t stride = 1;
  for (int i = copy.rank - 1; i >= 0; --i) {
    if (copy.to_strides[i] != stride) return false;
    stride *= copy.dims[i];
  }
  return true;
}

// Streams short runs of bytes to a destination without gaps.
Status StreamRuns(const KernelCall& call, const StridedCopy& copy, const char* from, char* to) {
  const int last = copy.rank - 1;
  const int64_t run_bytes = copy.dims[last];
  const int64_t runs = copy.Count() / run_bytes;
  return ForEachChunk(call, runs, std::max<int64_t>(kBytesPerChunk / run_bytes, 1), [&](Range range) {
    Walk walk(copy, last, range.begin);
    Walk walk_ahead(copy, last, range.begin);
    const auto fetch = [&](int64_t) __attribute__((always_inline)) {
      PrefetchRow(from + walk_ahead.from, run_bytes);
      walk_ahead.Next();
    };
    FetchAhead ahead(range.begin, range.end, RowsAhead(run_bytes, kStridedBytesAhead), fetch);
    RunWriter writer(to + range.begin * run_bytes, true);
    for (int64_t run = range.begin; run < range.end; ++run, walk.Next()) {
      ahead.Before(run);
      writer.Append(from + walk.from, run_bytes);
    }
    writer.Finish();
  });
}

// How many of `count` places, `step` apart, come before `limit` or at it.
int64_t CountUpTo(const char* first, int64_t step, const char* limit, int64_t count) {
  const int64_t room = limit - first;
  if (room < 0) return 0;
  return step <= 0 ? count : std::min(count, room / step + 1);
}

// Short runs of bytes one after another where they go. Whole pieces of memory are written: what is too much of one is
// overwritten by the next. Where there is no more room for that, in what is read or written, only the run is.
template <int kPiece>
Status CopyPieceByPiece(const KernelCall& call, const StridedCopy& copy, const char* from, char* to) {
  const Lines lines(copy);
  const char* last = from;
  for (int i = 0; i < copy.rank; ++i) last += std::max<int64_t>(copy.from_strides[i], 0) * (copy.dims[i] - 1);
  const char* const last_piece = last + 1 - kPiece;
  const int64_t group_bytes = lines.per_group * lines.length;
  const int64_t read_in_group = std::max<int64_t>(lines.from_step, 0) * (lines.per_group - 1);
  const auto copy_piece = [](const char* source, char* target) { CopyPieces<kPiece>(target, source, kPiece); };
  const auto copy_bytes = [&](const char* source, char* target) {
    for (int64_t i = 0; i < lines.length; ++i) target[i] = source[i];
  };
  return ForEachChunk(call, lines.groups, kBytesPerChunk / group_bytes, [&](Range groups) {
    const char* const last_room = to + groups.end * group_bytes - kPiece;
    lines.ForEachPart(groups, from, to, [&](const char* source, char* target, int64_t count) {
      const char* const read = source + read_in_group;
      const char* const written = target + group_bytes - lines.length;
      int64_t pieces = CountUpTo(read, lines.from_group_step, last_piece, count);
      pieces = CountUpTo(written, group_bytes, last_room, pieces);
      lines.ForEach(source, target, pieces, copy_piece);
      lines.ForEach(source + pieces * lines.from_group_step, target + pieces * group_bytes, count - pieces,
                    copy_bytes);
    });
  });
}

Status CopyShortRuns(const KernelCall& call, const StridedCopy& copy, const char* from, char* to) {
  const int64_t bytes = copy.dims[copy.rank - 1];
  if (bytes <= 8) return CopyPieceByPiece<8>(call, copy, from, to);
  if (bytes <= 16) return CopyPieceByPiece<16>(call, copy, from, to);
  return CopyPieceByPiece<kShortLineBytes>(call, copy, from, to);
}

// The last dimension is dense in both; it is of bytes.
Status CopyRuns(const KernelCall& call, const StridedCopy& copy, const char* from, char* to) {
  const int64_t run_bytes = copy.dims[copy.rank - 1];
  const bool is_large = IsStreamed(copy.Count());
  const bool has_whole_lines = HasWholeLines(copy, to);
  if (is_large && !has_whole_lines && run_bytes > kShortLineBytes && run_bytes < kLongRunBytes && IsDense(copy)) {
    return StreamRuns(call, copy, from, to);
  }
  if (run_bytes <= kShortLineBytes && IsDense(copy)) return CopyShortRuns(call, copy, from, to);
  const bool is_streamed = is_large && (has_whole_lines || run_bytes >= kLongRunBytes);
  const auto copy_line = [=](const char* source, char* target, int64_t bytes) {
    if (!is_streamed) {
      CopyBytes(target, source, bytes);
    } else if (has_whole_lines) {
      StreamLines(target, source, bytes, source + kBytesAhead);
    } else {
      StreamBytes(target, source, bytes);
    }
  };
  return ForEachLine(call, has_whole_lines && is_streamed ? InOrderOfSource(copy) : copy, from, to, copy_line,
                     is_streamed);
}

// The same copy of bytes, of elements whose last dimension is dense in both arrays.
StridedCopy OfBytes(StridedCopy copy, int64_t element_bytes) {
  for (int i = 0; i < copy.rank - 1; ++i) {
    copy.from_strides[i] *= element_bytes;
    copy.to_strides[i] *= element_bytes;
  }
  copy.dims[copy.rank - 1] *= element_bytes;
  return copy;
}

template <typename T>
Status CopyElements(const KernelCall& call, const StridedCopy& copy, const void* source, void* target) {
  const T* const from = static_cast<const T*>(source);
  T* const to = static_cast<T*>(target);
  const int last = copy.rank - 1;
  const int64_t from_stride = copy.from_strides[last];
  const int64_t to_stride = copy.to_strides[last];
  for (int i = 0; to_stride == 1 && from_stride != 0 && i < last; ++i) {
    if (copy.from_strides[i] == 1) return CopyTransposed(call, copy, i, from, to);
  }
  return ForEachLine(call, copy, from, to, [=](const T* line_from, T* line_to, int64_t count) {
    if (from_stride == 0 && to_stride == 1) {
      std::fill_n(line_to, count, *line_from);
    } else if (from_stride == -1 && to_stride == 1) {
      for (int64_t i = 0; i < count; ++i) line_to[i] = line_from[-i];
    } else {
#pragma GCC unroll 8
      for (int64_t i = 0; i < count; ++i) line_to[i * to_stride] = line_from[i * from_stride];
    }
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
    RunWriter writer(static_cast<char*>(to) + range.begin, IsStreamed(bytes));
    writer.AppendNext(static_cast<const char*>(from) + range.begin, range.end - range.begin);
    writer.Finish();
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
  const int last = copy.rank - 1;
  if (copy.from_strides[last] == 1 && copy.to_strides[last] == 1) {
    return CopyRuns(call, OfBytes(copy, element_bytes), static_cast<const char*>(from), static_cast<char*>(to));
  }
  switch (element_bytes) {
    case 1:
      return CopyElements<uint8_t>(call, copy, from, to);
    case 2:
      return CopyElements<uint16_t>(call, copy, from, to);
    case 4:
      return CopyElements<uint32_t>(call, copy, from, to);
    case 8:
      return CopyElements<uint64_t>(call, copy, from, to);
    default:
      return CopyElements<Bytes16>(call, copy, from, to);
  }
}

}  // namespace stillflow
