// quantize_and_dequantize: floats rounded to what integers of few bits can tell apart.
//
//   in[0]  float | double numbers
//   in[1], in[2]  if they are inputs, the least and the largest number, of the same type
//   in[3]  if it is an input, how many bits
//   out[0] the numbers rounded
//   attrs  signed_input; num_bits, unless it is an input; range_given, else the range is that of the numbers;
//          round_mode or what stands for it; narrow_range; input_min and input_max, where these are no inputs
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

struct Options {
  bool is_signed;
  int64_t bits;
  bool has_range;
  bool is_half_up;
  bool is_narrow;
  double low = 0, high = 0;
};

template <typename T>
struct Scale {
  T low, high, scale, inverse;
};

template <typename T>
Scale<T> ScaleFor(const Options& options, T low, T high) {
  const auto half = static_cast<int64_t>(uint64_t{1} << (options.bits - 1));
  const int64_t least = !options.is_signed ? 0 : options.is_narrow ? 1 - half : -half;
  const int64_t largest = options.is_signed ? half - 1 : 2 * half - 1;
  const auto first = static_cast<T>(least), last = static_cast<T>(largest);
  const T from_low = first * low > 0 ? first / low : std::numeric_limits<T>::max();
  const T from_high = last * high > 0 ? last / high : std::numeric_limits<T>::max();
  if (from_low < from_high) {
    const T inverse = low / first;
    return {low, last * inverse, from_low, inverse};
  }
  const T inverse = high / last;
  return {first * inverse, high, from_high, inverse};
}

template <typename T>
Status Run(const KernelCall& call, const Options& options) {
  const Tensor& numbers = *call.in[0];
  const T* const from = Data<T>(numbers);
  T* const to = MutableData<T>(*call.out[0]);
  auto low = static_cast<T>(options.low), high = static_cast<T>(options.high);
  if (!options.has_range) {
    low = std::numeric_limits<T>::infinity();
    high = -low;
    for (int64_t i = 0; i < numbers.count; ++i) {
      low = from[i] < low ? from[i] : low;
      high = from[i] > high ? from[i] : high;
    }
  } else if (low > high) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid range: input_min %g > input_max %g", options.low, options.high);
  }
  const Scale<T> scale = ScaleFor<T>(options, low, high);
  return ForEachChunk(call, numbers.count, kQuantizedPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      T x = from[i];
      if (options.has_range) {
        x = scale.high < x ? scale.high : x;
        x = x < scale.low ? scale.low : x;
      }
      x = x * scale.scale;
      x = options.is_half_up ? std::floor(x + T{0.5}) : std::nearbyint(x);
      to[i] = x * scale.inverse;
    }
  });
}

double NumberAt(const Tensor& tensor) {
  return tensor.dtype == DType::kDouble ? Data<double>(tensor)[0] : static_cast<double>(Data<float>(tensor)[0]);
}

Status RunAny(const KernelCall& call, const Options& options) {
  const Tensor& numbers = *call.in[0];
  if (options.bits < 1 || options.bits >= (options.is_signed ? 62 : 63)) {
    return STILLFLOW_INVALID_ARGUMENT("num_bits is out of range: %lld with signed_input_ %d",
                                      static_cast<long long>(options.bits), options.is_signed ? 1 : 0);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, numbers.dtype, Shape(numbers)));
  return ForType<float, double>("QuantizeAndDequantize", numbers.dtype,
                                [&](auto tag) { return Run<typename decltype(tag)::type>(call, options); });
}

Status ReadBounds(const KernelCall& call, Options* options) {
  if (!options->has_range) return Status();
  for (const int in : {1, 2}) {
    if (call.in[in]->count < 1) return STILLFLOW_INVALID_ARGUMENT("A bound of the range must have a value");
    const DType dtype = call.in[in]->dtype;
    if (dtype != DType::kFloat && dtype != DType::kDouble) return UnsupportedType("QuantizeAndDequantize", dtype);
  }
  options->low = NumberAt(*call.in[1]);
  options->high = NumberAt(*call.in[2]);
  return Status();
}

// attrs signed_input, num_bits, range_given, input_min, input_max
Status OfAttrs(const KernelCall& call) {
  return RunAny(call, {call.attrs[0].i != 0, call.attrs[1].i, call.attrs[2].i != 0, false, false, call.attrs[3].f,
                       call.attrs[4].f});
}

// attrs signed_input, num_bits, range_given, round_mode, narrow_range
Status OfInputs(const KernelCall& call) {
  const bool is_half_up = call.attrs[3].size == 7;  // "HALF_UP"
  Options options{call.attrs[0].i != 0, call.attrs[1].i, call.attrs[2].i != 0, is_half_up, call.attrs[4].i != 0};
  STILLFLOW_RETURN_IF_ERROR(ReadBounds(call, &options));
  return RunAny(call, options);
}

// attrs signed_input, range_given, narrow_range
Status WithBits(const KernelCall& call) {
  if (call.in[3]->count < 1) return STILLFLOW_INVALID_ARGUMENT("num_bits must have a value");
  Options options{call.attrs[0].i != 0, IntAt(*call.in[3], 0), call.attrs[1].i != 0, false, call.attrs[2].i != 0};
  STILLFLOW_RETURN_IF_ERROR(ReadBounds(call, &options));
  return RunAny(call, options);
}

}  // namespace

STILLFLOW_KERNELS(quantized, quantize_and_dequantize){
    {"quantize_and_dequantize", "input | signed_input, num_bits, range_given, input_min, input_max", OfAttrs},
    {"quantize_and_dequantize_v2",
     "input, input_min, input_max | signed_input, num_bits, range_given, round_mode, narrow_range", OfInputs},
    {"quantize_and_dequantize_v3", "input, input_min, input_max, num_bits | signed_input, range_given, narrow_range",
     WithBits},
    {}};

}  // namespace stillflow
