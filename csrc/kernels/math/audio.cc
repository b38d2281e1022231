// audio_spectrogram, mfcc: what frequencies a sound consists of, and how they sound.
//
//   audio_spectrogram  in[0] float[samples, channels]; attrs window_size, stride, magnitude_squared;
//                      out[0] float[channels, windows, 1 + power of two at least window_size / 2]
//   mfcc               in[0] float[channels, windows, frequencies], in[1] int32 sample rate;
//                      attrs upper_frequency_limit, lower_frequency_limit, filterbank_channel_count,
//                      dct_coefficient_count; out[0] float[channels, windows, dct_coefficient_count]
//
// Computed in double. A window is weighted by Hann's function, its transform has a length of a power of two. Mel
// frequency cepstral coefficients: the magnitudes are summed in triangles that are equally wide on the mel scale, and
// the logarithms of these go through a discrete cosine transform of type II (Davis and Mermelstein, "Comparison of
// parametric representations for monosyllabic word recognition", IEEE Trans. ASSP 28, 1980).
#include <algorithm>
#include <vector>

#include "arithmetic/math/logarithm.h"
#include "arithmetic/math/root.h"
#include "arithmetic/math/trigonometric.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

constexpr double kPi = 3.14159265358979323846;

// ---- Spectrogram --------------------------------------------------------------------------------------------------

// Transforms of real numbers, `length` of them, a power of two: by decimation in time.
class Transform {
 public:
  explicit Transform(int64_t length) : length_(length), re_(length), im_(length), cos_(length / 2), sin_(length / 2) {
    for (int64_t i = 0; i < length / 2; ++i) {
      const double angle = 2 * kPi * static_cast<double>(i) / static_cast<double>(length);
      cos_[i] = Cos(angle);
      sin_[i] = -Sin(angle);
    }
  }

  // Puts the squares of the magnitudes of the first half of the frequencies, and of the middle, into `squares`.
  void Run(const std::vector<double>& values, double* squares) {
    for (int64_t i = 0, reversed = 0; i < length_; ++i) {
      re_[reversed] = values[i];
      im_[reversed] = 0;
      int64_t bit = length_ >> 1;
      for (; bit > 0 && (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
      reversed |= bit;
    }
    for (int64_t half = 1; half < length_; half *= 2) {
      const int64_t step = length_ / (2 * half);
      for (int64_t begin = 0; begin < length_; begin += 2 * half) {
        for (int64_t i = 0; i < half; ++i) Butterfly(begin + i, begin + i + half, i * step);
      }
    }
    for (int64_t i = 0; i <= length_ / 2; ++i) squares[i] = re_[i] * re_[i] + im_[i] * im_[i];
  }

 private:
  void Butterfly(int64_t a, int64_t b, int64_t root) {
    const double re = re_[b] * cos_[root] - im_[b] * sin_[root];
    const double im = re_[b] * sin_[root] + im_[b] * cos_[root];
    re_[b] = re_[a] - re;
    im_[b] = im_[a] - im;
    re_[a] += re;
    im_[a] += im;
  }

  const int64_t length_;
  std::vector<double> re_, im_, cos_, sin_;
};

Status AudioSpectrogram(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const int64_t window_size = call.attrs[0].i;
  const int64_t stride = call.attrs[1].i;
  const bool is_squared = call.attrs[2].i != 0;
  if (input.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 2-dimensional%s", ShapeText(input).c_str());
  }
  if (window_size < 2 || stride < 1 || window_size > int64_t{1} << 30) {
    return STILLFLOW_INVALID_ARGUMENT("Spectrogram initialization failed for window size %lld and stride %lld",
                                      static_cast<long long>(window_size), static_cast<long long>(stride));
  }
  int64_t length = 1;
  while (length < window_size) length *= 2;
  const int64_t width = 1 + length / 2;
  const int64_t samples = input.dims[0], channels = input.dims[1];
  const int64_t height = samples < window_size ? 0 : 1 + (samples - window_size) / stride;
  Shape shape;
  for (const int64_t dim : {channels, height, width}) shape.Add(dim);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  if (channels == 0 || samples == 0) return Status();
  std::vector<double> window(window_size), values(length), squares(width);
  for (int64_t i = 0; i < window_size; ++i) {
    window[i] = 0.5 - 0.5 * Cos(2 * kPi * static_cast<double>(i) / static_cast<double>(window_size));
  }
  Transform transform(length);
  float* to = MutableData<float>(*call.out[0]);
  // The windows of a channel go on from the last one of the channel before, as in TensorFlow.
  int64_t begin = 0;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const int64_t end = (channel + 1) * samples;
    const int64_t rows = begin + window_size > end ? 0 : 1 + (end - window_size - begin) / stride;
    if (rows != height) {
      return STILLFLOW_INVALID_ARGUMENT("Spectrogram size calculation failed: Expected height %lld but got %lld",
                                        static_cast<long long>(height), static_cast<long long>(rows));
    }
    for (int64_t row = 0; row < height; ++row, to += width, begin += stride) {
      for (int64_t i = 0; i < window_size; ++i) {
        const int64_t sample = (begin + i) % samples, from = (begin + i) / samples;
        values[i] = window[i] * static_cast<double>(Data<float>(input)[sample * channels + from]);
      }
      transform.Run(values, squares.data());
      for (int64_t i = 0; i < width; ++i) {
        const auto square = static_cast<float>(squares[i]);
        to[i] = is_squared ? square : Sqrt(square);
      }
    }
  }
  return Status();
}

// ---- Cepstral coefficients ----------------------------------------------------------------------------------------

double MelOf(double frequency) { return 1127.0 * Log1p(frequency / 700.0); }

// Sums magnitudes in triangles that overlap by halves.
struct MelFilterbank {
  int64_t begin = 0, end = 0;  // the frequencies that count
  std::vector<int64_t> band;   // the triangle on whose falling side a frequency is, from -1
  std::vector<double> weight;  // of it there; the rest goes to the next one

