// space_to_batch_nd, batch_to_space_nd, space_to_depth, depth_to_space, bitcast: elements in other places or of other
// types.
//
//   space_to_batch_nd  in[0] [batch, sizes..., ...]; in[1] block sizes, a vector; in[2] paddings, two for each
//                      out[0] [blocks * batch, padded sizes / blocks..., ...]: every place in a block is a batch
//   batch_to_space_nd  the other way round; in[2] is how much to crop
//   space_to_batch, batch_to_space   the same with attr block_size, for two dimensions
//   space_to_depth     in[0] [batch, height, width, depth]; attrs block_size, data_format; out[0] has blocks as depth
//   depth_to_space     the other way round
//   bitcast            in[0] any numbers; attr type; out[0] shares the bytes, as elements of that type
#include <algorithm>
#include <cstring>

#include "services/guarded.h"

namespace stillflow {
namespace {

long long Long(int64_t value) { return static_cast<long long>(value); }

// ---- Blocks and batches -------------------------------------------------------------------------------------------

struct Blocks {
  int count = 0;  // of dimensions that are cut
  int64_t sizes[kMaxRank];
  int64_t before[kMaxRank];
  int64_t after[kMaxRank];
  int64_t product = 1;
};

Status ReadMargins(const Tensor& margins, const char* name, Blocks* blocks) {
  if (margins.rank != 2 || margins.dims[0] != blocks->count || margins.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("%s should have shape [%d, 2] instead of %s", name, blocks->count,
                                      ShapeText(margins).c_str());
  }
  for (int i = 0; i < blocks->count; ++i) {
    blocks->before[i] = IntAt(margins, 2 * i);
    blocks->after[i] = IntAt(margins, 2 * i + 1);
    // Sizes are below 2^62, so that sums do not overflow.
    constexpr int64_t kMost = int64_t{1} << 61;
    if (blocks->before[i] < 0 || blocks->after[i] < 0 || blocks->before[i] > kMost || blocks->after[i] > kMost) {
      return STILLFLOW_INVALID_ARGUMENT("%s must be non-negative", name[0] == 'p' ? "Paddings" : "Crops");
    }
  }
  return Status();
}

Status AddBlock(int64_t size, Blocks* blocks) {
  if (size < 1) return STILLFLOW_INVALID_ARGUMENT("Product of block sizes must be positive, got %lld", Long(size));
  if (__builtin_mul_overflow(blocks->product, size, &blocks->product)) {
    return STILLFLOW_INVALID_ARGUMENT("Product of block sizes must be less than 2**63");
  }
  blocks->sizes[blocks->count++] = size;
  return Status();
}

Status ReadBlocks(const KernelCall& call, bool has_vector, const char* margins_name, Blocks* blocks) {
  const Tensor& input = *call.in[0];
  if (has_vector) {
    const Tensor& sizes = *call.in[1];
    if (sizes.rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("block_shape rank should be 1 instead of %d", sizes.rank);
    }
    if (input.rank < 1 + sizes.count) {
      return STILLFLOW_INVALID_ARGUMENT("input rank should be >= %lld instead of %d", Long(1 + sizes.count),
                                        input.rank);
    }
    for (int64_t i = 0; i < sizes.count; ++i) STILLFLOW_RETURN_IF_ERROR(AddBlock(IntAt(sizes, i), blocks));
  } else {
    if (input.rank != 4) {
      return STILLFLOW_INVALID_ARGUMENT("input rank should be 4 instead of %d", input.rank);
    }
    for (int i = 0; i < 2; ++i) STILLFLOW_RETURN_IF_ERROR(AddBlock(call.attrs[0].i, blocks));
  }
  return ReadMargins(*call.in[has_vector ? 2 : 1], margins_name, blocks);
}

// Copies between `cut`, in which every place in a block is a batch of its own, and `whole`.
class Copier {
 public:
  Copier(const Blocks& blocks, const Shape& whole, const Shape& cut, int64_t element_bytes)
      : blocks_(blocks), whole_(whole), cut_(cut), batch_(whole.dims[0]) {
    row_bytes_ = element_bytes * whole.Count(1 + blocks.count, whole.rank);
    cut_bytes_ = element_bytes * cut.Count(1, cut.rank);
    whole_bytes_ = element_bytes * whole.Count(1, whole.rank);
  }
  int64_t cut_bytes() const { return cut_bytes_; }

