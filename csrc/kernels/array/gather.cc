// gather, gather_v2, gather_nd: parts of an array picked by index.
//
//   gather     in[0] params; in[1] indices, int32 | int64, each in [0, size of dimension 0)
//   gather_v2  in[2] axis, a scalar; attr batch_dims: leading dimensions that both share
//   gather_nd  in[1] indices, the last dimension of which holds index tuples
//   out[0]     the parts, in the order of the indices
//
// Every part of the output has one writer. Of several bad indices the first is reported.
#include <algorithm>

#include "memory/indices.h"
#include "memory/line_writer.h"
#include "memory/prefetch.h"
#include "memory/stream.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 64 << 10;
constexpr int64_t kStreamedBytesPerChunk = 512 << 10;

bool IsWithin(int64_t index, int64_t size) { return static_cast<uint64_t>(index) < static_cast<uint64_t>(size); }

// params[batch, outer, size, row bytes] picked by indices[batch, picks].
struct Picking {
  int64_t batches;
  int64_t outer;
  int64_t size;
  int64_t row_bytes;
  int64_t picks;

  // Rows need not be asked for.
  bool IsNear() const { return batches * outer * size * row_bytes <= kProcessor.near_bytes; }
};

// Where rows go that are picked one after another.
class StoredRows {
 public:
  explicit StoredRows(char* to) : to_(to) {}
  STILLFLOW_INLINE void Put(const char* row, int64_t bytes) {
    CopyBytes(to_, row, bytes);
    to_ += bytes;
  }
  void Finish() {}

 private:
  char* to_;
};
class StreamedLines {  // of rows that consist of whole lines
 public:
  explicit StreamedLines(char* to) : to_(to) {}
  STILLFLOW_INLINE void Put(const char* row, int64_t bytes) {
    for (int64_t byte = 0; byte < bytes; byte += kLineBytes) StreamLine(to_ + byte, row + byte);
    to_ += bytes;
  }
  void Finish() { EndStream(); }

 private:
  char* to_;
};
class StreamedRows {
 public:
  explicit StreamedRows(char* to) : writer_(to) {}
  STILLFLOW_INLINE void Put(const char* row, int64_t bytes) { writer_.Append(row, bytes); }
  void Finish() { writer_.Finish(); }

 private:
  LineWriter writer_;
};
// What is streamed line by line as rows come waits for each of them: of short ones some wait together.
class CollectedRows {
 public:
  static constexpr int64_t kMostBytes = 1024;

  explicit CollectedRows(char* to) : writer_(to) {}
  STILLFLOW_INLINE void Put(const char* row, int64_t bytes) {
    CopySmall(collected_ + filled_, row, bytes);
    filled_ += bytes;
    if (filled_ + bytes > kMostBytes) Write();
  }
  void Finish() {
    if (filled_ > 0) Write();
    writer_.Finish();
  }

 private:
  void Write() {
    writer_.Append(collected_, filled_);
    filled_ = 0;
  }

  LineWriter writer_;
  int64_t filled_ = 0;
  char collected_[kMostBytes];
};

// Picks `range` of all rows. A loop for each kind of Sink keeps what it needs in registers: what is stored has to
// wait for all that was streamed before.
template <typename Sink, typename Index>
Status PickChunk(const KernelCall& call, const Picking& picking, Range range) {
  const Tensor& indices = *call.in[1];
  const int64_t size = picking.size;
  const int64_t row_bytes = picking.row_bytes;
  const bool is_near = picking.IsNear();
  Sink sink(MutableData<char>(*call.out[0]) + range.begin * row_bytes);
  for (int64_t row = range.begin; row < range.end;) {
    // The rows of one block of the params, as far as they lie in the chunk.
    const int64_t block = row / picking.picks;
    const int64_t first = row % picking.picks;
    const int64_t last = std::min(picking.picks, first + range.end - row);
    const int64_t batch_offset = block / picking.outer * picking.picks;
    const Index* const picks = Data<Index>(indices) + batch_offset;
    const char* const from = Data<char>(*call.in[0]) + block * size * row_bytes;
    // Also for an index that is not in range: nothing comes of asking.
    const auto begin = reinterpret_cast<uintptr_t>(from);
    const auto fetch = [=](int64_t i) __attribute__((always_inline)) {
      const auto* const row = reinterpret_cast<const char*>(begin + static_cast<uint64_t>(picks[i]) * row_bytes);
      if constexpr (std::is_same_v<Sink, StreamedLines>) {
        PrefetchLines(row, row_bytes);
      } else {
        PrefetchRow(row, row_bytes);
      }
    };
    FetchAhead ahead(first, is_near ? first : last, RowsAhead(row_bytes, kProcessor.random_bytes_ahead), fetch);
    for (int64_t i = first; i < last; ++i) {
      ahead.Before(i);
      const int64_t index = picks[i];
      if (!IsWithin(index, size)) return BadIndex("indices", indices, batch_offset + i, index, size);
      sink.Put(from + index * row_bytes, row_bytes);
    }
    row += last - first;
  }
  sink.Finish();
  return Status();
}

