// fused_batch_norm_grad: the gradient of batch normalization.
//
//   in[0]  y_backprop  the gradient of y, float, Half or BFloat16 [batch, rows, columns, channels], or channels first
//   in[1]  x           like y_backprop
//   in[2]  scale       float [channels]
//   in[3]  the mean; in[4] the variance that y was made with: float [channels]
//   out[0] the gradient of x; out[1] of scale; out[2] of offset
//   out[3], out[4]     of mean and variance, as TensorFlow has them: empty for training, zeros otherwise
//   attrs  epsilon; data_format; is_training: whether mean and variance are those of x
//
//   offset  sum(dy)
//   scale   sum(dy (x - mean)) / sqrt(variance + epsilon)
//   x       scale / sqrt(variance + epsilon) (dy - mean(dy) - (x - mean) mean(dy (x - mean)) / (variance + epsilon));
//           scale / sqrt(variance + epsilon) dy, if mean and variance do not depend on x
//
// The sums are those of block_sums.h.
#include "arithmetic/reduction/block_sums.h"
#include "kernels/nn/fused_batch_norm_arguments.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kChannelsPerChunk = 64;

template <typename T>
struct Operands {
  const T* grad;
  const T* x;
  const float* mean;
  int64_t rows, channels;
};

// sums[c] = sum(dy), sums[channels + c] = sum(dy (x - mean)).
template <typename T>
Status SumGradients(const KernelCall& call, const Operands<T>& in, double* sums) {
  const int64_t blocks = BlockCount(in.rows), channels = in.channels;
  const Scratch scratch(call, (2 * blocks + kTurns) * channels * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  float* const means = scratch.data<float>();
  float* const of_blocks = means + kTurns * channels;
  RepeatForTurns(in.mean, channels, means);
  STILLFLOW_RETURN_IF_ERROR(
      ForBlocks(call, in.rows, channels, 2 * kTurns * channels, [&](int64_t block, float* lanes) {
        const int64_t first = block * kRowsPerBlock * channels;
        const T* const grad = in.grad + first;
        const T* const x = in.x + first;
        SumBlock<2>(RowsOfBlock(in.rows, block), channels, lanes, of_blocks + 2 * block * channels,
                    [&](auto* both, int64_t at, int64_t turn, auto count) {
                      using P = Piece<float, decltype(count)::value>;
                      const P dy(grad + at);
                      P product(x + at);
                      product.Combine(P(means + turn), [](auto a, auto b) { return a - b; });
                      product.Combine(dy, [](auto a, auto b) { return a * b; });
                      both[0].Combine(dy, [](auto a, auto b) { return a + b; });
                      both[1].Combine(product, [](auto a, auto b) { return a + b; });
                    });
      }));
  return ForEachChunk(call, 2 * channels, kChannelsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) sums[i] = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      const float* const from = of_blocks + 2 * block * channels;
      for (int64_t i = range.begin; i < range.end; ++i) sums[i] += static_cast<double>(from[i]);
    }
  });
}

// dx = (dy - mean_grad - (x - mean) slope) factor
struct Coefficients {
  const float* mean_grad;
  const float* slope;
  const float* factor;
};

template <bool kIsTraining, typename T>
Status InputGradient(const KernelCall& call, const Operands<T>& in, const Coefficients& coefficients, T* output) {
  const int64_t channels = in.channels;
  const int64_t rows_at_once = std::max<int64_t>(kElementsPerChunk / channels, 1);
  return ForEachChunk(call, in.rows, rows_at_once, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t at = row * channels;
      ForChannels<float>(channels, [&](int64_t c, auto count) {
        using P = Piece<float, decltype(count)::value>;
        P result(in.grad + at + c);
        if constexpr (kIsTraining) {
          P tilt(in.x + at + c);
          tilt.Combine(P(in.mean + c), [](auto a, auto b) { return a - b; });
          tilt.Combine(P(coefficients.slope + c), [](auto a, auto b) { return a * b; });
          result.Combine(P(coefficients.mean_grad + c), [](auto a, auto b) { return a - b; });
          result.Combine(tilt, [](auto a, auto b) { return a - b; });
        }
        result.Combine(P(coefficients.factor + c), [](auto a, auto b) { return a * b; });
        result.Store(output + at + c);
      });
    }
  });
}

