// gather, gather_v2, gather_nd: parts of an array picked by index.
//
//   gather     in[0] params; in[1] indices, int32 | int64, each in [0, size of the dimension)
//              attr batch_dims: leading dimensions that both share; the next one is picked from
//   gather_v2  in[2] axis, a scalar
//   gather_nd  in[1] indices, the last dimension of which holds index tuples
//   out[0]     the parts, in the order of the indices
//
// Every part of the output has one writer. Of several bad indices the first is reported.
#include <algorithm>

#include "memory/indices.h"
#include "memory/pick_rows.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 64 << 10;
constexpr int64_t kStreamedBytesPerChunk = 512 << 10;
constexpr int64_t kMostPlaces = 512;  // that are read at a time

// params[batch, outer, size, row bytes] picked by indices[batch, picks].
struct Picking {
  int64_t batches;
  int64_t outer;
  int64_t size;
  int64_t row_bytes;
  int64_t picks;

  int64_t BlockBytes() const { return size * row_bytes; }
};

// Copies `count` indices from `begin` on, checked.
Status ReadPlaces(const Tensor& indices, int64_t begin, int64_t count, int64_t size, int64_t* places) {
  const auto largest = indices.dtype == DType::kInt64
                           ? CopyIndices<uint64_t>(Data<int64_t>(indices) + begin, count, places)
                           : CopyIndices<uint64_t>(Data<int32_t>(indices) + begin, count, places);
  if (largest < static_cast<uint64_t>(size)) return Status();
  int64_t bad = 0;
  while (static_cast<uint64_t>(places[bad]) < static_cast<uint64_t>(size)) ++bad;
  return BadIndex("indices", indices, begin + bad, places[bad], size);
}

// Picks `range` of all rows. Some indices at a time are checked and copied, so that what is checked is what is used
// whatever another thread does to them; they serve all whole blocks of the range.
Status PickChunk(const KernelCall& call, const Picking& picking, Range range) {
  int64_t places[kMostPlaces];
  char* const to = MutableData<char>(*call.out[0]);
  for (int64_t row = range.begin; row < range.end;) {
    const int64_t block = row / picking.picks;
    const int64_t first = row % picking.picks;
    const int64_t batch_offset = block / picking.outer * picking.picks;
    const int64_t whole_blocks = first > 0 ? 0 : (range.end - row) / picking.picks;
    const int64_t blocks = std::clamp<int64_t>(whole_blocks, 1, picking.outer - block % picking.outer);
    const int64_t last = std::min(picking.picks, first + range.end - row);
    for (int64_t begin = first; begin < last; begin += kMostPlaces) {
      const int64_t count = std::min(kMostPlaces, last - begin);
      STILLFLOW_RETURN_IF_ERROR(ReadPlaces(*call.in[1], batch_offset + begin, count, picking.size, places));
      for (int64_t k = block; k < block + blocks; ++k) {
        const Table table = {Data<char>(*call.in[0]) + k * picking.BlockBytes(), picking.BlockBytes(),
                             picking.row_bytes};
        PickRows(table, places, count, to + (k * picking.picks + begin) * picking.row_bytes);
      }
    }
    row += (last - first) + (blocks - 1) * picking.picks;
  }
  return Status();
}

// The same with streaming stores, strictly one row after another.
Status StreamChunk(const KernelCall& call, const Picking& picking, Range range) {
  int64_t places[kMostPlaces];
  RunWriter writer(MutableData<char>(*call.out[0]) + range.begin * picking.row_bytes, true);
  for (int64_t row = range.begin; row < range.end;) {
    const int64_t block = row / picking.picks;
    const int64_t first = row % picking.picks;
    const int64_t begin = block / picking.outer * picking.picks + first;
    const int64_t count = std::min({picking.picks - first, range.end - row, kMostPlaces});
    STILLFLOW_RETURN_IF_ERROR(ReadPlaces(*call.in[1], begin, count, picking.size, places));
    const Table table = {Data<char>(*call.in[0]) + block * picking.BlockBytes(), picking.BlockBytes(),
                         picking.row_bytes};
    PickRows(table, places, count, &writer);
    row += count;
  }
  writer.Finish();
  return Status();
}

