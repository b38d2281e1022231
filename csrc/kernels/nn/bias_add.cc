// bias_add: a number for each channel is added; rows of the last axis (NHWC) or planes of axis 1 (NCHW).
//
//   in[0]  value   numbers, two or more dimensions
//   in[1]  bias    the same type, [channels]
//   out[0] the value's shape
//   attrs  data_format: "NCHW", or anything else for NHWC
//
// The gradient with respect to the bias is a reduction: see reduce.cc.
#include <algorithm>

#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;

template <typename T>
T Plus(T a, T b) {
  if constexpr (kIsFloating<T>) {
    return Narrow<T>(Widen(a) + Widen(b));
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

// The value seen as [outer, channels, inner].
template <typename T>
Status AddBias(const KernelCall& call, int64_t channels, int64_t inner) {
  const T* value = Data<T>(*call.in[0]);
  const T* bias = Data<T>(*call.in[1]);
  T* to = MutableData<T>(*call.out[0]);
  const int64_t count = call.in[0]->count;
  if (inner == 1) {
    const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / channels, 1);
    return ForEachChunk(call, count / channels, rows_per_chunk, [&](Range range) {
      for (int64_t i = range.begin * channels; i < range.end * channels; i += channels) {
        for (int64_t j = 0; j < channels; ++j) to[i + j] = Plus(value[i + j], bias[j]);
      }
    });
  }
  const int64_t planes_per_chunk = std::max<int64_t>(kElementsPerChunk / inner, 1);
  return ForEachChunk(call, count / inner, planes_per_chunk, [&](Range range) {
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T added = bias[plane % channels];
      for (int64_t i = plane * inner; i < (plane + 1) * inner; ++i) to[i] = Plus(value[i], added);
    }
  });
}

Status BiasAdd(const KernelCall& call) {
  const Tensor& value = *call.in[0];
  const Tensor& bias = *call.in[1];
  const bool is_nchw = call.attrs[0].size == 4 && std::memcmp(call.attrs[0].data, "NCHW", 4) == 0;
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
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, uint16_t, int8_t, uint8_t>(
      "BiasAdd", value.dtype, [&](auto tag) {
        return AddBias<typename decltype(tag)::type>(call, shape.dims[axis], shape.Count(axis + 1, shape.rank));
      });
}

}  // namespace

STILLFLOW_KERNELS(nn, bias_add){{"bias_add", "value, bias | data_format", BiasAdd}, {}};

}  // namespace stillflow