template <typename Sink, typename Index>
Status PickChunks(const KernelCall& call, const Picking& picking, int64_t bytes_per_chunk) {
  const int64_t rows = picking.batches * picking.outer * picking.picks;
  return ForEachChunk(call, rows, std::max<int64_t>(bytes_per_chunk / picking.row_bytes, 1),
                      [&](Range range) { return PickChunk<Sink, Index>(call, picking, range); });
}

template <typename Index>
Status PickRows(const KernelCall& call, const Picking& picking) {
  const Tensor& output = *call.out[0];
  if (!IsStreamed(output)) return PickChunks<StoredRows, Index>(call, picking, kBytesPerChunk);
  const bool has_whole_lines =
      picking.row_bytes % kLineBytes == 0 && reinterpret_cast<uintptr_t>(output.data) % kLineBytes == 0;
  if (has_whole_lines) return PickChunks<StreamedLines, Index>(call, picking, kStreamedBytesPerChunk);
  return picking.row_bytes <= CollectedRows::kMostBytes / 2
             ? PickChunks<CollectedRows, Index>(call, picking, kStreamedBytesPerChunk)
             : PickChunks<StreamedRows, Index>(call, picking, kStreamedBytesPerChunk);
}

template <typename T>
void CopyPlaces(const T* from, const int64_t* places, int64_t count, T* to) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < count; ++i) to[i] = from[places[i]];
}

// The same for many blocks of `size` elements, from each of which kCount are taken.
template <int kCount, typename T>
void CopyFewPlaces(const T* from, int64_t blocks, int64_t size, const int64_t* places, T* to, int64_t picks) {
  const T* columns[kCount];
  for (int i = 0; i < kCount; ++i) columns[i] = from + places[i];
#pragma GCC unroll 8
  for (int64_t k = 0; k < blocks; ++k) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) to[k * picks + i] = columns[i][k * size];
  }
}

template <typename T>
void CopyFewPlaces(const T* from, int64_t blocks, int64_t size, const int64_t* places, int64_t count, T* to,
                   int64_t picks) {
  for (; count >= 4; count -= 4, places += 4, to += 4) CopyFewPlaces<4>(from, blocks, size, places, to, picks);
  if (count == 3) return CopyFewPlaces<3>(from, blocks, size, places, to, picks);
  for (int64_t i = 0; i < count; ++i) CopyFewPlaces<1>(from, blocks, size, places + i, to + i, picks);
}

// Copies `count` indices from `begin` on, checked.
template <typename Index>
Status ReadPlaces(const Tensor& indices, int64_t begin, int64_t count, int64_t size, int64_t* places) {
  const auto largest = CopyIndices<uint64_t>(Data<Index>(indices) + begin, count, places);
  if (largest < static_cast<uint64_t>(size)) return Status();
  int64_t bad = 0;
  while (static_cast<uint64_t>(places[bad]) < static_cast<uint64_t>(size)) ++bad;
  return BadIndex("indices", indices, begin + bad, places[bad], size);
}