Status PickAll(const KernelCall& call, const Picking& picking) {
  const int64_t rows = picking.batches * picking.outer * picking.picks;
  const bool is_streamed = IsStreamed(*call.out[0]);
  const int64_t bytes_per_chunk = is_streamed ? kStreamedBytesPerChunk : kBytesPerChunk;
  return ForEachChunk(call, rows, std::max<int64_t>(bytes_per_chunk / picking.row_bytes, 1), [&](Range range) {
    return is_streamed ? StreamChunk(call, picking, range) : PickChunk(call, picking, range);
  });
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
  if (call.out[0]->count == 0) return Status();  // then TensorFlow looks at no index, either
  return FinishStrings(call, PickAll(call, picking));
}

// Along axis `at`, with a choice of its own for each of the leading dimensions that the attribute counts.
Status GatherInBatches(const KernelCall& call, int at) {
  const Tensor& params = *call.in[0];
  const Tensor& indices = *call.in[1];
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

// Along the first dimension behind those of the batches.
Status Gather(const KernelCall& call) {
  if (call.in[0]->rank < 1) return STILLFLOW_INVALID_ARGUMENT("params must be at least 1 dimensional");
  const int64_t batch_dims = call.attrs[0].i < 0 ? call.attrs[0].i + call.in[1]->rank : call.attrs[0].i;
  return GatherInBatches(call, static_cast<int>(std::clamp<int64_t>(batch_dims, 0, call.in[0]->rank - 1)));
}

Status GatherV2(const KernelCall& call) {
  const Tensor& params = *call.in[0];
  if (params.rank < 1) return STILLFLOW_INVALID_ARGUMENT("params must be at least 1 dimensional");
  if (call.in[2]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("axis must be scalar");
  const int64_t axis = IntAt(*call.in[2], 0);
  if (axis < -params.rank || axis >= params.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected axis in the range [%d, %d), but got %lld", -params.rank, params.rank,
                                      static_cast<long long>(axis));
  }
  return GatherInBatches(call, static_cast<int>(axis < 0 ? axis + params.rank : axis));
}

// ---- gather_nd ------------------------------------------------------------------------------------------------

// rows[i] = where tuple i points. Returns whether all indices are in range.
template <typename Index>
bool FindRows(const Index* tuples, int64_t count, int depth, const int64_t* dims, int64_t* rows) {
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
Status PickTuples(const KernelCall& call, int depth, int64_t row_bytes) {
  const Tensor& params = *call.in[0];
  const Tensor& indices = *call.in[1];
  const int64_t tuples = Shape(indices).Count(0, indices.rank - 1);
  const Table table = {Data<char>(params), params.count * ElementBytes(params.dtype), row_bytes};
  char* to = MutableData<char>(*call.out[0]);
  const int64_t per_chunk = std::max<int64_t>(kBytesPerChunk / std::max<int64_t>(row_bytes + 8 * depth, 1), 1);
  return ForEachChunk(call, tuples, per_chunk, [&](Range range) {
    int64_t rows[kMostPlaces];
    for (int64_t begin = range.begin; begin < range.end; begin += kMostPlaces) {
      const int64_t count = std::min(kMostPlaces, range.end - begin);
      const Index* const block = Data<Index>(indices) + begin * depth;
      if (!FindRows(block, count, depth, params.dims, rows)) {
        int64_t good = 0;  // as many before the first that is not
        while (good + 1 < count && FindRows(block + good * depth, 1, depth, params.dims, rows)) ++good;
        return BadTuple(indices, begin + good, depth, "param shape", Shape(params));
      }
      PickRows(table, rows, count, to + begin * row_bytes);
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

STILLFLOW_KERNELS(array, gather){{"gather", "params, indices | batch_dims", Gather},
                                 {"gather_v2", "params, indices, axis | batch_dims", GatherV2},
                                 {"gather_nd", "params, indices", GatherNd},
                                 {}};

}  // namespace stillflow
