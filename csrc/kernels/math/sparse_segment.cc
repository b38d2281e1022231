// sparse_segment, sparse_segment_grad: rows picked by index and reduced by segment.
//
//   sparse_segment       in[0] data; in[1] indices of rows, int32 | int64; in[2] segment ids, int32, one for each
//                        index, not decreasing; in[3], if there, the number of segments
//                        out[0] a row for each segment, 0 where it has none
//   sparse_segment_grad  in[0] gradient, a row for each segment; in[1] indices; in[2] segment ids; in[3] the number
//                        of rows of data; out[0] the gradient of data
//   attr                 operation: sqrt_n is the sum divided by the root of the number of rows
//
// Rows are added up in order; every row of the output has one writer.
#include <algorithm>
#include <cmath>

#include "arithmetic/math/scalar.h"
#include "kernels/math/segment_ids.h"
#include "memory/indices.h"
#include "memory/prefetch.h"
#include "memory/row_update.h"

namespace stillflow {
namespace {

enum Operation { kSum, kMean, kRoot };
#define OPERATIONS "sum mean sqrt_n"

// The rows of each segment: indices[starts[s]] to indices[starts[s + 1]].
struct Segments {
  int64_t count;
  const int64_t* starts;
  const int64_t* indices;
};

template <typename T>
Wide<T> Factor(int64_t rows, Operation operation) {
  if (operation == kMean) return Wide<T>(1) / static_cast<Wide<T>>(rows);
  return Wide<T>(1) / std::sqrt(static_cast<Wide<T>>(rows));
}

Status CheckVectors(const KernelCall& call) {
  const Tensor& indices = *call.in[1];
  const Tensor& ids = *call.in[2];
  if (call.in[0]->rank < 1) return STILLFLOW_INVALID_ARGUMENT("input must be at least rank 1");
  if (indices.rank != 1) return STILLFLOW_INVALID_ARGUMENT("indices should be a vector.");
  if (ids.rank != 1) return STILLFLOW_INVALID_ARGUMENT("segment_ids should be a vector.");
  if (indices.count != ids.count) {
    return STILLFLOW_INVALID_ARGUMENT("segment_ids and indices should have same size.");
  }
  if (call.in_count > 3 && call.in[3]->count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("num_segments should be a scalar, not shape %s",
                                      ShapeText(*call.in[3]).c_str());
  }
  return Status();
}

// Reads the indices, each below `size`.
template <typename Error>
Status ReadIndices(const Tensor& indices, int64_t size, int64_t* rows, const Error& error) {
  Status status = indices.dtype == DType::kInt64 ? ReadRows<int64_t>(indices, size, rows)
                                                 : ReadRows<int32_t>(indices, size, rows);
  for (int64_t i = 0; !status.ok() && i < indices.count; ++i) {
    const int64_t index = IntAt(indices, i);
    if (index < 0 || index >= size) return error(static_cast<long long>(i), static_cast<long long>(index));
  }
  return status;
}

// How many segments there are: what in[3] says, or as many as the ids need.
Status CountSegments(const KernelCall& call, int64_t* count) {
  const Tensor& ids = *call.in[2];
  STILLFLOW_RETURN_IF_ERROR(SegmentsNeeded(ids, count));
  if (call.in_count <= 3) return Status();
  const int64_t needed = *count;
  *count = IntAt(*call.in[3], 0);
  if (*count < 0) return STILLFLOW_INVALID_ARGUMENT("segment ids must be >= 0");
  if (*count < needed) return STILLFLOW_INVALID_ARGUMENT("segment ids must be < num_segments");
  return Status();
}

Status ReadStarts(const Tensor& ids, int64_t count, int64_t* starts) {
  STILLFLOW_RETURN_IF_ERROR(CheckSegmentIds(ids, count));
  std::fill_n(starts, count + 1, 0);
  for (int64_t i = 0; i < ids.count; ++i) ++starts[Data<int32_t>(ids)[i] + 1];
  for (int64_t s = 0; s < count; ++s) starts[s + 1] += starts[s];
  return Status();
}

template <typename T>
void Scale(T* row, int64_t width, Wide<T> factor) {
  for (int64_t i = 0; i < width; ++i) row[i] = Narrow<T>(Widen(row[i]) * factor);
}

// Of a sum over `rows` rows, what the operation makes.
void FinishRow(DType type, void* row, int64_t width, int64_t rows, Operation operation) {
  (void)ForType<float, double, Half, BFloat16>("SparseSegment", type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Scale(static_cast<T*>(row), width, Factor<T>(rows, operation));
    return Status();
  });
}

Status ReduceSegments(const KernelCall& call, const Segments& segments, int64_t width, Operation operation) {
  constexpr int64_t kSegmentsPerChunk = 16;
  const DType type = call.in[0]->dtype;
  const RowFunction add = RowFunctionOf(RowOperation::kAdd, type);
  if (add == nullptr || type == DType::kBool) return UnsupportedType("SparseSegment", type);
  const char* const data = Data<char>(*call.in[0]);
  char* const output = MutableData<char>(*call.out[0]);
  const int64_t row_bytes = width * ElementBytes(type);
  return ForEachChunk(call, segments.count, kSegmentsPerChunk, [&](Range range) {
    const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
      PrefetchRow(data + segments.indices[i] * row_bytes, row_bytes);
    };
    FetchAhead ahead(segments.starts[range.begin], segments.starts[range.end],
                     RowsAhead(row_bytes, kRandomBytesAhead), fetch);
    for (int64_t s = range.begin; s < range.end; ++s) {
      std::memset(output + s * row_bytes, 0, row_bytes);
      for (int64_t i = segments.starts[s]; i < segments.starts[s + 1]; ++i) {
        ahead.Before(i);
        add(output, &s, data, segments.indices + i, 1, width, width, nullptr);
      }
      const int64_t rows = segments.starts[s + 1] - segments.starts[s];
      if (operation != kSum && rows > 0) FinishRow(type, output + s * row_bytes, width, rows, operation);
    }
  });
}

