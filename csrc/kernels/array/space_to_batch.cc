// space_to_batch_nd, batch_to_space_nd, space_to_batch, batch_to_space: the places in blocks of space become batches.
//
//   space_to_batch_nd  in[0] [batch, sizes..., ...]; in[1] block sizes, a vector; in[2] paddings, two for each
//                      out[0] [blocks * batch, padded sizes / blocks..., ...]: every place in a block is a batch
//   batch_to_space_nd  the other way round; in[2] is how much to crop
//   space_to_batch, batch_to_space   the same with attr block_size, for two dimensions
#include <algorithm>
#include <cstring>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

long long Long(int64_t value) { return static_cast<long long>(value); }

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
  if (HasCells(dtype) || ElementBytes(dtype) == 0) return UnsupportedType("SpaceToBatchND", dtype);
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

}  // namespace

STILLFLOW_KERNELS(array, space_to_batch){{"space_to_batch_nd", "input, block_shape, paddings", SpaceToBatchNd},
                                         {"batch_to_space_nd", "input, block_shape, crops", BatchToSpaceNd},
                                         {"space_to_batch", "input, paddings | block_size", SpaceToBatch2d},
                                         {"batch_to_space", "input, crops | block_size", BatchToSpace2d},
                                         {}};

}  // namespace stillflow
