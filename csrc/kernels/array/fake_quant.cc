// fake_quant and its gradient: quantization to a few bits, simulated in float.
//
//   in[0] float numbers; in[1], in[2] the least and the largest, if they are tensors: scalars, or vectors with one
//   for each channel, the last dimension. They are moved such that zero is kept exactly. attrs num_bits: from 2 to
//   16; narrow_range: whether one number less is used; min, max if these are attributes out[0] the nearest of the
//   2^num_bits numbers
//
//   the gradient: in[0] gradients of out[0], then the same; out[0] gradients of in[0]; out[1], out[2] those of the
//   bounds if they are tensors, summed in order, in double
#include <algorithm>
#include <cmath>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kNumbersPerChunk = 16384;

struct Steps {
  float low, high, size;
  bool is_nothing;  // both bounds are zero
};

Steps StepsBetween(float low, float high, int64_t bits, bool is_narrow) {
  const float first = is_narrow ? 1.0f : 0.0f;
  const auto last = static_cast<float>((int64_t{1} << bits) - 1);
  const float size = (high - low) / (last - first);
  const float zero = first - low / size;
  const float nudged = zero < first ? first : zero > last ? last : std::round(zero);
  return {(first - nudged) * size, (last - nudged) * size, size, low == 0.0f && high == 0.0f};
}

float Nearest(float x, const Steps& steps) {
  if (steps.is_nothing) return 0.0f;
  x = x > steps.high ? steps.high : x;
  x = x < steps.low ? steps.low : x;
  return std::floor((x - steps.low) / steps.size + 0.5f) * steps.size + steps.low;
}

bool IsInside(float x, const Steps& steps) { return steps.is_nothing || (x >= steps.low && x <= steps.high); }

// The bounds of each channel, which are one for all numbers, or as many as the last dimension has.
struct Bounds {
  const float* low;
  const float* high;
  int64_t channels;
  int64_t bits;
  bool is_narrow;
  Steps At(int64_t channel) const { return StepsBetween(low[channel], high[channel], bits, is_narrow); }
};

Status CheckVector(const Tensor& bound, const char* name, int64_t channels) {
  if (bound.rank == 1 && bound.count == channels) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s has incorrect size, expected %lld was %lld", name,
                                    static_cast<long long>(channels), static_cast<long long>(bound.count));
}

enum Kind { kOfArgs, kOfScalars, kOfChannels };

// Reads attributes num_bits, narrow_range, and the bounds, the inputs from `first` on or two more attributes.
Status ReadBounds(const KernelCall& call, Kind kind, int first, const Tensor& numbers, float* args, Bounds* bounds) {
  bounds->bits = call.attrs[0].i;
  bounds->is_narrow = call.attrs[1].i != 0;
  bounds->channels = 1;
  if (bounds->bits < 2 || bounds->bits > 16) {
    return STILLFLOW_INVALID_ARGUMENT("num_bits must be between 2 and 16, inclusive");
  }
  if (kind == kOfArgs) {
    args[0] = static_cast<float>(call.attrs[2].f);
    args[1] = static_cast<float>(call.attrs[3].f);
    if (!(args[0] < args[1])) {
      return STILLFLOW_INVALID_ARGUMENT("min has to be smaller than max, was: %g >= %g", static_cast<double>(args[0]),
                                        static_cast<double>(args[1]));
    }
    bounds->low = args;
    bounds->high = args + 1;
    return Status();
  }
  const Tensor& low = *call.in[first];
  const Tensor& high = *call.in[first + 1];
  if (kind == kOfScalars) {
    if (low.count != 1 || high.count != 1) {
      return STILLFLOW_INVALID_ARGUMENT("min and max must be scalars, got shapes %s and %s", ShapeText(low).c_str(),
                                        ShapeText(high).c_str());
    }
  } else {
    bounds->channels = numbers.rank == 0 ? 0 : numbers.dims[numbers.rank - 1];
    STILLFLOW_RETURN_IF_ERROR(CheckVector(low, "min", bounds->channels));
    STILLFLOW_RETURN_IF_ERROR(CheckVector(high, "max", bounds->channels));
  }
  bounds->low = Data<float>(low);
  bounds->high = Data<float>(high);
  return Status();
}

