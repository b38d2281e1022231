// gather_tree: the beams of a beam search, each followed back from its end.
//
//   in[0] step_ids    int32[time, batch, beam]
//   in[1] parent_ids  int32[time, batch, beam], which beam of the step before each one goes on from
//   in[2] lengths     int32[batch], the number of steps of the longest beam
//   in[3] end_token   int32, which stands for all that comes after it
//   out[0]            int32[time, batch, beam]
//
// Every beam has one writer. Of several bad parents that of the first beam is reported.
#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kStepsPerChunk = 16384;

struct Beams {
  int64_t steps;
  int64_t batch;
  int64_t width;
  const int32_t* symbols;
  const int32_t* parents;
  const int32_t* lengths;
  int32_t end_token;
  int32_t* out;

  int64_t Place(int64_t step, int64_t row, int64_t beam) const { return (step * batch + row) * width + beam; }
  int64_t Length(int64_t row) const { return std::min<int64_t>(steps, lengths[row]); }
};

Status CheckInputs(const KernelCall& call) {
  const Tensor& symbols = *call.in[0];
  const Tensor& lengths = *call.in[2];
  if (symbols.rank != 3) {
    return STILLFLOW_INVALID_ARGUMENT("step_ids must be a 3-tensor, saw shape: %s", ShapeText(symbols).c_str());
  }
  if (lengths.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("max_sequence_lengths must be a vector, saw shape: %s",
                                      ShapeText(lengths).c_str());
  }
  if (call.in[3]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("end_token must be a scalar, saw shape: %s", ShapeText(*call.in[3]).c_str());
  }
  if (!(Shape(symbols) == Shape(*call.in[1]))) {
    return STILLFLOW_INVALID_ARGUMENT("step_ids.shape must match parent_ids.shape.  but shapes are: %s and %s",
                                      ShapeText(symbols).c_str(), ShapeText(*call.in[1]).c_str());
  }
  if (symbols.dims[1] != lengths.count) {
    return STILLFLOW_INVALID_ARGUMENT(
        "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match.  "
        "but shapes are: %s and %s",
        ShapeText(symbols).c_str(), ShapeText(lengths).c_str());
  }
  return Status();
}

// Writes one beam, from its last step back to the first.
Status Follow(const Beams& beams, int64_t row, int64_t beam) {
  const int64_t length = beams.Length(row);
  int64_t parent = beam;
  for (int64_t step = length - 1; step >= 0; --step) {
    if (parent < 0 || parent >= beams.width) {
      return STILLFLOW_INVALID_ARGUMENT("Saw invalid parent id %lld at (batch, time, beam) == (%lld, %lld, %lld)",
                                        static_cast<long long>(parent), static_cast<long long>(row),
                                        static_cast<long long>(step), static_cast<long long>(beam));
    }
    const int64_t from = beams.Place(step, row, parent);
    beams.out[beams.Place(step, row, beam)] = beams.symbols[from];
    parent = beams.parents[from];
  }
  bool has_ended = false;
  for (int64_t step = 0; step < beams.steps; ++step) {
    int32_t& symbol = beams.out[beams.Place(step, row, beam)];
    if (has_ended || step >= length) symbol = beams.end_token;
    has_ended = has_ended || symbol == beams.end_token;
  }
  return Status();
}

Status GatherTree(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  const Tensor& symbols = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, symbols.dtype, Shape(symbols)));
  const Beams beams = {symbols.dims[0],
                       symbols.dims[1],
                       symbols.dims[2],
                       Data<int32_t>(symbols),
                       Data<int32_t>(*call.in[1]),
                       Data<int32_t>(*call.in[2]),
                       Data<int32_t>(*call.in[3])[0],
                       MutableData<int32_t>(*call.out[0])};
  const int64_t per_chunk = std::max<int64_t>(1, kStepsPerChunk / std::max<int64_t>(1, beams.steps));
  return ForEachChunk(call, beams.batch * beams.width, per_chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      STILLFLOW_RETURN_IF_ERROR(Follow(beams, i / beams.width, i % beams.width));
    }
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, gather_tree){
    {"gather_tree", "step_ids, parent_ids, max_sequence_lengths, end_token", GatherTree}, {}};

}  // namespace stillflow
