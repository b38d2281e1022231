// compare_and_bitpack: eight comparisons of the last dimension as the bits of a byte, the first the highest.
//
//   in[0] an array, in[1] a scalar threshold; out[0] uint8: whether elements are greater
#include "arithmetic/math/element.h"

namespace stillflow {
namespace {

Status CompareAndBitpack(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& threshold = *call.in[1];
  if (input.rank < 1) return STILLFLOW_INVALID_ARGUMENT("Input should be at least a vector, but saw a scalar.");
  if (threshold.rank != 0)
    return STILLFLOW_INVALID_ARGUMENT("Compare must be a scalar, but saw shape: %s", ShapeText(threshold).c_str());
  Shape shape(input);
  int64_t& last = shape.dims[shape.rank - 1];
  if (last % 8 != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Inner dimension of input should be divisible by 8, but saw shape: %s",
                                      ShapeText(input).c_str());
  }
  last /= 8;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kUInt8, shape));
  const auto pack = [&](const auto* values, auto limit, const auto& is_greater) {
    uint8_t* to = MutableData<uint8_t>(*call.out[0]);
    for (int64_t i = 0; i < input.count / 8; ++i) {
      uint8_t bits = 0;
      for (int k = 0; k < 8; ++k)
        bits = static_cast<uint8_t>(bits << 1 | (is_greater(values[8 * i + k], limit) ? 1 : 0));
      to[i] = bits;
    }
    return Status();
  };
  if (input.dtype == DType::kBool) {  // where all but false is greater
    return pack(Data<bool>(input), false, [](bool value, bool) { return value; });
  }
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, Half>(
      "CompareAndBitpack", input.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        using E = ElementArithmetic<T>;
        const T* values = Data<T>(input);
        return pack(values, Data<T>(threshold)[0], [](T value, T limit) { return E::Load(value) > E::Load(limit); });
      });
}

}  // namespace

STILLFLOW_KERNELS(math, compare_and_bitpack){{"compare_and_bitpack", "input, threshold", CompareAndBitpack}, {}};

}  // namespace stillflow
