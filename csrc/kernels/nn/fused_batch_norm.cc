// fused_batch_norm: batch normalization, y = (x - mean) / sqrt(variance + epsilon) * scale + offset.
//
//   in[0]  x         float, Half or BFloat16 [batch, rows, columns, channels], or channels first
//   in[1]  scale     float [channels]; in[2] offset: float [channels]
//   in[3]  mean      float [channels]; empty for training; in[4] variance: likewise
//   out[0] y         like x
//   out[1] the batch's mean; out[2] the batch's variance, that of a sample: for running means of them
//   out[3] the mean; out[4] the variance that y was made with: for the gradient
//   out[5] a scalar, if there is a sixth output
//   attrs  epsilon; data_format; is_training: whether mean and variance are those of x; if they are not, outputs 1 to
//   4
//          are those that were given
//
// The sums are those of block_sums.h: of each block the mean and the squares of what differs from it, which are then
// put together (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
// 1979). So x is read from memory twice.
#include <limits>

#include "arithmetic/reduction/block_sums.h"
#include "kernels/nn/fused_batch_norm_arguments.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;

// The mean of each channel of `rows` rows, and the mean square of what differs from it. NaN if there are no rows.
template <typename T>
class Moments {
 public:
  Moments(const KernelCall& call, const T* x, int64_t rows, int64_t channels)
      : call_(call), x_(x), rows_(rows), channels_(channels) {}

  Status Compute(float* mean, float* variance) {
    const int64_t blocks = BlockCount(rows_);
    const Scratch scratch(call_, 2 * blocks * channels_ * static_cast<int64_t>(sizeof(float)));
    if (!scratch.ok()) return OutOfScratch();
    float* const means = scratch.data<float>();
    float* const squares = means + blocks * channels_;
    STILLFLOW_RETURN_IF_ERROR(
        ForBlocks(call_, rows_, channels_, 2 * kTurns * channels_, [&](int64_t block, float* memory) {
          MomentsOfBlock(block, memory, means + block * channels_, squares + block * channels_);
        }));
    return ForEachChunk(call_, channels_, kChannelsPerChunk,
                        [&](Range range) { PutTogether(range, means, squares, mean, variance); });
  }

 private:
  static constexpr int64_t kChannelsPerChunk = 64;

  void MomentsOfBlock(int64_t block, float* memory, float* mean, float* squares) {
    const T* const x = x_ + block * kRowsPerBlock * channels_;
    const int64_t rows = RowsOfBlock(rows_, block);
    float* const lanes = memory;
    float* const means = memory + kTurns * channels_;
    SumBlock<1>(rows, channels_, lanes, mean, [&](auto* sums, int64_t at, int64_t, auto count) {
      using P = Piece<float, decltype(count)::value>;
      sums->Combine(P(x + at), [](auto a, auto b) { return a + b; });
    });
    for (int64_t c = 0; c < channels_; ++c) mean[c] /= static_cast<float>(rows);
    RepeatForTurns(mean, channels_, means);
    SumBlock<1>(rows, channels_, lanes, squares, [&](auto* sums, int64_t at, int64_t turn, auto count) {
      using P = Piece<float, decltype(count)::value>;
      P difference(x + at);
      difference.Combine(P(means + turn), [](auto a, auto b) { return a - b; });
      sums->Combine(difference, [](auto a, auto b) { return a + b * b; });
    });
  }

  void PutTogether(Range range, const float* means, const float* squares, float* mean, float* variance) {
    double total[kChannelsPerChunk] = {}, square[kChannelsPerChunk] = {};
    const int64_t count = range.end - range.begin, blocks = BlockCount(rows_);
    for (int64_t block = 0; block < blocks; ++block) {
      const auto rows = static_cast<double>(RowsOfBlock(rows_, block));
      const float* const from = means + block * channels_ + range.begin;
      for (int64_t i = 0; i < count; ++i) total[i] += rows * static_cast<double>(from[i]);
    }
    for (int64_t i = 0; i < count; ++i) total[i] /= static_cast<double>(rows_);
    for (int64_t block = 0; block < blocks; ++block) {
      const auto rows = static_cast<double>(RowsOfBlock(rows_, block));
      const int64_t at = block * channels_ + range.begin;
      for (int64_t i = 0; i < count; ++i) {
        const double difference = static_cast<double>(means[at + i]) - total[i];
        square[i] += static_cast<double>(squares[at + i]) + rows * (difference * difference);
      }
    }
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (int64_t i = 0; i < count; ++i) {
      const auto found = static_cast<float>(total[i]);
      const auto spread = static_cast<float>(square[i] / static_cast<double>(rows_));
      mean[range.begin + i] = found == found ? found : kNaN;
      variance[range.begin + i] = spread == spread ? spread : kNaN;
    }
  }

  const KernelCall& call_;
  const T* const x_;
  const int64_t rows_, channels_;
};

// What each channel is shifted by, multiplied with and shifted by again, repeated for several rows of few channels.
struct Factors {
  const float* mean;
  const float* factor;
  const float* offset;
};