template <typename T>
Status Compute(const KernelCall& call, const ImageFormat& format, int64_t rows, int64_t channels) {
  const bool is_training = call.attrs[2].i != 0;
  const auto epsilon = static_cast<float>(call.attrs[0].f);
  const float* const scale = Data<float>(*call.in[2]);
  const float* const variance = Data<float>(*call.in[4]);
  ChannelsLast grad, x;
  STILLFLOW_RETURN_IF_ERROR(grad.Read(call, *call.in[0], format));
  STILLFLOW_RETURN_IF_ERROR(x.Read(call, *call.in[1], format));
  const Operands<T> in = {grad.data<T>(), x.data<T>(), Data<float>(*call.in[3]), rows, channels};
  const Scratch scratch(call, channels * static_cast<int64_t>(2 * sizeof(double) + 3 * sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  double* const sums = scratch.data<double>();
  float* const mean_grad = reinterpret_cast<float*>(sums + 2 * channels);
  float* const slope = mean_grad + channels;
  float* const factor = slope + channels;
  STILLFLOW_RETURN_IF_ERROR(SumGradients(call, in, sums));
  float* const scale_grad = MutableData<float>(*call.out[1]);
  float* const offset_grad = MutableData<float>(*call.out[2]);
  const double count = static_cast<double>(std::max<int64_t>(rows, 1));
  for (int64_t c = 0; c < channels; ++c) {
    const float shifted = variance[c] + epsilon;
    const float rsqrt = Rsqrt(shifted);
    offset_grad[c] = static_cast<float>(sums[c]);
    // Without rows the variance is NaN, but the gradient zero.
    scale_grad[c] = rows == 0 ? 0.0f : static_cast<float>(sums[channels + c]) * rsqrt;
    mean_grad[c] = static_cast<float>(sums[c] / count);
    slope[c] = static_cast<float>(sums[channels + c] / count) / shifted;
    factor[c] = rsqrt * scale[c];
  }
  if (rows == 0 || channels == 0) return Status();
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], format));
  const Coefficients coefficients = {mean_grad, slope, factor};
  STILLFLOW_RETURN_IF_ERROR(is_training ? InputGradient<true>(call, in, coefficients, output.data<T>())
                                        : InputGradient<false>(call, in, coefficients, output.data<T>()));
  return output.Finish(call);
}

Status FusedBatchNormGrad(const KernelCall& call) {
  const Tensor& grad = *call.in[0];
  const Tensor& x = *call.in[1];
  const bool is_training = call.attrs[2].i != 0;
  STILLFLOW_RETURN_IF_ERROR(CheckFourDimensional(grad));
  STILLFLOW_RETURN_IF_ERROR(CheckFourDimensional(x));
  STILLFLOW_RETURN_IF_ERROR(CheckVector(*call.in[2], "scale"));
  STILLFLOW_RETURN_IF_ERROR(CheckVector(*call.in[3], "saved mean"));
  STILLFLOW_RETURN_IF_ERROR(CheckVector(*call.in[4], "saved variance"));
  if (!(Shape(grad) == Shape(x))) {
    return STILLFLOW_INVALID_ARGUMENT(
        "x and y_backprop must have same shape, but x has shape %s and y_backprop has shape %s", ShapeText(x).c_str(),
        ShapeText(grad).c_str());
  }
  const ImageFormat format = FormatOf(call.attrs[1], 2);
  const int64_t channels = x.dims[format.ChannelAxis()];
  STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[2], "scale", channels));
  STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[3], "reserve_space_1", channels));
  STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[4], "reserve_space_2", channels));
  for (int i = 1; i < 5; ++i) {
    const int64_t size = i > 2 && is_training ? 0 : channels;
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, DType::kFloat, VectorShape(size)));
    std::fill_n(MutableData<float>(*call.out[i]), size, 0.0f);
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, x.dtype, Shape(x)));
  const int64_t rows = channels == 0 ? 0 : x.count / channels;
  return ForType<float, Half, BFloat16>("FusedBatchNormGrad", x.dtype, [&](auto tag) {
    return Compute<typename decltype(tag)::type>(call, format, rows, channels);
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, fused_batch_norm_grad){
    {"fused_batch_norm_grad",
     "y_backprop, x, scale, reserve_space_1, reserve_space_2 | epsilon, data_format, is_training",
     FusedBatchNormGrad},
    {}};

}  // namespace stillflow
