// decode_wav: the samples of a WAV file.
//
//   in[0]   a string scalar, the file; attrs desired_channels and desired_samples, -1 for what the file has
//   out[0]  float [samples, channels] from -1 to 1: the last channel is repeated, missing samples are 0
//   out[1]  the sample rate, an int32 scalar
//
// encode_wav: samples as a WAV file.
//
//   in[0]   float [samples, channels]; in[1] the sample rate, an int32 scalar
//   out[0]  the file's bytes
#include "io/wav.h"

#include <algorithm>
#include <limits>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

Status DecodeWav(const KernelCall& call) {
  const Tensor& contents = *call.in[0];
  if (contents.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("contents must be scalar, got shape %s", ShapeText(contents).c_str());
  }
  const io::Bytes file = StringAt(contents, 0);
  if (file.size > static_cast<size_t>(kMaxInt32)) {
    return STILLFLOW_INVALID_ARGUMENT("WAV contents are too large for int: %zu", file.size);
  }
  io::WavSamples samples;
  const std::string error = io::FindWavSamples(file, &samples);
  if (!error.empty()) return STILLFLOW_INVALID_ARGUMENT("%s", error.c_str());
  const int64_t channels = call.attrs[0].i == -1 ? samples.channels : call.attrs[0].i;
  const int64_t frames = call.attrs[1].i == -1 ? samples.frames : call.attrs[1].i;
  Shape shape;
  shape.Add(frames);
  shape.Add(channels);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt32, Shape()));
  float* out = MutableData<float>(*call.out[0]);
  for (int64_t i = 0; i < frames; ++i) {
    for (int64_t j = 0; j < channels; ++j) {
      const int source = static_cast<int>(std::min<int64_t>(j, samples.channels - 1));
      *out++ = i < samples.frames ? samples.At(i, source) : 0.0f;
    }
  }
  *MutableData<int32_t>(*call.out[1]) = static_cast<int32_t>(samples.rate);
  return Status();
}

Status EncodeWav(const KernelCall& call) {
  const Tensor& audio = *call.in[0];
  const Tensor& sample_rate = *call.in[1];
  if (audio.rank != 2) return STILLFLOW_INVALID_ARGUMENT("audio must be 2-dimensional%s", ShapeText(audio).c_str());
  if (sample_rate.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input sample_rate should be a scalar tensor, got %s instead.",
                                      ShapeText(sample_rate).c_str());
  }
  if (audio.count >= kMaxInt32) return STILLFLOW_INVALID_ARGUMENT("Cannot encode audio with >= max int32 elements");
  const int32_t rate = *Data<int32_t>(sample_rate);
  const int64_t frames = audio.dims[0];
  const int64_t channels = audio.dims[1];
  if (rate <= 0)
    return STILLFLOW_INVALID_ARGUMENT("sample_rate must be in (0, 2^32), got: %lld", static_cast<long long>(rate));
  if (channels == 0 || channels > std::numeric_limits<uint16_t>::max()) {
    return STILLFLOW_INVALID_ARGUMENT("num_channels must be in (0, 2^16), got: %lld",
                                      static_cast<long long>(channels));
  }
  if (frames == 0) return STILLFLOW_INVALID_ARGUMENT("num_frames must be positive.");
  if (2 * audio.count + 44 > int64_t{std::numeric_limits<uint32_t>::max()}) {
    return STILLFLOW_INVALID_ARGUMENT("Provided channels and frames cannot be encoded as a WAV.");
  }
  return SetScalarString(call, io::WavFile(Data<float>(audio), frames, channels, static_cast<uint32_t>(rate)));
}

}  // namespace

STILLFLOW_KERNELS(parsing, wav){{"decode_wav", "contents | desired_channels, desired_samples", Guarded<DecodeWav>},
                                {"encode_wav", "audio, sample_rate", Guarded<EncodeWav>},
                                {}};

}  // namespace stillflow