// Rows of one element. Some indices at a time are checked and copied, so that what is checked is what is used
// whatever another thread does to them, and serve all whole blocks of a chunk.
template <typename Index, typename T>
Status PickScalars(const KernelCall& call, const Picking& picking) {
  constexpr int64_t kMostPlaces = 256;
  constexpr int64_t kFewPlaces = 16;
  constexpr int64_t kBlockBytesAtOnce = 16 << 10;  // gone through several times, in the first-level cache
  const Tensor& indices = *call.in[1];
  const int64_t rows = picking.batches * picking.outer * picking.picks;
  const int64_t block_bytes = picking.size * static_cast<int64_t>(sizeof(T));
  const int64_t blocks_at_once = std::max<int64_t>(kBlockBytesAtOnce / block_bytes, 1);
  return ForEachChunk(call, rows, kBytesPerChunk / static_cast<int64_t>(sizeof(T)), [&](Range range) {
    int64_t places[kMostPlaces];
    int64_t row = range.begin;
    while (row < range.end) {
      const int64_t block = row / picking.picks;
      const int64_t first = row % picking.picks;
      const int64_t batch_offset = block / picking.outer * picking.picks;
      const int64_t whole_blocks = first > 0 ? 0 : (range.end - row) / picking.picks;
      const int64_t blocks = std::clamp<int64_t>(whole_blocks, 1, picking.outer - block % picking.outer);
      const int64_t last = std::min(picking.picks, first + range.end - row);
      const T* const from = Data<T>(*call.in[0]) + block * picking.size;
      T* const to = MutableData<T>(*call.out[0]) + block * picking.picks;
      for (int64_t begin = first; begin < last; begin += kMostPlaces) {
        const int64_t count = std::min(kMostPlaces, last - begin);
        STILLFLOW_RETURN_IF_ERROR(ReadPlaces<Index>(indices, batch_offset + begin, count, picking.size, places));
        if (count <= kFewPlaces && blocks > count) {
          for (int64_t k = 0; k < blocks; k += blocks_at_once) {
            CopyFewPlaces(from + k * picking.size, std::min(blocks_at_once, blocks - k), picking.size, places, count,
                          to + k * picking.picks + begin, picking.picks);
          }
          continue;
        }
        for (int64_t k = 0; k < blocks; ++k) {
          CopyPlaces(from + k * picking.size, places, count, to + k * picking.picks + begin);
        }
      }
      row += (last - first) + (blocks - 1) * picking.picks;
    }
    return Status();
  });
}

// Elements of a row that is copied as one.
template <int kCount>
struct Words {
  uint32_t words[kCount];
};

template <typename Index>
Status PickRowsOfSize(const KernelCall& call, const Picking& picking) {
  switch (picking.IsNear() ? picking.row_bytes : 0) {
    case 12:
      return PickScalars<Index, Words<3>>(call, picking);
    case 16:
      return PickScalars<Index, Words<4>>(call, picking);
    case 20:
      return PickScalars<Index, Words<5>>(call, picking);
    case 24:
      return PickScalars<Index, Words<6>>(call, picking);
    case 28:
      return PickScalars<Index, Words<7>>(call, picking);
    case 32:
      return PickScalars<Index, Words<8>>(call, picking);
    case 40:
      return PickScalars<Index, Words<10>>(call, picking);
    case 48:
      return PickScalars<Index, Words<12>>(call, picking);
    case 64:
      return PickScalars<Index, Words<16>>(call, picking);
    default:
      break;
  }
  switch (picking.row_bytes) {
    case 1:
      return PickScalars<Index, uint8_t>(call, picking);
    case 2:
      return PickScalars<Index, uint16_t>(call, picking);
    case 4:
      return PickScalars<Index, uint32_t>(call, picking);
    case 8:
      return PickScalars<Index, uint64_t>(call, picking);
    default:
      return PickRows<Index>(call, picking);
  }
}

// Strings that were copied before a bad index was met have not been retained.
Status FinishStrings(const KernelCall& call, Status status) {
  Tensor& output = *call.out[0];
  if (!HasCells(output.dtype)) return status;
  if (status.ok()) {
    RetainStrings(output);
  } else {
    std::memset(output.data, 0, output.count * sizeof(StringCell*));
  }
  return status;
}

// For rows without elements, of which nothing is copied.
Status CheckIndices(const Tensor& indices, int64_t size) {
  for (int64_t i = 0; i < indices.count; ++i) {
    const int64_t index = IntAt(indices, i);
    if (index < 0 || index >= size) return BadIndex("indices", indices, i, index, size);
  }
  return Status();
}

// One row, the usual case of `params[i]` in a loop.
Status PickOne(const KernelCall& call, const Picking& picking, const Shape& shape) {
  const int64_t index = IntAt(*call.in[1], 0);
  if (index < 0 || index >= picking.size) return BadIndex("indices", *call.in[1], 0, index, picking.size);
  const int64_t width = picking.row_bytes / ElementBytes(call.in[0]->dtype);
  return TakeRun(call, 0, 0, shape, index * width, MayView(call, 0));
}

