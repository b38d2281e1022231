// quantized_relu, quantized_relu6, quantized_relu_x: integers that stand for numbers from 0 (to 6, to max_value).
//
//   in[0]  quint8 | qint32; then of relu_x a float, max_value; then what the least and the largest integer stand for
//   out[0] of the same type; out[1], out[2] the range as it is
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

template <typename T>
Status Bound(const KernelCall& call, T low, T high) {
  const T* const from = Data<T>(*call.in[0]);
  T* const to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->count, kQuantizedPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) to[i] = std::min(std::max(from[i], low), high);
  });
}

enum Kind { kRelu, kRelu6, kReluX };

template <Kind kKind>
Status Relu(const KernelCall& call) {
  const Tensor& features = *call.in[0];
  NumberRange range;
  float most = 6.0f;
  if (kKind == kReluX) STILLFLOW_RETURN_IF_ERROR(ReadFloat(call, 1, "max_value", &most));
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, kKind == kReluX ? 2 : 1, &range));
  if (static_cast<DType>(call.attrs[0].i) != features.dtype) {
    return UnsupportedType("QuantizedRelu", static_cast<DType>(call.attrs[0].i));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, features.dtype, Shape(features)));
  STILLFLOW_RETURN_IF_ERROR((ForQuantizedType<uint8_t, int32_t>("QuantizedRelu", features.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T highest = kKind == kRelu ? std::numeric_limits<T>::max() : CodeOf<T>(most, range);
    return Bound<T>(call, CodeOf<T>(0.0f, range), highest);
  })));
  return OutputRange(call, 1, range);
}

}  // namespace

STILLFLOW_KERNELS(quantized, activation){
    {"quantized_relu", "features, min_features, max_features | out_type", Relu<kRelu>},
    {"quantized_relu6", "features, min_features, max_features | out_type", Relu<kRelu6>},
    {"quantized_relu_x", "features, max_value, min_features, max_features | out_type", Relu<kReluX>},
    {}};

}  // namespace stillflow
