// bias_add: a number for each channel is added; rows of the last axis (NHWC) or planes of axis 1 (NCHW).
//
//   in[0]  value   numbers, two or more dimensions
//   in[1]  bias    the same type, [channels]
//   out[0] the value's shape
//   attrs  data_format
//
// The gradient with respect to the bias is a reduction: see math/reduction.cc.
#include <algorithm>

#include "arithmetic/elementwise/tile.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;

// The value seen as [outer, channels, inner].
Status AddBias(const KernelCall& call, const TileOp& add, int64_t channels, int64_t inner) {
  const int64_t bytes = ElementBytes(call.in[0]->dtype);
  const char* const value = Data<char>(*call.in[0]);
  const char* const bias = Data<char>(*call.in[1]);
  char* const to = MutableData<char>(*call.out[0]);
  // Rows of a bias for each element, or planes with one for all.
  const int64_t width = inner == 1 ? channels : inner;
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / width, 1);
  return ForEachChunk(call, call.in[0]->count / width, rows_per_chunk, [&](Range range) {
    TileCall tile = {};
    tile.count = width;
    tile.scalars = inner == 1 ? 0 : 2;
    for (int64_t row = range.begin; row < range.end; ++row) {
      tile.in[0] = value + row * width * bytes;
      tile.in[1] = bias + (inner == 1 ? 0 : row % channels * bytes);
      tile.out = to + row * width * bytes;
      RunTileOp(add, tile);
    }
  });
}

Status BiasAdd(const KernelCall& call) {
  const Tensor& value = *call.in[0];
  const Tensor& bias = *call.in[1];
  const bool is_nchw = call.attrs[0].i == 1;
  if (value.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input tensor must be at least 2D: %s", ShapeText(value).c_str());
  }
  if (bias.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Biases must be 1D: %s", ShapeText(bias).c_str());
  const int axis = is_nchw ? 1 : value.rank - 1;
  if (bias.dims[0] != value.dims[axis]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Must provide as many biases as the %s dimension of the input tensor: %s vs. %s",
        is_nchw ? "channel" : "last", ShapeText(bias).c_str(), ShapeText(value).c_str());
  }
  const Shape shape(value);
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, value.dtype, shape));
  if (value.count == 0) return Status();
  const TileOp* const add = FindTileOp("add", value.dtype, value.dtype);
  if (add == nullptr) return UnsupportedType("BiasAdd", value.dtype);
  return AddBias(call, *add, shape.dims[axis], shape.Count(axis + 1, shape.rank));
}

}  // namespace

STILLFLOW_KERNELS(nn, bias_add){{"bias_add", "value, bias | data_format: NHWC NCHW", BiasAdd}, {}};

}  // namespace stillflow