Status GatherAlong(const KernelCall& call, int axis, int batch_dims) {
  const Shape params(*call.in[0]);
  const Shape indices(*call.in[1]);
  Shape shape;
  if (params.rank + indices.rank - batch_dims - 1 > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  }
  for (int i = 0; i < axis; ++i) shape.Add(params.dims[i]);
  for (int i = batch_dims; i < indices.rank; ++i) shape.Add(indices.dims[i]);
  for (int i = axis + 1; i < params.rank; ++i) shape.Add(params.dims[i]);
  Picking picking;
  picking.batches = params.Count(0, batch_dims);
  picking.outer = params.Count(batch_dims, axis);
  picking.size = params.dims[axis];
  picking.row_bytes = params.Count(axis + 1, params.rank) * ElementBytes(call.in[0]->dtype);
  picking.picks = indices.Count(batch_dims, indices.rank);
  if (call.in[1]->count == 1 && picking.outer == 1 && picking.row_bytes > 0) return PickOne(call, picking, shape);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, call.in[0]->dtype, shape));
  if (call.out[0]->count == 0) return CheckIndices(*call.in[1], picking.size);
  Status status = call.in[1]->dtype == DType::kInt64 ? PickRowsOfSize<int64_t>(call, picking)
                                                     : PickRowsOfSize<int32_t>(call, picking);
  return FinishStrings(call, static_cast<Status&&>(status));
}

Status Gather(const KernelCall& call) {
  if (call.in[0]->rank < 1) return STILLFLOW_INVALID_ARGUMENT("params must be at least 1 dimensional");
  return GatherAlong(call, 0, 0);
}

Status GatherV2(const KernelCall& call) {
  const Tensor& params = *call.in[0];
  const Tensor& indices = *call.in[1];
  if (params.rank < 1) return STILLFLOW_INVALID_ARGUMENT("params must be at least 1 dimensional");
  if (call.in[2]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("axis must be scalar");
  const int64_t axis = IntAt(*call.in[2], 0);
  if (axis < -params.rank || axis >= params.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected axis in the range [%d, %d), but got %lld", -params.rank, params.rank,
                                      static_cast<long long>(axis));
  }
  const int at = static_cast<int>(axis < 0 ? axis + params.rank : axis);
  const int64_t batch_dims = call.attrs[0].i < 0 ? call.attrs[0].i + indices.rank : call.attrs[0].i;
  if (batch_dims < 0 || batch_dims > indices.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected batch_dims in the range [%d, %d], but got %lld", -indices.rank,
                                      indices.rank, static_cast<long long>(call.attrs[0].i));
  }
  if (batch_dims >= params.rank) {
    return STILLFLOW_INVALID_ARGUMENT("batch_dims (%lld) must be less than rank(params) (%d).",
                                      static_cast<long long>(batch_dims), params.rank);
  }
  if (at < batch_dims) {
    return STILLFLOW_INVALID_ARGUMENT("batch_dims (%lld) must be less than or equal to axis (%d).",
                                      static_cast<long long>(batch_dims), at);
  }
  for (int i = 0; i < batch_dims; ++i) {
    if (params.dims[i] != indices.dims[i]) {
      return STILLFLOW_INVALID_ARGUMENT("params.shape[%d]: %lld should be equal to indices.shape[%d]: %lld", i,
                                        static_cast<long long>(params.dims[i]), i,
                                        static_cast<long long>(indices.dims[i]));
    }
  }
  return GatherAlong(call, at, static_cast<int>(batch_dims));
}

// ---- gather_nd ------------------------------------------------------------------------------------------------

constexpr int64_t kMostTuples = 256;  // whose rows are found at a time

// rows[i] = where tuple i points. Returns whether all indices are in range. `known_depth` is the depth if it is not
// 0: then this is vector code.
template <int known_depth, typename Index>
bool FindRows(const Index* tuples, int64_t count, int depth, const int64_t* dims, int64_t* rows) {
  if (known_depth > 0) depth = known_depth;
  uint64_t is_bad = 0;
  std::fill_n(rows, count, int64_t{0});
  for (int k = 0; k < depth; ++k) {
    const int64_t dim = dims[k];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = tuples[i * depth + k];
      is_bad |= static_cast<uint64_t>(index) >= static_cast<uint64_t>(dim) ? 1 : 0;
      rows[i] = static_cast<int64_t>(static_cast<uint64_t>(rows[i]) * dim + static_cast<uint64_t>(index));
    }
  }
  return is_bad == 0;
}

template <typename Index>
bool FindRowsOfDepth(const Index* tuples, int64_t count, int depth, const int64_t* dims, int64_t* rows) {
  switch (depth) {
    case 1:
      return FindRows<1>(tuples, count, depth, dims, rows);
    case 2:
      return FindRows<2>(tuples, count, depth, dims, rows);
    case 3:
      return FindRows<3>(tuples, count, depth, dims, rows);
    default:
      return FindRows<0>(tuples, count, depth, dims, rows);
  }
}