Status SparseSegment(const KernelCall& call) {
  const Tensor& data = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckVectors(call));
  Shape shape(data);
  STILLFLOW_RETURN_IF_ERROR(CountSegments(call, &shape.dims[0]));
  const int64_t count = shape.dims[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, data.dtype, shape));
  const Scratch indices(call, call.in[1]->count * 8);
  const Scratch starts(call, (count + 1) * 8);
  if (!indices.ok() || !starts.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadStarts(*call.in[2], count, starts.data<int64_t>()));
  const auto size = static_cast<long long>(data.dims[0]);
  const auto error = [size](long long i, long long index) {
    return STILLFLOW_INVALID_ARGUMENT("Bad: indices[%lld] == %lld out of range [0, %lld)", i, index, size);
  };
  STILLFLOW_RETURN_IF_ERROR(ReadIndices(*call.in[1], data.dims[0], indices.data<int64_t>(), error));
  const Segments segments{count, starts.data<int64_t>(), indices.data<int64_t>()};
  const int64_t width = shape.Count(1, shape.rank);
  return ReduceSegments(call, segments, width, static_cast<Operation>(call.attrs[0].i));
}

// ---- The gradient -------------------------------------------------------------------------------------------------

// Reads the ids, each below `count`, and how many rows each segment has.
Status ReadIds(const Tensor& ids, int64_t count, int64_t* read, int64_t* sizes) {
  std::fill_n(sizes, count, 0);
  if (ids.count > 0 && Data<int32_t>(ids)[ids.count - 1] >= count) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid number of segments");
  }
  for (int64_t i = 0; i < ids.count; ++i) {
    const int64_t id = Data<int32_t>(ids)[i];
    if (id < 0 || id >= count) {
      return STILLFLOW_INVALID_ARGUMENT("Segment id %lld out of range [0, %lld).", static_cast<long long>(id),
                                        static_cast<long long>(count));
    }
    read[i] = id;
    ++sizes[id];
  }
  return Status();
}

template <typename T>
Status SpreadGradient(const KernelCall& call, const int64_t* rows, const int64_t* ids, const int64_t* sizes) {
  constexpr int64_t kRowsPerChunk = 64;
  const Tensor& grad = *call.in[0];
  const int64_t count = call.in[1]->count;
  const int64_t width = Shape(grad).Count(1, grad.rank);
  const auto operation = static_cast<Operation>(call.attrs[0].i);
  const Scratch updates(call, count * width * static_cast<int64_t>(sizeof(T)));
  if (!updates.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, count, kRowsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const T factor = Factor<T>(sizes[ids[i]], operation);
      const T* from = Data<T>(grad) + ids[i] * width;
      for (int64_t k = 0; k < width; ++k) updates.data<T>()[i * width + k] = from[k] * factor;
    }
  }));
  T* const output = MutableData<T>(*call.out[0]);
  std::fill_n(output, call.out[0]->count, T{0});
  return UpdateRows(call, "SparseSegmentGrad", RowOperation::kAdd, grad.dtype,
                    {output, rows, count, width, updates.data<T>(), width});
}

Status SparseSegmentGrad(const KernelCall& call) {
  const Tensor& grad = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckVectors(call));
  Shape shape(grad);
  shape.dims[0] = IntAt(*call.in[3], 0);
  if (shape.dims[0] < 0) return STILLFLOW_INVALID_ARGUMENT("output_dim0 must be non-negative");
  const int64_t count = call.in[1]->count;
  const Scratch rows(call, count * 8);
  const Scratch ids(call, count * 8);
  const Scratch sizes(call, grad.dims[0] * 8);
  if (!rows.ok() || !ids.ok() || !sizes.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadIds(*call.in[2], grad.dims[0], ids.data<int64_t>(), sizes.data<int64_t>()));
  const auto size = static_cast<long long>(shape.dims[0]);
  const auto error = [size](long long, long long index) {
    return STILLFLOW_INVALID_ARGUMENT("Index %lld out of range [0, %lld).", index, size);
  };
  STILLFLOW_RETURN_IF_ERROR(ReadIndices(*call.in[1], shape.dims[0], rows.data<int64_t>(), error));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, grad.dtype, shape));
  return ForType<float, double>("SparseSegmentGrad", grad.dtype, [&](auto tag) {
    return SpreadGradient<typename decltype(tag)::type>(call, rows.data<int64_t>(), ids.data<int64_t>(),
                                                        sizes.data<int64_t>());
  });
}

}  // namespace

STILLFLOW_KERNELS(math, sparse_segment){
    {"sparse_segment", "data, indices, segment_ids | operation: " OPERATIONS, SparseSegment},
    {"sparse_segment_n", "data, indices, segment_ids, num_segments | operation: " OPERATIONS, SparseSegment},
    {"sparse_segment_grad", "grad, indices, segment_ids, output_dim0 | operation: " OPERATIONS, SparseSegmentGrad},
    {}};

}  // namespace stillflow
