// reshape, quantized_reshape, expand_dims, squeeze: another shape of the same elements.
#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

// in[0] any; in[1] the new shape, in which one size may be -1; out[0] shares in[0]'s elements.
Status Reshape(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& sizes = *call.in[1];
  if (sizes.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("sizes input must be 1-D, not %s", ShapeText(sizes).c_str());
  }
  if (sizes.count > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d, but received %lld", kMaxRank,
                                      static_cast<long long>(sizes.count));
  }
  Shape shape;
  int unknown = -1;
  bool has_zero = false;
  int64_t known = 1;  // the product of the sizes given, zeros apart
  for (int64_t i = 0; i < sizes.count; ++i) {
    const int64_t size = IntAt(sizes, i);
    shape.Add(size);
    if (size == -1) {
      if (unknown >= 0) {
        return STILLFLOW_INVALID_ARGUMENT("Only one input size may be -1, not both %d and %lld", unknown,
                                          static_cast<long long>(i));
      }
      unknown = static_cast<int>(i);
      shape.dims[i] = 1;
    } else if (size < 0) {
      return STILLFLOW_INVALID_ARGUMENT("Size %lld must be non-negative, not %lld", static_cast<long long>(i),
                                        static_cast<long long>(size));
    } else if (size == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(known, size, &known)) {
      return STILLFLOW_INVALID_ARGUMENT("Shape %s has too many elements", ShapeText(shape).c_str());
    }
  }
  if (unknown >= 0) {
    // With a zero among the sizes, the unknown one is what is left of the dimensions that are none.
    int64_t whole = input.count;
    if (has_zero) {
      whole = 1;
      for (int i = 0; i < input.rank; ++i) whole *= input.dims[i] > 0 ? input.dims[i] : 1;
    }
    shape.dims[unknown] = whole / known;
    if (shape.dims[unknown] * known != whole) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Input to reshape is a tensor with %lld values, but the requested shape requires a multiple of %lld",
          static_cast<long long>(input.count), static_cast<long long>(known));
    }
    known = whole;
  }
  if (has_zero) known = 0;
  if (known != input.count) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Input to reshape is a tensor with %lld values, but the requested shape has %lld",
        static_cast<long long>(input.count), static_cast<long long>(known));
  }
  Alias(call, 0, 0, shape);
  return Status();
}

// in[0], in[1], out[0] as above; in[2], in[3] what the least and largest integer stand for, single floats; out[1],
// out[2] the same as scalars.
Status QuantizedReshape(const KernelCall& call) {
  for (int i = 2; i < 4; ++i) {
    if (call.in[i]->count != 1) {
      return STILLFLOW_INVALID_ARGUMENT("The range of a quantized tensor must be scalars, not of shape %s",
                                        ShapeText(*call.in[i]).c_str());
    }
  }
  STILLFLOW_RETURN_IF_ERROR(Reshape(call));
  Alias(call, 2, 1, Shape());
  Alias(call, 3, 2, Shape());
  return Status();
}

// in[0] any; in[1] an axis of the output; out[0] with a dimension of size 1 there.
Status ExpandDims(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (call.in[1]->count != 1) return STILLFLOW_INVALID_ARGUMENT("'dim' must be a tensor with a single value");
  const int64_t axis = IntAt(*call.in[1], 0);
  if (axis < -input.rank - 1 || axis > input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Tried to expand dim index %lld for tensor with %d dimensions.",
                                      static_cast<long long>(axis), input.rank);
  }
  if (input.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  const int64_t at = axis < 0 ? axis + input.rank + 1 : axis;
  Shape shape;
  for (int i = 0; i <= input.rank; ++i) shape.Add(i == at ? 1 : input.dims[i < at ? i : i - 1]);
  Alias(call, 0, 0, shape);
  return Status();
}

// in[0] any; attr 0 the axes to leave out, all of size 1; out[0] without them, or without all axes of size 1 if
// none is given.
Status Squeeze(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Attr& axes = call.attrs[0];
  uint32_t chosen = 0;
  for (int64_t i = 0; i < axes.size; ++i) {
    const int64_t axis = static_cast<const int64_t*>(axes.data)[i];
    if (axis < -input.rank || axis >= input.rank) {
      return STILLFLOW_INVALID_ARGUMENT("Tried to squeeze dim index %lld for tensor with %d dimensions.",
                                        static_cast<long long>(axis), input.rank);
    }
    const int at = static_cast<int>(axis < 0 ? axis + input.rank : axis);
    if (input.dims[at] != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Can not squeeze dim[%d], expected a dimension of 1, got %lld", at,
                                        static_cast<long long>(input.dims[at]));
    }
    chosen |= uint32_t{1} << at;
  }
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    const bool is_left_out = axes.size > 0 ? (chosen >> i & 1) != 0 : input.dims[i] == 1;
    if (!is_left_out) shape.Add(input.dims[i]);
  }
  Alias(call, 0, 0, shape);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, reshape){{"reshape", "input, shape", Reshape},
                                  {"quantized_reshape", "tensor, shape, input_min, input_max", QuantizedReshape},
                                  {"expand_dims", "input, axis", ExpandDims},
                                  {"squeeze", "input | axes", Squeeze},
                                  {}};

}  // namespace stillflow