using RowsCopy = void (*)(const char* from, const int64_t* rows, int64_t count, int64_t row_bytes, char* to);

template <typename T>
void CopyScalars(const char* from, const int64_t* rows, int64_t count, int64_t, char* to) {
  CopyPlaces(reinterpret_cast<const T*>(from), rows, count, reinterpret_cast<T*>(to));
}

void CopyRows(const char* from, const int64_t* rows, int64_t count, int64_t row_bytes, char* to) {
  for (int64_t i = 0; i < count; ++i) CopyBytes(to + i * row_bytes, from + rows[i] * row_bytes, row_bytes);
}

RowsCopy CopyOfRows(int64_t row_bytes) {
  switch (row_bytes) {
    case 1:
      return CopyScalars<uint8_t>;
    case 2:
      return CopyScalars<uint16_t>;
    case 4:
      return CopyScalars<uint32_t>;
    case 8:
      return CopyScalars<uint64_t>;
    default:
      return CopyRows;
  }
}

template <typename Index>
Status PickTuples(const KernelCall& call, int depth, int64_t row_bytes) {
  const Tensor& params = *call.in[0];
  const Tensor& indices = *call.in[1];
  const int64_t tuples = Shape(indices).Count(0, indices.rank - 1);
  const char* from = Data<char>(params);
  char* to = MutableData<char>(*call.out[0]);
  const RowsCopy copy = CopyOfRows(row_bytes);
  const int64_t per_chunk = std::max<int64_t>(kBytesPerChunk / std::max<int64_t>(row_bytes + 8 * depth, 1), 1);
  return ForEachChunk(call, tuples, per_chunk, [&](Range range) {
    int64_t rows[kMostTuples];
    for (int64_t begin = range.begin; begin < range.end; begin += kMostTuples) {
      const int64_t count = std::min(kMostTuples, range.end - begin);
      const Index* const block = Data<Index>(indices) + begin * depth;
      if (!FindRowsOfDepth(block, count, depth, params.dims, rows)) {
        int64_t good = 0;  // as many before the first that is not
        while (good + 1 < count && FindRowsOfDepth(block + good * depth, 1, depth, params.dims, rows)) ++good;
        return BadTuple(indices, begin + good, depth, "param shape", Shape(params));
      }
      copy(from, rows, count, row_bytes, to + begin * row_bytes);
    }
    return Status();
  });
}

Status GatherNd(const KernelCall& call) {
  const Tensor& params = *call.in[0];
  const Tensor& indices = *call.in[1];
  if (params.rank < 1) return STILLFLOW_INVALID_ARGUMENT("params must be at least a vector");
  if (indices.rank < 1) return STILLFLOW_INVALID_ARGUMENT("indices must be at least a vector");
  const int64_t depth = indices.dims[indices.rank - 1];
  if (depth > params.rank) {
    return STILLFLOW_INVALID_ARGUMENT("index innermost dimension length must be <= params rank; saw: %lld vs. %d",
                                      static_cast<long long>(depth), params.rank);
  }
  Shape shape;
  if (indices.rank - 1 + params.rank - depth > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  }
  for (int i = 0; i < indices.rank - 1; ++i) shape.Add(indices.dims[i]);
  for (int i = static_cast<int>(depth); i < params.rank; ++i) shape.Add(params.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, params.dtype, shape));
  const int64_t tuples = Shape(indices).Count(0, indices.rank - 1);
  if (tuples > 0 && params.count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Requested more than 0 entries, but params is empty.  Params shape: %s",
                                      ShapeText(params).c_str());
  }
  if (call.out[0]->count == 0) return Status();
  const int64_t row_bytes = Shape(params).Count(static_cast<int>(depth), params.rank) * ElementBytes(params.dtype);
  Status status = indices.dtype == DType::kInt64 ? PickTuples<int64_t>(call, static_cast<int>(depth), row_bytes)
                                                 : PickTuples<int32_t>(call, static_cast<int>(depth), row_bytes);
  return FinishStrings(call, static_cast<Status&&>(status));
}

}  // namespace

STILLFLOW_KERNELS(array, gather){{"gather", "params, indices", Gather},
                                 {"gather_v2", "params, indices, axis | batch_dims", GatherV2},
                                 {"gather_nd", "params, indices", GatherNd},
                                 {}};

}  // namespace stillflow
