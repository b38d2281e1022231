// dynamic_stitch, dynamic_partition: rows put together by index, and dealt out by number.
//
//   dynamic_stitch     in[0..n) indices, int32; in[n..2n) data, whose shapes begin with those of the indices;
//                      out[0] row indices[i] is data[i]; of several the last one counts, and what has none is zero
//   dynamic_partition  in[0] data; in[1] partitions, int32, with which the shape of data begins;
//                      out[k] the rows of partition k, in order
#include <algorithm>

#include "memory/indices.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 64 << 10;

// Whether the shape of `data` begins with that of `prefix`.
bool StartsWith(const Tensor& data, const Tensor& prefix) {
  if (data.rank < prefix.rank) return false;
  return std::memcmp(data.dims, prefix.dims, sizeof(int64_t) * prefix.rank) == 0;
}

int64_t RowElements(const Tensor& data, const Tensor& prefix) { return Shape(data).Count(prefix.rank, data.rank); }

// Copies rows listed as (to, from) pairs; a negative `to` is left out.
Status CopyRows(const KernelCall& call, int64_t count, int64_t row_bytes, const int64_t* to_rows, const char* from,
                char* to) {
  const int64_t per_chunk = std::max<int64_t>(kBytesPerChunk / std::max<int64_t>(row_bytes, 1), 1);
  return ForEachChunk(call, count, per_chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      if (to_rows[i] >= 0) CopyBytes(to + to_rows[i] * row_bytes, from + i * row_bytes, row_bytes);
    }
  });
}

// ---- dynamic_stitch -----------------------------------------------------------------------------------------------

Status CheckStitch(const KernelCall& call, int parts) {
  const Tensor& first = *call.in[parts];
  for (int k = 0; k < parts; ++k) {
    const Tensor& indices = *call.in[k];
    const Tensor& data = *call.in[parts + k];
    if (!StartsWith(data, indices)) {
      return STILLFLOW_INVALID_ARGUMENT("data[%d].shape = %s does not start with indices[%d].shape = %s", k,
                                        ShapeText(data).c_str(), k, ShapeText(indices).c_str());
    }
    const int inner = data.rank - indices.rank;
    const bool fits =
        inner == first.rank - call.in[0]->rank &&
        std::memcmp(data.dims + indices.rank, first.dims + call.in[0]->rank, sizeof(int64_t) * inner) == 0;
    if (!fits) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, data[%d].shape = %s, "
          "indices[0].shape = %s, indices[%d].shape = %s",
          call.in[0]->rank, k, indices.rank, ShapeText(first).c_str(), k, ShapeText(data).c_str(),
          ShapeText(*call.in[0]).c_str(), k, ShapeText(indices).c_str());
    }
  }
  return Status();
}

// The number of rows of the result, and all indices read once into `rows`.
Status ReadIndices(const KernelCall& call, int parts, int64_t* rows, int64_t* size) {
  int64_t largest = -1;
  for (int k = 0; k < parts; ++k) {
    const Tensor& indices = *call.in[k];
    for (int64_t i = 0; i < indices.count; ++i) {
      const int64_t row = Data<int32_t>(indices)[i];
      if (row < 0) {
        return STILLFLOW_INVALID_ARGUMENT("indices[%lld] is out of range", static_cast<long long>(i));
      }
      largest = std::max(largest, row);
      *rows++ = row;
    }
  }
  *size = largest + 1;
  return Status();
}

// Leaves out the rows that a later one replaces, so that each row of the result has one writer.
void KeepLast(int64_t count, int64_t size, int64_t* rows, int64_t* last) {
  std::fill_n(last, size, -1);
  for (int64_t i = 0; i < count; ++i) last[rows[i]] = i;
  for (int64_t i = 0; i < count; ++i) {
    if (last[rows[i]] != i) rows[i] = -1;
  }
}

