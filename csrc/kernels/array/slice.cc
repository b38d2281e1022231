// slice: the part of an array that begins at one place and has one size.
//
//   in[0]   input  any shape
//   in[1]   begin  int32 | int64[rank of input]
//   in[2]   size   likewise; -1 takes all that is left
//   out[0]         the part; a view of the input where it is one run and that is allowed
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

Status Slice(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& begin = *call.in[1];
  const Tensor& size = *call.in[2];
  if (begin.rank != 1 || size.rank != 1 || begin.count != input.rank || size.count != input.rank) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Expected begin and size arguments to be 1-D tensors of size %d, but got shapes %s and %s instead.",
        input.rank, ShapeText(begin).c_str(), ShapeText(size).c_str());
  }
  Shape shape;
  int64_t strides[kMaxRank];
  DenseStrides(Shape(input), strides);
  int64_t offset = 0;
  for (int i = 0; i < input.rank; ++i) {
    const int64_t first = IntAt(begin, i);
    const int64_t asked = IntAt(size, i);
    if (first < 0 || first > input.dims[i]) {
      return STILLFLOW_INVALID_ARGUMENT("Expected begin[%d] in [0, %lld], but got %lld", i,
                                        static_cast<long long>(input.dims[i]), static_cast<long long>(first));
    }
    const int64_t left = input.dims[i] - first;
    const int64_t count = asked == -1 ? left : asked;
    if (count < 0 || count > left) {
      return STILLFLOW_INVALID_ARGUMENT("Expected size[%d] in [0, %lld], but got %lld", i,
                                        static_cast<long long>(left), static_cast<long long>(count));
    }
    shape.Add(count);
    offset += first * strides[i];
  }
  return TakeStrided(call, 0, 0, shape, offset, strides);
}

}  // namespace

STILLFLOW_KERNELS(array, slice){{"slice", "input, begin, size", Slice}, {}};

}  // namespace stillflow