  // For batch `index` of `cut`; what lies in the margins becomes zero in it, if it is the output.
  template <bool kToCut>
  void Copy(int64_t index, char* cut, char* whole) const {
    cut += index * cut_bytes_;
    whole += index % batch_ * whole_bytes_;
    int64_t offsets[kMaxRank];
    int64_t rest = index / batch_;
    for (int i = blocks_.count - 1; i >= 0; --i) {
      offsets[i] = rest % blocks_.sizes[i] - blocks_.before[i];
      rest /= blocks_.sizes[i];
    }
    Walk<kToCut>(0, offsets, cut, whole, 0);
  }

 private:
  template <bool kToCut>
  char* Walk(int axis, const int64_t* offsets, char* cut, char* whole, int64_t place) const {
    if (axis == blocks_.count) {
      char* const at = whole + place * row_bytes_;
      if (kToCut) {
        std::memcpy(cut, at, row_bytes_);
      } else {
        std::memcpy(at, cut, row_bytes_);
      }
      return cut + row_bytes_;
    }
    const int64_t size = whole_.dims[1 + axis];
    int64_t inner = row_bytes_;
    for (int i = axis + 1; i < blocks_.count; ++i) inner *= cut_.dims[1 + i];
    for (int64_t i = 0; i < cut_.dims[1 + axis]; ++i) {
      const int64_t at = i * blocks_.sizes[axis] + offsets[axis];
      if (at >= 0 && at < size) {
        Walk<kToCut>(axis + 1, offsets, cut, whole, place * size + at);
      } else if (kToCut) {
        std::memset(cut, 0, inner);
      }
      cut += inner;
    }
    return cut;
  }

  const Blocks& blocks_;
  const Shape& whole_;
  const Shape& cut_;
  int64_t batch_, row_bytes_, cut_bytes_, whole_bytes_;
};

template <bool kToCut>
Status CopyBlocks(const KernelCall& call, const Blocks& blocks, const Shape& whole, const Shape& cut) {
  const DType dtype = call.in[0]->dtype;
  if (dtype == DType::kString || ElementBytes(dtype) == 0) return UnsupportedType("SpaceToBatchND", dtype);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, kToCut ? cut : whole));
  if (call.out[0]->count == 0) return Status();
  const Copier copier(blocks, whole, cut, ElementBytes(dtype));
  char* const in = static_cast<char*>(call.in[0]->data);
  char* const out = static_cast<char*>(call.out[0]->data);
  const int64_t chunk = std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(copier.cut_bytes(), 1));
  return ForEachChunk(call, cut.dims[0], chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      copier.Copy<kToCut>(i, kToCut ? out : in, kToCut ? in : out);
    }
  });
}

Status SpaceToBatch(const KernelCall& call, bool has_vector) {
  Blocks blocks;
  STILLFLOW_RETURN_IF_ERROR(ReadBlocks(call, has_vector, "paddings", &blocks));
  const Shape whole(*call.in[0]);
  Shape cut = whole;
  if (__builtin_mul_overflow(cut.dims[0], blocks.product, &cut.dims[0])) {
    return STILLFLOW_INVALID_ARGUMENT("Product of block sizes and batch must be less than 2**63");
  }
  for (int i = 0; i < blocks.count; ++i) {
    const int64_t padded = whole.dims[1 + i] + blocks.before[i] + blocks.after[i];
    if (padded % blocks.sizes[i] != 0) {
      return STILLFLOW_INVALID_ARGUMENT("padded_shape[%d]=%lld is not divisible by block_shape[%d]=%lld", i,
                                        Long(padded), i, Long(blocks.sizes[i]));
    }
    cut.dims[1 + i] = padded / blocks.sizes[i];
  }
  return CopyBlocks<true>(call, blocks, whole, cut);
}

