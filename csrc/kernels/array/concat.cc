// concat, concat_v2, concat_rows: arrays joined along one dimension.
//
//   concat       in[0] axis, int32 | int64 scalar; in[1...] values, equal in all dimensions but the axis
//   concat_v2    in[0...] values; in[last] axis
//   concat_rows  in[0...] values, joined along dimension 0
//   out[0]       the values side by side
//
// The output is cut into pieces of bytes; every byte has one writer.
#include <algorithm>

#include "memory/interleave.h"
#include "memory/run_writer.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 128 << 10;

// Which inputs are to be joined.
struct Values {
  int begin;
  int end;
};

// Copies bytes [range.begin, range.end) of rows that are put together from all values; of each row, value k
// gives its size along the axis times `inner_bytes`.
void CopyRows(const KernelCall& call, Values values, int axis, int64_t inner_bytes, int64_t row_bytes, Range range) {
  RunWriter writer(MutableData<char>(*call.out[0]) + range.begin, IsStreamed(*call.out[0]));
  int64_t skip = range.begin % row_bytes;  // of the first row
  int64_t left = range.end - range.begin;
  for (int64_t row = range.begin / row_bytes; left > 0; ++row) {
    for (int k = values.begin; k < values.end && left > 0; ++k) {
      const int64_t part_bytes = call.in[k]->dims[axis] * inner_bytes;
      if (skip >= part_bytes) {
        skip -= part_bytes;
        continue;
      }
      const int64_t bytes = std::min(part_bytes - skip, left);
      writer.AppendNext(Data<char>(*call.in[k]) + row * part_bytes + skip, bytes);
      left -= bytes;
      skip = 0;
    }
  }
  writer.Finish();
}

Status CheckValues(const KernelCall& call, Values values, int axis) {
  const Tensor& expected = *call.in[values.begin];
  for (int i = values.begin; i < values.end; ++i) {
    const Tensor& value = *call.in[i];
    if (value.rank != expected.rank) {
      return STILLFLOW_INVALID_ARGUMENT(
          "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] = %s",
          ShapeText(expected).c_str(), i - values.begin, ShapeText(value).c_str());
    }
    for (int k = 0; k < value.rank; ++k) {
      if (k == axis || value.dims[k] == expected.dims[k]) continue;
      return STILLFLOW_INVALID_ARGUMENT(
          "ConcatOp : Dimensions of inputs should match: shape[0] = %s vs. shape[%d] = %s",
          ShapeText(expected).c_str(), i - values.begin, ShapeText(value).c_str());
    }
  }
  return Status();
}

Status Join(const KernelCall& call, Values values, int axis) {
  STILLFLOW_RETURN_IF_ERROR(CheckValues(call, values, axis));
  const Tensor& front = *call.in[values.begin];
  Shape shape(front);
  shape.dims[axis] = 0;
  int only = -1;  // the one value with elements, if there is just one
  for (int i = values.begin; i < values.end; ++i) {
    const Tensor& value = *call.in[i];
    if (__builtin_add_overflow(shape.dims[axis], value.dims[axis], &shape.dims[axis])) {
      return STILLFLOW_INVALID_ARGUMENT("ConcatOp : the sizes along the axis overflow");
    }
    if (value.count > 0) only = only == -1 ? i : -2;
  }
  if (only >= 0) {
    Alias(call, only, 0, shape);
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, front.dtype, shape));
  if (only == -1) return Status();

  const int64_t inner_bytes = shape.Count(axis + 1, shape.rank) * ElementBytes(front.dtype);
  const int64_t row_bytes = shape.dims[axis] * inner_bytes;
  const int64_t rows = shape.Count(0, axis);
  const int count = values.end - values.begin;
  const bool is_streamed = IsStreamed(*call.out[0]);
  if (rows > 1 && AreInterleaved(count, row_bytes, is_streamed)) {
    const auto part = [&](int k) {
      const Tensor& value = *call.in[values.begin + k];
      return RowPart{Data<char>(value), value.dims[axis] * inner_bytes};
    };
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, rows, kBytesPerChunk / row_bytes + 1, [&](Range range) {
      InterleaveParts(count, part, row_bytes, range, MutableData<char>(*call.out[0]));
    }));
    RetainStrings(*call.out[0]);
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, rows * row_bytes, kBytesPerChunk, [&](Range range) {
    CopyRows(call, values, axis, inner_bytes, row_bytes, range);
  }));
  RetainStrings(*call.out[0]);
  return Status();
}

Status JoinAlong(const KernelCall& call, const Tensor& axis_input, Values values) {
  if (axis_input.count != 1 || axis_input.rank > 0) {
    return STILLFLOW_INVALID_ARGUMENT("axis tensor should be a scalar integer, but got shape %s",
                                      ShapeText(axis_input).c_str());
  }
  const int64_t axis = IntAt(axis_input, 0);
  const int rank = call.in[values.begin]->rank;
  if (axis < -rank || axis >= rank) {
    return STILLFLOW_INVALID_ARGUMENT(
        "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %lld", -rank, rank,
        static_cast<long long>(axis));
  }
  return Join(call, values, static_cast<int>(axis < 0 ? axis + rank : axis));
}

Status Concat(const KernelCall& call) { return JoinAlong(call, *call.in[0], {1, call.in_count}); }

Status ConcatV2(const KernelCall& call) {
  return JoinAlong(call, *call.in[call.in_count - 1], {0, call.in_count - 1});
}

Status ConcatRows(const KernelCall& call) {
  if (call.in[0]->rank == 0) return STILLFLOW_INVALID_ARGUMENT("values must be at least 1-D");
  return Join(call, {0, call.in_count}, 0);
}

}  // namespace

STILLFLOW_KERNELS(array, concat){{"concat", "axis, values...", Concat},
                                 {"concat_v2", "values..., axis", ConcatV2},
                                 {"concat_rows", "values...", ConcatRows},
                                 {}};

}  // namespace stillflow
