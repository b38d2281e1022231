// split, split_v: an array cut along one dimension.
//
//   split    in[0] axis, int32 scalar; in[1] value; out[i] part i of as many equal ones as there are outputs
//   split_v  in[0] value; in[1] sizes, int32 | int64[number of outputs], one of which may be -1; in[2] axis
//
// Parts along the first dimension are views of the input where that is allowed.
#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {
namespace {

Status ReadAxis(const Tensor& input, int rank, int* axis) {
  if (input.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("split_dim must be a scalar but has rank %d", input.rank);
  }
  const int64_t value = IntAt(input, 0);
  if (value < -rank || value >= rank) {
    return STILLFLOW_INVALID_ARGUMENT("-input rank(-%d) <= split_dim < input rank (%d), but got %lld", rank, rank,
                                      static_cast<long long>(value));
  }
  *axis = static_cast<int>(value < 0 ? value + rank : value);
  return Status();
}

Status Split(const KernelCall& call) {
  const Tensor& value = *call.in[1];
  int axis = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(*call.in[0], value.rank, &axis));
  if (value.dims[axis] % call.out_count != 0) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Number of ways to split should evenly divide the split dimension, but got split_dim %d (size = %lld) "
        "and num_split %d",
        axis, static_cast<long long>(value.dims[axis]), call.out_count);
  }
  Shape shape(value);
  shape.dims[axis] /= call.out_count;
  const bool may_view = MayView(call, 1);
  for (int i = 0; i < call.out_count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(TakePart(call, 1, i, shape, axis, i * shape.dims[axis], shape.dims[axis], may_view));
  }
  return Status();
}

// Adds up the sizes and says which one, if any, is -1.
Status CheckSizes(const Tensor& sizes, int64_t whole, int64_t* rest) {
  int64_t total = 0;
  int open_count = 0;
  for (int64_t i = 0; i < sizes.count; ++i) {
    const int64_t size = IntAt(sizes, i);
    if (size == -1) {
      ++open_count;
      continue;
    }
    if (size < 0) {
      return STILLFLOW_INVALID_ARGUMENT("Split size at index %lld must be >= 0. Got: %lld", static_cast<long long>(i),
                                        static_cast<long long>(size));
    }
    if (__builtin_add_overflow(total, size, &total)) total = INT64_MAX;
  }
  if (open_count > 1) return STILLFLOW_INVALID_ARGUMENT("There can only be one -1 in the input.");
  if (open_count == 1 ? total > whole : total != whole) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
        "than the size of the input along split_dim if not fully specified.  Got: %lld",
        static_cast<long long>(total));
  }
  *rest = whole - total;
  return Status();
}

Status SplitV(const KernelCall& call) {
  const Tensor& value = *call.in[0];
  const Tensor& sizes = *call.in[1];
  if (sizes.rank != 1 || sizes.count != call.out_count) {
    return STILLFLOW_INVALID_ARGUMENT(
        "size of the split_tensor must be 1-D and have the same elements as outputs got %d -D and %lld elements",
        sizes.rank, static_cast<long long>(sizes.count));
  }
  int axis = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(*call.in[2], value.rank, &axis));
  int64_t rest = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckSizes(sizes, value.dims[axis], &rest));
  const bool may_view = MayView(call, 0);
  int64_t begin = 0;
  for (int i = 0; i < call.out_count; ++i) {
    // Sizes may lie in memory that the caller changes meanwhile: what is used is checked again.
    const int64_t given = IntAt(sizes, i);
    const int64_t left = value.dims[axis] - begin;
    const int64_t size = std::clamp<int64_t>(given == -1 ? rest : given, 0, left);
    Shape shape(value);
    shape.dims[axis] = size;
    STILLFLOW_RETURN_IF_ERROR(TakePart(call, 0, i, shape, axis, begin, size, may_view));
    begin += size;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, split){{"split", "axis, value", Split}, {"split_v", "value, sizes, axis", SplitV}, {}};

}  // namespace stillflow
