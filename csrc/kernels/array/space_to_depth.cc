// space_to_depth, depth_to_space: blocks of space become depth.
//
//   space_to_depth  in[0] [batch, height, width, depth]; attrs block_size, data_format; out[0] has blocks as depth
//   depth_to_space  the other way round
#include <algorithm>
#include <cstring>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

long long Long(int64_t value) { return static_cast<long long>(value); }

Status CheckDepthCall(const KernelCall& call, bool is_to_depth) {
  const auto* format = static_cast<const char*>(call.attrs[1].data);
  if (call.attrs[1].size != 4 || std::memcmp(format, "NHWC", 4) != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Only NHWC data_format supported on CPU. Got %.*s",
                                      static_cast<int>(call.attrs[1].size), format);
  }
  const Tensor& input = *call.in[0];
  if (input.rank != 4) {
    return is_to_depth ? STILLFLOW_INVALID_ARGUMENT("Input rank should be 4 instead of %d", input.rank)
                       : STILLFLOW_INVALID_ARGUMENT("Input rank should be: 4 instead of: %d", input.rank);
  }
  if (call.attrs[0].i < 2)
    return STILLFLOW_INVALID_ARGUMENT("Block size should be > 1, but was: %lld", Long(call.attrs[0].i));
  if (HasCells(input.dtype) || ElementBytes(input.dtype) == 0) {
    return UnsupportedType("SpaceToDepth", input.dtype);
  }
  return Status();
}

// Copies between deep [batch, rows, columns, block * block * depth] and wide [batch, rows * block, columns * block,
// depth]: a row of blocks of `wide` for each place.
template <bool kToDeep>
Status CopyDepth(const KernelCall& call, const Shape& deep, int64_t block, int64_t depth_bytes) {
  if (call.out[0]->count == 0) return Status();
  char* const in = static_cast<char*>(call.in[0]->data);
  char* const out = static_cast<char*>(call.out[0]->data);
  const int64_t columns = deep.dims[2];
  const int64_t strip = block * depth_bytes;  // what lies side by side in both
  const int64_t row_bytes = columns * block * strip;
  const int64_t chunk = std::max<int64_t>(1, (int64_t{1} << 16) / row_bytes);
  return ForEachChunk(call, deep.dims[0] * deep.dims[1], chunk, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      for (int64_t i = 0; i < block; ++i) {
        for (int64_t column = 0; column < columns; ++column) {
          const int64_t at_deep = row * row_bytes + (column * block + i) * strip;
          const int64_t at_wide = row * row_bytes + (i * columns + column) * strip;
          std::memcpy(out + (kToDeep ? at_deep : at_wide), in + (kToDeep ? at_wide : at_deep), strip);
        }
      }
    }
  });
}

Status SpaceToDepth(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckDepthCall(call, true));
  const int64_t block = call.attrs[0].i;
  const Tensor& input = *call.in[0];
  const int64_t height = input.dims[1], width = input.dims[2];
  if (height % block != 0 || width % block != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Image width %lld and height %lld should be divisible by block_size: %lld",
                                      Long(width), Long(height), Long(block));
  }
  Shape deep(input);
  deep.dims[1] = height / block;
  deep.dims[2] = width / block;
  int64_t depth;
  if (__builtin_mul_overflow(input.dims[3], block, &depth) || __builtin_mul_overflow(depth, block, &depth)) {
    return STILLFLOW_INVALID_ARGUMENT("Block size %lld is too large", Long(block));
  }
  deep.dims[3] = depth;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, deep));
  return CopyDepth<true>(call, deep, block, input.dims[3] * ElementBytes(input.dtype));
}

Status DepthToSpace(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckDepthCall(call, false));
  const int64_t block = call.attrs[0].i;
  const Tensor& input = *call.in[0];
  int64_t square, height, width;
  if (__builtin_mul_overflow(block, block, &square) || input.dims[3] % square != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input depth dimension %lld should be divisible by: %lld", Long(input.dims[3]),
                                      Long(block * block));
  }
  if (__builtin_mul_overflow(input.dims[1], block, &height) || __builtin_mul_overflow(input.dims[2], block, &width)) {
    return STILLFLOW_INVALID_ARGUMENT("Block size %lld is too large", Long(block));
  }
  const Shape deep(input);
  Shape wide = deep;
  wide.dims[1] = height;
  wide.dims[2] = width;
  wide.dims[3] = input.dims[3] / square;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, wide));
  return CopyDepth<false>(call, deep, block, wide.dims[3] * ElementBytes(input.dtype));
}

}  // namespace

STILLFLOW_KERNELS(array, space_to_depth){{"space_to_depth", "input | block_size, data_format", SpaceToDepth},
                                         {"depth_to_space", "input | block_size, data_format", DepthToSpace},
                                         {}};

}  // namespace stillflow
