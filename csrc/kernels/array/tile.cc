// tile, broadcast_to, broadcast_args: arrays repeated along their dimensions.
//
//   tile            in[0] input; in[1] multiples, int32 | int64[rank of input]; out[0] dimension i multiples[i] times
//   broadcast_to    in[0] input; in[1] shape, a vector; out[0] of that shape, dimensions of size 1 repeated
//   broadcast_args  in[0], in[1] two shapes; out[0] the shape of arrays of both broadcast against each other
#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// A tile as a copy: each dimension is read `multiple` times over, so it has two in the copy.
Status CopyRepeated(const KernelCall& call, const Shape& shape, const StridedCopy& copy) {
  const Tensor& input = *call.in[0];
  if (shape.Count() == input.count) {
    Alias(call, 0, 0, shape);
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(CopyStrided(call, copy, ElementBytes(input.dtype), input.data, call.out[0]->data));
  RetainStrings(*call.out[0]);
  return Status();
}

Status Tile(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& multiples = *call.in[1];
  if (multiples.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected multiples to be 1-D, but got shape %s", ShapeText(multiples).c_str());
  }
  if (multiples.count != input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected multiples argument to be a vector of length %d but got length %lld",
                                      input.rank, static_cast<long long>(multiples.count));
  }
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    const int64_t multiple = IntAt(multiples, i);
    if (multiple < 0) {
      return STILLFLOW_INVALID_ARGUMENT("Expected multiples[%d] >= 0, but got %lld", i,
                                        static_cast<long long>(multiple));
    }
    int64_t size = 0;
    if (__builtin_mul_overflow(input.dims[i], multiple, &size)) {
      return STILLFLOW_INVALID_ARGUMENT("Encountered overflow when multiplying %lld with %lld",
                                        static_cast<long long>(input.dims[i]), static_cast<long long>(multiple));
    }
    shape.Add(size);
  }
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckedCount(shape, &count));
  int64_t from_strides[kMaxRank];
  int64_t to_strides[kMaxRank];
  DenseStrides(Shape(input), from_strides);
  DenseStrides(shape, to_strides);
  StridedCopy copy;
  for (int i = 0; i < input.rank; ++i) {
    const int64_t multiple = input.dims[i] == 0 ? 0 : shape.dims[i] / input.dims[i];
    copy.Add(multiple, 0, input.dims[i] * to_strides[i]);
    copy.Add(input.dims[i], from_strides[i], to_strides[i]);
  }
  return CopyRepeated(call, shape, copy);
}

// Whether the tensor can be repeated to have the shape; what is to have no elements may come of anything.
Status CheckBroadcast(const Tensor& input, const Shape& shape) {
  const int offset = shape.rank - input.rank;
  if (offset < 0) {
    return STILLFLOW_INVALID_ARGUMENT("Rank of input (%d) must be no greater than rank of output shape (%d).",
                                      input.rank, shape.rank);
  }
  if (std::find(shape.dims, shape.dims + shape.rank, 0) != shape.dims + shape.rank) return Status();
  bool fits = true;
  for (int i = 0; i < input.rank; ++i) {
    const int64_t from = input.dims[i];
    const int64_t to = shape.dims[i + offset];
    if (from != to && from != 1 && to != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes: %s vs. %s", ShapeText(input).c_str(),
                                        ShapeText(shape).c_str());
    }
    fits = fits && (from == to || from == 1);
  }
  if (fits) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Unable to broadcast tensor of shape %s to tensor of shape %s",
                                    ShapeText(input).c_str(), ShapeText(shape).c_str());
}

Status BroadcastTo(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[1], &shape));
  STILLFLOW_RETURN_IF_ERROR(CheckBroadcast(input, shape));
  const int offset = shape.rank - input.rank;
  int64_t from_strides[kMaxRank];
  int64_t to_strides[kMaxRank];
  DenseStrides(Shape(input), from_strides);
  DenseStrides(shape, to_strides);
  StridedCopy copy;
  for (int i = 0; i < shape.rank; ++i) {
    const bool is_repeated = i < offset || input.dims[i - offset] == 1;
    copy.Add(shape.dims[i], is_repeated ? 0 : from_strides[i - offset], to_strides[i]);
  }
  return CopyRepeated(call, shape, copy);
}

Status BroadcastArgs(const KernelCall& call) {
  const Tensor& a = *call.in[0];
  const Tensor& b = *call.in[1];
  for (int i = 0; i < 2; ++i) {
    if (call.in[i]->rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("In[%d] must be a vector.%s", i, ShapeText(*call.in[i]).c_str());
    }
  }
  const int64_t rank = std::max(a.count, b.count);
  Shape shape;
  shape.Add(rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, a.dtype, shape));
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.count ? 1 : IntAt(a, i - (rank - a.count));
    const int64_t y = i < rank - b.count ? 1 : IntAt(b, i - (rank - b.count));
    if (x != y && x != 1 && y != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes: size %lld vs. %lld in dimension %lld",
                                        static_cast<long long>(x), static_cast<long long>(y),
                                        static_cast<long long>(i));
    }
    const int64_t size = x == 1 ? y : x;
    if (a.dtype == DType::kInt64) {
      MutableData<int64_t>(*call.out[0])[i] = size;
    } else {
      MutableData<int32_t>(*call.out[0])[i] = static_cast<int32_t>(size);
    }
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, tile){{"tile", "input, multiples", Tile},
                               {"broadcast_to", "input, shape", BroadcastTo},
                               {"broadcast_args", "s0, s1", BroadcastArgs},
                               {}};

}  // namespace stillflow