  MelFilterbank(int64_t frequencies, double rate, int64_t channels, double lower, double upper) {
    const double low = MelOf(lower);
    const double spacing = (MelOf(upper) - low) / static_cast<double>(channels + 1);
    std::vector<double> centers(channels + 1);
    for (int64_t i = 0; i <= channels; ++i) centers[i] = low + spacing * static_cast<double>(i + 1);
    const double width = 0.5 * rate / static_cast<double>(frequencies - 1);
    begin = static_cast<int64_t>(std::min(1.5 + lower / width, 9e15));
    end = std::min(static_cast<int64_t>(std::min(upper / width, 9e15)) + 1, frequencies);
    band.assign(frequencies, -2);
    weight.assign(frequencies, 0.0);
    int64_t channel = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double mel = MelOf(static_cast<double>(i) * width);
      while (channel < channels && centers[channel] < mel) ++channel;
      band[i] = channel - 1;
      const double before = channel > 0 ? centers[channel - 1] : low;
      weight[i] = (centers[channel] - mel) / (centers[channel] - before);
    }
  }

  void Sum(const float* squares, std::vector<double>* sums) const {
    std::fill(sums->begin(), sums->end(), 0.0);
    const auto channels = static_cast<int64_t>(sums->size());
    for (int64_t i = begin; i < end; ++i) {
      const double magnitude = Sqrt(static_cast<double>(squares[i]));
      const double falling = magnitude * weight[i];
      if (band[i] >= 0) (*sums)[band[i]] += falling;
      if (band[i] + 1 < channels) (*sums)[band[i] + 1] += magnitude - falling;
    }
  }
};

Status Mfcc(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& sample_rate = *call.in[1];
  if (input.rank != 3) {
    return STILLFLOW_INVALID_ARGUMENT("spectrogram must be 3-dimensional%s", ShapeText(input).c_str());
  }
  if (sample_rate.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input sample_rate should be a scalar tensor, got %s instead.",
                                      ShapeText(sample_rate).c_str());
  }
  const int32_t rate = Data<int32_t>(sample_rate)[0];
  const double upper = call.attrs[0].f, lower = call.attrs[1].f;
  const int64_t channels = call.attrs[2].i, count = call.attrs[3].i;
  const int64_t frequencies = input.dims[2];
  const bool is_valid = rate > 0 && frequencies >= 2 && lower >= 0 && upper > lower && count >= 1 &&
                        channels >= count && channels <= int64_t{1} << 20;
  if (!is_valid) {
    return STILLFLOW_INVALID_ARGUMENT("Mfcc initialization failed for channel count %lld and sample rate %d",
                                      static_cast<long long>(frequencies), rate);
  }
  Shape shape(input);
  shape.dims[2] = count;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  const MelFilterbank bank(frequencies, rate, channels, lower, upper);
  std::vector<double> cosines(count * channels), sums(channels);
  const double scale = Sqrt(2.0 / static_cast<double>(channels));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < channels; ++j) {
      const double angle = static_cast<double>(i) * (kPi / static_cast<double>(channels));
      cosines[i * channels + j] = scale * Cos(angle * (static_cast<double>(j) + 0.5));
    }
  }
  const float* from = Data<float>(input);
  float* to = MutableData<float>(*call.out[0]);
  for (int64_t row = 0; row < input.dims[0] * input.dims[1]; ++row, from += frequencies, to += count) {
    bank.Sum(from, &sums);
    for (double& sum : sums) sum = Log(sum < 1e-12 ? 1e-12 : sum);
    for (int64_t i = 0; i < count; ++i) {
      double result = 0;
      for (int64_t j = 0; j < channels; ++j) result += cosines[i * channels + j] * sums[j];
      to[i] = static_cast<float>(result);
    }
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(math, audio){
    {"audio_spectrogram", "input | window_size, stride, magnitude_squared", Guarded<AudioSpectrogram>},
    {"mfcc",
     "spectrogram, sample_rate | upper_frequency_limit, lower_frequency_limit, filterbank_channel_count, "
     "dct_coefficient_count",
     Guarded<Mfcc>},
    {}};

}  // namespace stillflow
