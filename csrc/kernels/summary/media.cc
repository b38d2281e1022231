// image_summary, audio_summary: pictures and sounds as serialized Summary messages.
//
//   image_summary  in[0] tag; in[1] uint8 or floating [batch, height, width, channels of 1, 3 or 4]
//                  attrs max_images, bad_color: the color of pixels that are not finite
//   audio_summary  in[0] tag; in[1] float [batch, frames] or [batch, frames, channels]; in[2] sample rate
//                  attr max_outputs
//
// out[0] is a string scalar. Images are PNG files, sounds are WAV files of 16 bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arithmetic/math/scalar.h"
#include "io/png.h"
#include "io/wav.h"
#include "kernels/guarded.h"
#include "kernels/summary/messages.h"

namespace stillflow {
namespace {

using io::MessageWriter;

// Field numbers of Summary, Summary.Value, Summary.Image and Summary.Audio.
enum { kSummaryValue = 1 };
enum { kTag = 1, kImage = 4, kAudio = 6 };
enum { kHeight = 1, kWidth = 2, kColorspace = 3, kEncodedImage = 4 };
enum { kSampleRate = 1, kChannelCount = 2, kFrameCount = 3, kEncodedAudio = 4, kContentType = 5 };

void AddValue(const std::string& base, const char* kind, int64_t index, int64_t most, int field,
              const std::string& content, std::string* summary) {
  std::string value;
  MessageWriter writer(&value);
  writer.Field(kTag, base + "/" + kind + (most > 1 ? "/" + std::to_string(index) : ""));
  writer.Field(field, content);
  MessageWriter(summary).Field(kSummaryValue, value);
}

// ---- Images -------------------------------------------------------------------------------------------------------

bool IsFinite(double value) { return value - value == 0; }

template <typename T>
Wide<T> Rounded(Wide<T> value) {
  return Widen(Narrow<T>(value));
}

// Stretches the finite pixels of one image over the range of bytes: from 0 if there are no negative ones, otherwise
// around 128.
template <typename T>
void ScalePixels(const T* from, int64_t pixels, int channels, const uint8_t* bad_color, uint8_t* to) {
  using W = Wide<T>;
  const auto is_finite = [channels](const T* pixel) {
    return std::all_of(pixel, pixel + channels, [](T value) { return IsFinite(Widen(value)); });
  };
  float least = std::numeric_limits<float>::infinity();
  float most = -least;
  for (int64_t i = 0; i < pixels; ++i) {
    const T* pixel = from + i * channels;
    if (!is_finite(pixel)) continue;
    for (int c = 0; c < channels; ++c) {
      const auto value = static_cast<float>(Widen(pixel[c]));
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  constexpr float kZero = 1e-6f;
  const bool is_signed = least < 0;
  const float largest = is_signed ? std::max(std::abs(least), std::abs(most)) : most;
  const float scale = largest < kZero ? 0.0f : (is_signed ? 127.0f : 255.0f) / largest;
  const float offset = is_signed ? 128.0f : 0.0f;
  for (int64_t i = 0; i < pixels; ++i, from += channels, to += channels) {
    if (!is_finite(from)) {
      std::copy_n(bad_color, channels, to);
      continue;
    }
    for (int c = 0; c < channels; ++c) {
      // Each step is rounded to the images' own type, as TensorFlow's are.
      const W scaled = Rounded<T>(Rounded<T>(Widen(from[c])) * Rounded<T>(static_cast<W>(scale)));
      const W value = Rounded<T>(scaled + static_cast<W>(offset));
      to[c] = static_cast<uint8_t>(std::clamp<W>(value, 0, 255));
    }
  }
}

Status CheckImages(const Tensor& images) {
  const bool is_image = images.rank == 4 && (images.dims[3] == 1 || images.dims[3] == 3 || images.dims[3] == 4);
  if (!is_image) {
    return STILLFLOW_INVALID_ARGUMENT("Tensor must be 4-D with last dim 1, 3, or 4, not %s",
                                      ShapeText(images).c_str());
  }
  if (images.dims[0] > 0 && images.count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("input tensor must have non-zero dims. Found: %s.",
                                      ShapeText(images.rank, images.dims, ", ").c_str());
  }
  const int64_t row = images.dims[2] * images.dims[3];
  if (images.dims[1] >= int64_t{1} << 31 || row >= int64_t{1} << 28) {
    return STILLFLOW_INVALID_ARGUMENT("Tensor too large for summary %s", ShapeText(images).c_str());
  }
  return Status();
}

}  // namespace

Status AppendImages(const std::string& tag, const Tensor& images, int64_t most, const uint8_t* bad_color,
                    int64_t color_size, std::string* summary) {
  STILLFLOW_RETURN_IF_ERROR(CheckImages(images));
  const auto channels = static_cast<int>(images.dims[3]);
  if (color_size < channels) {
    return STILLFLOW_INVALID_ARGUMENT("expected depth <= bad_color.size, got depth = %d, bad_color.size = %d",
                                      channels, static_cast<int>(color_size));
  }
  const int64_t pixels = images.dims[1] * images.dims[2];
  std::vector<uint8_t> scaled(images.dtype == DType::kUInt8 || images.count == 0 ? 0 : pixels * channels);
  for (int64_t i = 0; i < std::min(most, images.dims[0]); ++i) {
    const uint8_t* bytes = Data<uint8_t>(images) + i * pixels * channels;
    if (images.dtype != DType::kUInt8) {
      bytes = scaled.data();
      Status status = ForType<float, double, Half>("ImageSummary", images.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        ScalePixels(Data<T>(images) + i * pixels * channels, pixels, channels, bad_color, scaled.data());
        return Status();
      });
      if (!status.ok()) return status;
    }
    std::string png, image;
    if (!io::AppendPng(bytes, images.dims[2], images.dims[1], channels, 8, -1, &png)) return OutOfScratch();
    MessageWriter writer(&image);
    writer.Varint(kHeight, images.dims[1]);
    writer.Varint(kWidth, images.dims[2]);
    writer.Varint(kColorspace, channels);
    writer.Field(kEncodedImage, png);
    AddValue(tag, "image", i, most, kImage, image, summary);
  }
  return Status();
}

namespace {

Status ImageSummary(const KernelCall& call) {
  if (call.in[0]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("Tags must be a scalar");
  const auto* color = static_cast<const int64_t*>(call.attrs[1].data);
  const std::vector<uint8_t> bad_color(color, color + call.attrs[1].size);
  std::string summary;
  STILLFLOW_RETURN_IF_ERROR(AppendImages(Text(StringAt(*call.in[0], 0)), *call.in[1], call.attrs[0].i,
                                         bad_color.data(), call.attrs[1].size, &summary));
  return SetScalarString(call, summary);
}

// ---- Sounds -------------------------------------------------------------------------------------------------------

Status CheckAudio(const Tensor& audio, float sample_rate, int64_t frames, int64_t channels) {
  constexpr int64_t k32Bits = int64_t{1} << 32;
  if (!(sample_rate > 0)) return STILLFLOW_INVALID_ARGUMENT("sample_rate must be > 0");
  if (audio.dims[0] == 0) return Status();
  if (audio.count == 0) return STILLFLOW_INVALID_ARGUMENT("audio is null");
  const float rounded_rate = std::nearbyint(sample_rate);
  if (!(rounded_rate < static_cast<float>(k32Bits))) {
    return STILLFLOW_INVALID_ARGUMENT("sample_rate must be in (0, 2^32), got: %.0f", rounded_rate);
  }
  if (channels >= 1 << 16) {
    return STILLFLOW_INVALID_ARGUMENT("num_channels must be in (0, 2^16), got: %lld",
                                      static_cast<long long>(channels));
  }
  const auto rate = static_cast<int64_t>(rounded_rate);
  if (rate * channels * 2 >= k32Bits) {
    return STILLFLOW_INVALID_ARGUMENT("bytes per second must be less than 2^32, got: %lld",
                                      static_cast<long long>(rate * channels * 2));
  }
  if (frames > (k32Bits - 44) / (channels * 2)) {
    return STILLFLOW_INVALID_ARGUMENT("The file would be larger than 2^32 bytes: %lld frames of %lld channels",
                                      static_cast<long long>(frames), static_cast<long long>(channels));
  }
  return Status();
}

}  // namespace

Status AppendSounds(const std::string& tag, const Tensor& audio, float sample_rate, int64_t most,
                    std::string* summary) {
  if (audio.rank != 2 && audio.rank != 3) {
    return STILLFLOW_INVALID_ARGUMENT("Tensor must be 3-D or 2-D, got: %s", ShapeText(audio).c_str());
  }
  const int64_t frames = audio.dims[1];
  const int64_t channels = audio.rank == 2 ? 1 : audio.dims[2];
  STILLFLOW_RETURN_IF_ERROR(CheckAudio(audio, sample_rate, frames, channels));
  for (int64_t i = 0; i < std::min(most, audio.dims[0]); ++i) {
    const float* samples = Data<float>(audio) + i * frames * channels;
    std::string message;
    MessageWriter writer(&message);
    writer.Float(kSampleRate, sample_rate);
    writer.Varint(kChannelCount, channels);
    writer.Varint(kFrameCount, frames);
    const auto rate = static_cast<uint32_t>(std::nearbyint(sample_rate));
    writer.Field(kEncodedAudio, io::WavFile(samples, frames, channels, rate));
    writer.Field(kContentType, std::string("audio/wav"));
    AddValue(tag, "audio", i, most, kAudio, message, summary);
  }
  return Status();
}

namespace {

Status AudioSummary(const KernelCall& call) {
  if (call.in[0]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("Tag must be a scalar");
  if (call.in[2]->count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("sample_rate must be a scalar, got shape %s", ShapeText(*call.in[2]).c_str());
  }
  std::string summary;
  STILLFLOW_RETURN_IF_ERROR(AppendSounds(Text(StringAt(*call.in[0], 0)), *call.in[1], Data<float>(*call.in[2])[0],
                                         call.attrs[0].i, &summary));
  return SetScalarString(call, summary);
}

}  // namespace

STILLFLOW_KERNELS(summary, media){{"image_summary", "tag, tensor | max_images, bad_color", Guarded<ImageSummary>},
                                  {"audio_summary", "tag, tensor, sample_rate | max_outputs", Guarded<AudioSummary>},
                                  {}};

}  // namespace stillflow