Status DynamicStitch(const KernelCall& call) {
  const int parts = call.in_count / 2;
  STILLFLOW_RETURN_IF_ERROR(CheckStitch(call, parts));
  int64_t count = 0;
  for (int k = 0; k < parts; ++k) count += call.in[k]->count;
  const Scratch rows(call, count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  Shape shape;
  shape.Add(0);
  STILLFLOW_RETURN_IF_ERROR(ReadIndices(call, parts, rows.data<int64_t>(), &shape.dims[0]));
  const Tensor& first = *call.in[parts];
  for (int i = call.in[0]->rank; i < first.rank; ++i) {
    if (shape.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
    shape.Add(first.dims[i]);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, first.dtype, shape));
  const int64_t row_bytes = RowElements(first, *call.in[0]) * ElementBytes(first.dtype);
  if (row_bytes == 0) return Status();
  const Scratch last(call, shape.dims[0] * static_cast<int64_t>(sizeof(int64_t)));
  if (!last.ok()) return OutOfScratch();
  KeepLast(count, shape.dims[0], rows.data<int64_t>(), last.data<int64_t>());
  const int64_t* part_rows = rows.data<int64_t>();
  for (int k = 0; k < parts; ++k) {
    STILLFLOW_RETURN_IF_ERROR(CopyRows(call, call.in[k]->count, row_bytes, part_rows, Data<char>(*call.in[parts + k]),
                                       MutableData<char>(*call.out[0])));
    part_rows += call.in[k]->count;
  }
  RetainStrings(*call.out[0]);
  return Status();
}

// ---- dynamic_partition --------------------------------------------------------------------------------------------

// Reads the partition of each row into `parts`, and how many rows each has into `counts`.
Status ReadPartitions(const KernelCall& call, int32_t* parts, int64_t* counts) {
  const Tensor& partitions = *call.in[1];
  std::fill_n(counts, call.out_count, 0);
  for (int64_t i = 0; i < partitions.count; ++i) {
    const int32_t part = Data<int32_t>(partitions)[i];
    if (part < 0 || part >= call.out_count) return BadIndex("partitions", partitions, i, part, call.out_count);
    parts[i] = part;
    ++counts[part];
  }
  return Status();
}

Status DynamicPartition(const KernelCall& call) {
  const Tensor& data = *call.in[0];
  const Tensor& partitions = *call.in[1];
  if (!StartsWith(data, partitions)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "data.shape must start with partitions.shape, got data.shape = %s, "
        "partitions.shape = %s",
        ShapeText(data).c_str(), ShapeText(partitions).c_str());
  }
  const Scratch parts(call, partitions.count * static_cast<int64_t>(sizeof(int32_t)));
  const Scratch counts(call, call.out_count * static_cast<int64_t>(sizeof(int64_t)));
  if (!parts.ok() || !counts.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadPartitions(call, parts.data<int32_t>(), counts.data<int64_t>()));
  for (int k = 0; k < call.out_count; ++k) {
    Shape shape;
    shape.Add(counts.data<int64_t>()[k]);
    for (int i = partitions.rank; i < data.rank; ++i) shape.Add(data.dims[i]);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, k, data.dtype, shape));
  }
  const int64_t row_bytes = RowElements(data, partitions) * ElementBytes(data.dtype);
  if (row_bytes == 0) return Status();
  int64_t* const filled = counts.data<int64_t>();
  std::fill_n(filled, call.out_count, 0);
  const char* from = Data<char>(data);
  for (int64_t i = 0; i < partitions.count; ++i, from += row_bytes) {
    const int32_t part = parts.data<int32_t>()[i];
    CopyBytes(MutableData<char>(*call.out[part]) + filled[part]++ * row_bytes, from, row_bytes);
  }
  for (int k = 0; k < call.out_count; ++k) RetainStrings(*call.out[k]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, dynamic){{"dynamic_stitch", "indices..., data...", DynamicStitch},
                                  {"dynamic_partition", "data, partitions", DynamicPartition},
                                  {}};

}  // namespace stillflow
