// pack, unpack: arrays of one shape stacked along a new dimension, and unstacked.
//
//   pack    in[0...] values of one shape; out[0] with a new dimension at `axis`, as many as there are values
//   unpack  in[0] value; out[i] its part i along `axis`
#include <algorithm>

#include "kernel_api/element_width.h"
#include "memory/interleave.h"
#include "memory/run_writer.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 128 << 10;

// Values of one element each, the usual case of shapes.
Status PackScalars(const KernelCall& call, DType dtype) {
  STILLFLOW_RETURN_IF_ERROR(ForWidth("Pack", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = MutableData<T>(*call.out[0]);
    for (int i = 0; i < call.in_count; ++i) to[i] = *Data<T>(*call.in[i]);
    return Status();
  }));
  RetainStrings(*call.out[0]);
  return Status();
}

Status Pack(const KernelCall& call) {
  const Tensor& front = *call.in[0];
  const int rank = front.rank + 1;
  const int64_t axis = call.attrs[0].i < 0 ? call.attrs[0].i + rank : call.attrs[0].i;
  if (axis < 0 || axis >= rank) {
    return STILLFLOW_INVALID_ARGUMENT("axis = %lld not in [%d, %d)", static_cast<long long>(call.attrs[0].i), -rank,
                                      rank);
  }
  if (rank > kMaxRank) return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  for (int i = 1; i < call.in_count; ++i) {
    if (!(Shape(*call.in[i]) == Shape(front))) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Shapes of all inputs must match: values[0].shape = %s != values[%d].shape = %s", ShapeText(front).c_str(),
          i, ShapeText(*call.in[i]).c_str());
    }
  }
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.Add(i < axis ? front.dims[i] : i == axis ? call.in_count : front.dims[i - 1]);
  if (call.in_count == 1) {
    Alias(call, 0, 0, shape);
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, front.dtype, shape));
  if (front.count == 1) return PackScalars(call, front.dtype);

  // One run of each value in turn, row after row.
  const int64_t run_bytes = shape.Count(static_cast<int>(axis) + 1, rank) * ElementBytes(front.dtype);
  const int64_t runs = shape.Count(0, static_cast<int>(axis)) * call.in_count;
  if (run_bytes == 0) return Status();
  const int64_t row_bytes = run_bytes * call.in_count;
  const bool is_streamed = IsStreamed(*call.out[0]);
  char* to = MutableData<char>(*call.out[0]);
  if (runs == call.in_count && run_bytes > kBytesPerChunk) {
    for (int i = 0; i < call.in_count; ++i) {
      STILLFLOW_RETURN_IF_ERROR(CopyRun(call, run_bytes, call.in[i]->data, to + i * run_bytes));
    }
  } else if (AreInterleaved(call.in_count, row_bytes, is_streamed)) {
    const auto run = [&](int k) { return RowPart{Data<char>(*call.in[k]), run_bytes}; };
    STILLFLOW_RETURN_IF_ERROR(
        ForEachChunk(call, runs / call.in_count, kBytesPerChunk / row_bytes + 1,
                     [&](Range rows) { InterleaveParts(call.in_count, run, row_bytes, rows, to); }));
  } else {
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, runs, kBytesPerChunk / run_bytes + 1, [&](Range range) {
      int64_t row = range.begin / call.in_count;
      int value = static_cast<int>(range.begin % call.in_count);
      RunWriter writer(to + range.begin * run_bytes, is_streamed);
      for (int64_t i = range.begin; i < range.end; ++i) {
        writer.AppendNext(Data<char>(*call.in[value]) + row * run_bytes, run_bytes);
        if (++value == call.in_count) {
          value = 0;
          ++row;
        }
      }
      writer.Finish();
    }));
  }
  RetainStrings(*call.out[0]);
  return Status();
}

Status Unpack(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const int64_t axis = call.attrs[0].i < 0 ? call.attrs[0].i + input.rank : call.attrs[0].i;
  if (axis < 0 || axis >= input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("axis = %lld not in [%d, %d)", static_cast<long long>(call.attrs[0].i),
                                      -input.rank, input.rank);
  }
  if (input.dims[axis] != call.out_count) {
    return STILLFLOW_INVALID_ARGUMENT("Input shape axis %lld must equal %d, got shape %s",
                                      static_cast<long long>(axis), call.out_count, ShapeText(input).c_str());
  }
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    if (i != axis) shape.Add(input.dims[i]);
  }
  const bool may_view = MayView(call, 0);
  for (int i = 0; i < call.out_count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(TakePart(call, 0, i, shape, static_cast<int>(axis), i, 1, may_view));
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, pack){{"pack", "values... | axis", Pack}, {"unpack", "value | axis", Unpack}, {}};

}  // namespace stillflow