template <Kind kKind>
Status FakeQuant(const KernelCall& call) {
  const Tensor& numbers = *call.in[0];
  float args[2];
  Bounds bounds;
  STILLFLOW_RETURN_IF_ERROR(ReadBounds(call, kKind, 1, numbers, args, &bounds));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, Shape(numbers)));
  if (numbers.count == 0) return Status();
  const float* from = Data<float>(numbers);
  float* to = MutableData<float>(*call.out[0]);
  Scratch memory(call, bounds.channels * static_cast<int64_t>(sizeof(Steps)));
  if (!memory.ok()) return OutOfScratch();
  Steps* const steps = memory.data<Steps>();
  for (int64_t i = 0; i < bounds.channels; ++i) steps[i] = bounds.At(i);
  return ForEachChunk(call, numbers.count, kNumbersPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) to[i] = Nearest(from[i], steps[i % bounds.channels]);
  });
}

template <Kind kKind>
Status FakeQuantGrad(const KernelCall& call) {
  const Tensor& grads = *call.in[0];
  const Tensor& numbers = *call.in[1];
  if (!(Shape(grads) == Shape(numbers))) {
    return STILLFLOW_INVALID_ARGUMENT("gradient and input must be the same size, got shapes %s and %s",
                                      ShapeText(grads).c_str(), ShapeText(numbers).c_str());
  }
  float args[2];
  Bounds bounds;
  STILLFLOW_RETURN_IF_ERROR(ReadBounds(call, kKind, 2, numbers, args, &bounds));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, Shape(numbers)));
  const float* from = Data<float>(numbers);
  const float* grad = Data<float>(grads);
  float* to = MutableData<float>(*call.out[0]);
  if (kKind != kOfArgs) {
    Shape shape;
    if (kKind == kOfChannels) shape.Add(bounds.channels);
    for (int i = 1; i <= 2; ++i) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, DType::kFloat, shape));
  }
  const int64_t rows = bounds.channels == 0 ? 0 : numbers.count / bounds.channels;
  return ForEachChunk(call, bounds.channels, 1, [&](Range range) {
    for (int64_t channel = range.begin; channel < range.end; ++channel) {
      const Steps steps = bounds.At(channel);
      double below = 0.0, above = 0.0;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t i = row * bounds.channels + channel;
        to[i] = IsInside(from[i], steps) ? grad[i] : 0.0f;
        if (steps.is_nothing) continue;
        if (from[i] < steps.low) below += static_cast<double>(grad[i]);
        if (from[i] > steps.high) above += static_cast<double>(grad[i]);
      }
      if (kKind == kOfArgs) continue;
      MutableData<float>(*call.out[1])[channel] = static_cast<float>(below);
      MutableData<float>(*call.out[2])[channel] = static_cast<float>(above);
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(array, fake_quant){
    {"fake_quant_args", "inputs | num_bits, narrow_range, min, max", FakeQuant<kOfArgs>},
    {"fake_quant_args_grad", "gradients, inputs | num_bits, narrow_range, min, max", FakeQuantGrad<kOfArgs>},
    {"fake_quant_vars", "inputs, min, max | num_bits, narrow_range", FakeQuant<kOfScalars>},
    {"fake_quant_vars_grad", "gradients, inputs, min, max | num_bits, narrow_range", FakeQuantGrad<kOfScalars>},
    {"fake_quant_channels", "inputs, min, max | num_bits, narrow_range", FakeQuant<kOfChannels>},
    {"fake_quant_channels_grad", "gradients, inputs, min, max | num_bits, narrow_range", FakeQuantGrad<kOfChannels>},
    {}};

}  // namespace stillflow