Status BatchToSpace(const KernelCall& call, bool has_vector) {
  Blocks blocks;
  STILLFLOW_RETURN_IF_ERROR(ReadBlocks(call, has_vector, "crops", &blocks));
  const Shape cut(*call.in[0]);
  Shape whole = cut;
  if (cut.dims[0] % blocks.product != 0) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Input batch dimension (%lld) is not divisible by product of block sizes (%lld)", Long(cut.dims[0]),
        Long(blocks.product));
  }
  whole.dims[0] = cut.dims[0] / blocks.product;
  for (int i = 0; i < blocks.count; ++i) {
    int64_t size;
    if (__builtin_mul_overflow(cut.dims[1 + i], blocks.sizes[i], &size)) size = -1;
    size -= blocks.before[i] + blocks.after[i];
    if (size < 0) {
      return STILLFLOW_INVALID_ARGUMENT("cropped_shape[%d]=%lld must be non-negative", i, Long(size));
    }
    whole.dims[1 + i] = size;
  }
  if (whole.dims[0] == 0) return AllocateOutput(call, 0, call.in[0]->dtype, whole);
  return CopyBlocks<false>(call, blocks, whole, cut);
}

Status SpaceToBatchNd(const KernelCall& call) { return SpaceToBatch(call, true); }
Status BatchToSpaceNd(const KernelCall& call) { return BatchToSpace(call, true); }
Status SpaceToBatch2d(const KernelCall& call) { return SpaceToBatch(call, false); }
Status BatchToSpace2d(const KernelCall& call) { return BatchToSpace(call, false); }

// ---- Blocks and depth ---------------------------------------------------------------------------------------------

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
  if (input.dtype == DType::kString || ElementBytes(input.dtype) == 0) {
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

// ---- Bitcast ------------------------------------------------------------------------------------------------------

Status Bitcast(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  const int64_t from = ElementBytes(input.dtype), to = ElementBytes(dtype);
  const auto holds_bytes = [](DType type) { return type != DType::kString && type != DType::kResource; };
  if (from == 0 || to == 0 || !holds_bytes(input.dtype)) return UnsupportedType("Bitcast", input.dtype);
  if (!holds_bytes(dtype)) return UnsupportedType("Bitcast", dtype);
  Shape shape(input);
  if (from > to) {
    if (shape.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("Bitcast of a tensor of too many dimensions");
    shape.Add(from / to);
  } else if (from < to) {
    if (shape.rank == 0 || shape.dims[shape.rank - 1] != to / from) {
      return STILLFLOW_INVALID_ARGUMENT("Cannot bitcast from %s to %s: shape %s", Name(input.dtype), Name(dtype),
                                        ShapeText(input).c_str());
    }
    --shape.rank;
  }
  Alias(call, 0, 0, shape);
  call.out[0]->dtype = dtype;
  call.out[0]->count = shape.Count();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(space_blocks){{"space_to_batch_nd", "input, block_shape, paddings", Guarded<SpaceToBatchNd>},
                                {"batch_to_space_nd", "input, block_shape, crops", Guarded<BatchToSpaceNd>},
                                {"space_to_batch", "input, paddings | block_size", Guarded<SpaceToBatch2d>},
                                {"batch_to_space", "input, crops | block_size", Guarded<BatchToSpace2d>},
                                {"space_to_depth", "input | block_size, data_format", Guarded<SpaceToDepth>},
                                {"depth_to_space", "input | block_size, data_format", Guarded<DepthToSpace>},
                                {"bitcast", "input | type", Guarded<Bitcast>},
                                {}};

}  // namespace stillflow
