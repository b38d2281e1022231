// quantize, dequantize: floats as integers of few bits, and back.
//
//   quantize    in[0] float numbers, in[1], in[2] the least and the largest that are told apart; out[0] integers,
//               out[1], out[2] what the least and the largest of these stand for; attrs T, mode, round_mode
//   dequantize  in[0] integers, in[1], in[2] what the least and the largest stand for; out[0] float; attrs mode
//
// Modes: "MIN_COMBINED" spreads the range over all integers; "MIN_FIRST" in such a way that zero is one of them;
// "SCALED" multiplies alone.
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

enum Mode { kMinCombined, kMinFirst, kScaled };

Mode ModeOf(const Attr& attr) {
  const auto* text = static_cast<const char*>(attr.data);
  return text[0] == 'S' ? kScaled : attr.size == 9 ? kMinFirst : kMinCombined;
}

template <typename T>
constexpr bool kIsSigned = std::is_signed_v<T>;

// Half of all codes, where the least is negative.
template <typename T>
constexpr float HalfOfCodes() {
  return kIsSigned<T> ? static_cast<float>(kCodes<T> / 2) : 0.0f;
}

template <typename T, typename Convert>
Status QuantizeAll(const KernelCall& call, const Convert& convert) {
  const float* const from = Data<float>(*call.in[0]);
  T* const to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->count, kQuantizedPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) to[i] = convert(from[i]);
  });
}

float Bounded(float x, NumberRange range) {
  const float below = range.high < x ? range.high : x;
  return below < range.low ? range.low : below;
}

template <typename T>
Status MinCombined(const KernelCall& call, NumberRange range) {
  const auto codes = static_cast<double>(kHighestCode<T>) - static_cast<double>(kLowestCode<T>);
  const auto scale = static_cast<float>(codes / static_cast<double>(range.high - range.low));
  return QuantizeAll<T>(call, [=](float x) {
    const float steps = (Bounded(x, range) - range.low) * scale;
    return static_cast<T>(CutOff(kIsSigned<T> ? std::round(steps - HalfOfCodes<T>()) : steps + 0.5f));
  });
}

template <typename T>
Status Scaled(const KernelCall& call, bool is_to_even, NumberRange* range) {
  constexpr auto kLow = static_cast<float>(kLowestCode<T>), kHigh = static_cast<float>(kHighestCode<T>);
  constexpr float kMost = std::numeric_limits<float>::max();
  const float from_low = kLow * range->low > 0 ? kLow / range->low : kMost;
  const float from_high = kHigh * range->high > 0 ? kHigh / range->high : kMost;
  const float scale = std::min(from_low, from_high);
  *range = {kLow / scale, kHigh / scale};
  const NumberRange bounds = *range;
  return QuantizeAll<T>(call, [=](float x) {
    const float steps = Bounded(x, bounds) * scale;
    return static_cast<T>(CutOff(is_to_even ? __builtin_nearbyintf(steps) : std::round(steps)));
  });
}

// The range with zero in it, and wide enough to be divided.
NumberRange WithZero(NumberRange given) {
  const float low = std::min(0.0f, given.low);
  const float largest = std::max(1.0f, std::max(std::fabs(given.low), std::fabs(given.high)));
  const float high = std::max(given.high, low + largest / 100.0f);
  return {low, std::max(0.0f, high)};
}

Status Quantize(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  const Mode mode = ModeOf(call.attrs[1]);
  const bool is_to_even = call.attrs[2].size == 12;  // "HALF_TO_EVEN"
  if (is_to_even && mode != kScaled) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '%.*s'.",
        static_cast<int>(call.attrs[1].size), static_cast<const char*>(call.attrs[1].data));
  }
  NumberRange range;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 1, &range));
  if (range.high < range.low) {
    return STILLFLOW_INVALID_ARGUMENT("input_max_range must be larger than input_min_range.");
  }
  range = WithZero(range);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape(*call.in[0])));
  STILLFLOW_RETURN_IF_ERROR(
      (ForQuantizedType<int8_t, uint8_t, int16_t, uint16_t, int32_t>("QuantizeV2", dtype, [&](auto tag) -> Status {
        using T = typename decltype(tag)::type;
        if (mode == kScaled) return Scaled<T>(call, is_to_even, &range);
        if (mode == kMinCombined) return MinCombined<T>(call, range);
        return QuantizeAll<T>(call, Quantizer<T>(range));
      })));
  return OutputRange(call, 1, range);
}

template <typename T, typename Convert>
Status DequantizeAll(const KernelCall& call, const Convert& convert) {
  const T* const from = Data<T>(*call.in[0]);
  float* const to = MutableData<float>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->count, kQuantizedPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) to[i] = convert(from[i]);
  });
}

template <typename T>
Status Dequantize(const KernelCall& call, Mode mode, NumberRange range) {
  constexpr auto kLow = static_cast<float>(kLowestCode<T>), kHigh = static_cast<float>(kHighestCode<T>);
  if (mode == kMinFirst) return DequantizeAll<T>(call, Dequantizer<T>(range));
  if (mode == kMinCombined) {
    const float step = (range.high - range.low) / (kHigh - kLow);
    return DequantizeAll<T>(call,
                            [=](T code) { return (static_cast<float>(code) + HalfOfCodes<T>()) * step + range.low; });
  }
  const float step = kIsSigned<T> ? std::max(range.low / kLow, range.high / kHigh) : range.high / kHigh;
  return DequantizeAll<T>(call, [=](T code) { return static_cast<float>(code) * step; });
}

Status DequantizeAny(const KernelCall& call) {
  NumberRange range;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 1, &range));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, Shape(*call.in[0])));
  return ForQuantizedType<int8_t, uint8_t, int16_t, uint16_t, int32_t>(
      "Dequantize", call.in[0]->dtype,
      [&](auto tag) { return Dequantize<typename decltype(tag)::type>(call, ModeOf(call.attrs[0]), range); });
}

}  // namespace

STILLFLOW_KERNELS(quantized, quantize){{"quantize", "input, min_range, max_range | T, mode, round_mode", Quantize},
                                       {"dequantize", "input, min_range, max_range | mode", DequantizeAny},
                                       {}};

}  // namespace stillflow
