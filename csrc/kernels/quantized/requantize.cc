// requantize, requantization_range, quantize_down_and_shrink_range: integers of 32 bits as ones of 8.
//
//   in[0]  qint32 integers; in[1], in[2] what the least and the largest stand for
//   in[3], in[4]  of requantize: what those of the result shall stand for
//   out    quint8 integers, and the numbers that the least and the largest stand for; of requantization_range these
//          alone: between what numbers the integers are
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

// In fixed point of 16 bits, as TensorFlow does it.
Status ToBytes(const KernelCall& call, NumberRange from, NumberRange to) {
  constexpr double kOne = 65536.0;
  const float width = from.high - from.low;
  const float new_width = to.high - to.low;
  const float middle = static_cast<float>(static_cast<double>(from.low + from.high) / 2.0);
  const bool is_nothing = new_width == 0.0f;
  const float inverse = is_nothing ? 0.0f : static_cast<float>(255.0 / static_cast<double>(new_width));
  const int64_t scale =
      is_nothing ? 0 : CutOff(255.0 * kOne * static_cast<double>(width) / static_cast<double>(new_width));
  const int64_t offset = CutOff(static_cast<double>(middle * inverse * static_cast<float>(kOne)));
  const int64_t new_offset =
      is_nothing ? 0 : CutOff(kOne * (static_cast<double>(to.low) * 255.0) / static_cast<double>(new_width));
  constexpr int64_t kHalf = int64_t{1} << 15;
  const auto shift = static_cast<uint64_t>(offset) - static_cast<uint64_t>(new_offset) + static_cast<uint64_t>(kHalf);
  const auto* codes = Data<int32_t>(*call.in[0]);
  auto* bytes = MutableData<uint8_t>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->count, kQuantizedPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const auto product =
          static_cast<int64_t>(static_cast<uint64_t>(int64_t{codes[i]}) * static_cast<uint64_t>(scale));
      const auto sum = static_cast<int64_t>(static_cast<uint64_t>(product >> 32) + shift);
      bytes[i] = static_cast<uint8_t>(std::clamp<int64_t>(sum >> 16, 0, 255));
    }
  });
}

Status CheckTypes(const KernelCall& call, const char* kernel, int attr) {
  if (call.in[0]->dtype != DType::kQInt32) return UnsupportedType(kernel, call.in[0]->dtype);
  const auto dtype = attr < 0 ? DType::kQUInt8 : static_cast<DType>(call.attrs[attr].i);
  return dtype == DType::kQUInt8 ? Status() : UnsupportedType(kernel, dtype);
}

NumberRange RangeUsed(const Tensor& codes, NumberRange range) {
  int32_t least = std::numeric_limits<int32_t>::max();
  int32_t largest = std::numeric_limits<int32_t>::min();
  for (int64_t i = 0; i < codes.count; ++i) {
    least = std::min(least, Data<int32_t>(codes)[i]);
    largest = std::max(largest, Data<int32_t>(codes)[i]);
  }
  return {std::min(0.0f, NumberOfCode(least, range)), NumberOfCode(largest, range)};
}

Status Requantize(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, "Requantize", 0));
  NumberRange from, to;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 1, &from));
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 3, &to));
  if (!(to.low <= 0)) {
    return STILLFLOW_INVALID_ARGUMENT("requested_output_min must be <= 0, but got %g", static_cast<double>(to.low));
  }
  if (!(to.high >= to.low)) {
    return STILLFLOW_INVALID_ARGUMENT("requested_output_max must be >= requested_output_min, but got %g and %g",
                                      static_cast<double>(to.high), static_cast<double>(to.low));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQUInt8, Shape(*call.in[0])));
  STILLFLOW_RETURN_IF_ERROR(ToBytes(call, from, to));
  return OutputRange(call, 1, to);
}

Status RequantizationRange(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, "RequantizationRange", -1));
  NumberRange range;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 1, &range));
  return OutputRange(call, 0, RangeUsed(*call.in[0], range));
}

Status QuantizeDownAndShrinkRange(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, "QuantizeDownAndShrinkRange", 0));
  NumberRange range;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 1, &range));
  const NumberRange used = RangeUsed(*call.in[0], range);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQUInt8, Shape(*call.in[0])));
  STILLFLOW_RETURN_IF_ERROR(ToBytes(call, range, used));
  return OutputRange(call, 1, used);
}

}  // namespace

STILLFLOW_KERNELS(quantized, requantize){
    {"requantize", "input, input_min, input_max, requested_output_min, requested_output_max | out_type", Requantize},
    {"requantization_range", "input, input_min, input_max", RequantizationRange},
    {"quantize_down_and_shrink_range", "input, input_min, input_max | out_type", QuantizeDownAndShrinkRange},
    {}};

}  // namespace stillflow