template <typename T>
Status Normalize(const KernelCall& call, const T* x, int64_t rows, int64_t channels, const Factors& factors, T* y) {
  const int64_t rows_at_once = std::max<int64_t>(kElementsPerChunk / channels, 1);
  return ForEachChunk(call, rows, rows_at_once, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      const T* const from = x + row * channels;
      T* const to = y + row * channels;
      ForChannels<float>(channels, [&](int64_t c, auto count) {
        using P = Piece<float, decltype(count)::value>;
        P value(from + c);
        value.Combine(P(factors.mean + c), [](auto a, auto b) { return a - b; });
        value.Combine(P(factors.factor + c), [](auto a, auto b) { return a * b; });
        value.Combine(P(factors.offset + c), [](auto a, auto b) { return a + b; });
        value.Store(to + c);
      });
    }
  });
}

Status CheckArguments(const KernelCall& call, bool is_training) {
  constexpr const char* kNames[] = {"x", "scale", "offset", "estimated_mean", "estimated_variance"};
  STILLFLOW_RETURN_IF_ERROR(CheckFourDimensional(*call.in[0]));
  for (int i = 1; i < 5; ++i) STILLFLOW_RETURN_IF_ERROR(CheckVector(*call.in[i], kNames[i]));
  for (int i = 3; is_training && i < 5; ++i) {
    if (call.in[i]->count != 0) {
      return STILLFLOW_INVALID_ARGUMENT("%s must be empty for training%s", kNames[i], ShapeText(*call.in[i]).c_str());
    }
  }
  return Status();
}

template <typename T>
Status Compute(const KernelCall& call, const ImageFormat& format, int64_t rows, int64_t channels) {
  const bool is_training = call.attrs[2].i != 0;
  const auto epsilon = static_cast<float>(call.attrs[0].f);
  float* const mean = MutableData<float>(*call.out[3]);
  float* const variance = MutableData<float>(*call.out[4]);
  float* const batch_mean = MutableData<float>(*call.out[1]);
  float* const batch_variance = MutableData<float>(*call.out[2]);
  ChannelsLast x;
  STILLFLOW_RETURN_IF_ERROR(x.Read(call, *call.in[0], format));
  if (is_training) {
    STILLFLOW_RETURN_IF_ERROR(Moments<T>(call, x.data<T>(), rows, channels).Compute(mean, variance));
  } else {
    std::copy_n(Data<float>(*call.in[3]), channels, mean);
    std::copy_n(Data<float>(*call.in[4]), channels, variance);
  }
  // An unbiased estimate, where there is one.
  const float correction =
      is_training ? static_cast<float>(rows) / static_cast<float>(std::max<int64_t>(rows - 1, 1)) : 1.0f;
  for (int64_t c = 0; c < channels; ++c) {
    batch_mean[c] = mean[c];
    batch_variance[c] = variance[c] * correction;
  }
  if (rows == 0 || channels == 0) return Status();
  const Scratch scratch(call, channels * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  float* const factors = scratch.data<float>();
  const float* const scale = Data<float>(*call.in[1]);
  for (int64_t c = 0; c < channels; ++c) factors[c] = Rsqrt(variance[c] + epsilon) * scale[c];
  ChannelsLastOutput y;
  STILLFLOW_RETURN_IF_ERROR(y.Begin(call, call.out[0], format));
  STILLFLOW_RETURN_IF_ERROR(
      Normalize(call, x.data<T>(), rows, channels, {mean, factors, Data<float>(*call.in[2])}, y.data<T>()));
  return y.Finish(call);
}

Status FusedBatchNorm(const KernelCall& call) {
  const Tensor& x = *call.in[0];
  const bool is_training = call.attrs[2].i != 0;
  STILLFLOW_RETURN_IF_ERROR(CheckArguments(call, is_training));
  const ImageFormat format = FormatOf(call.attrs[1], 2);
  const int64_t channels = x.dims[format.ChannelAxis()];
  STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[1], "scale", channels));
  STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[2], "offset", channels));
  if (!is_training) {
    STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[3], "mean", channels));
    STILLFLOW_RETURN_IF_ERROR(CheckChannels(*call.in[4], "variance", channels));
  }
  for (int i = 1; i < 5; ++i) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, DType::kFloat, VectorShape(channels)));
  }
  if (call.out_count > 5) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 5, DType::kFloat, Shape()));
    MutableData<float>(*call.out[5])[0] = 0;
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, x.dtype, Shape(x)));
  const int64_t rows = channels == 0 ? 0 : x.count / channels;
  return ForType<float, Half, BFloat16>("FusedBatchNorm", x.dtype, [&](auto tag) {
    return Compute<typename decltype(tag)::type>(call, format, rows, channels);
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, fused_batch_norm){
    {"fused_batch_norm", "x, scale, offset, mean, variance | epsilon, data_format, is_training", FusedBatchNorm}, {}};

}  // namespace stillflow
