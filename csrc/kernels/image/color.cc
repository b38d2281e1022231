// rgb_to_hsv, hsv_to_rgb, adjust_contrast, adjust_hue, adjust_saturation: colors of pixels.
//
//   rgb_to_hsv, hsv_to_rgb  in[0] [..., 3]: red, green, blue, or hue, saturation, value, all from 0 to 1; out[0] the
//   other adjust_contrast         in[0] [..., height, width, channels]; in[1] a float: how many times as far each
//   element is to be
//                           from the mean of its image's channel
//   adjust_hue              in[0] [..., height, width, 3] RGB; in[1] a float: what to add to the hue, in turns
//   adjust_saturation       the same; in[1]: how many times as large the saturation is to be, up to 1
//
// Each pixel is by itself but for contrast, whose sums go through the pixels in order, in double.
#include <algorithm>
#include <cmath>

#include "arithmetic/math/element.h"

namespace stillflow {
namespace {

constexpr int64_t kPixelsPerChunk = 4096;

// ---- Color spaces -------------------------------------------------------------------------------------------------

template <typename W>
void HsvOf(const W* rgb, W* hsv) {
  const W red = rgb[0], green = rgb[1], blue = rgb[2];
  const W value = std::max(red, std::max(green, blue));
  const W range = value - std::min(red, std::min(green, blue));
  const W scale = W{1} / (W{6} * range);
  W hue;
  if (red == value) {
    hue = scale * (green - blue);
  } else if (green == value) {
    hue = scale * (blue - red) + W{2} / W{6};
  } else {
    hue = scale * (red - green) + W{4} / W{6};
  }
  if (!(range > W{0})) hue = W{0};
  if (hue < W{0}) hue = hue + W{1};
  hsv[0] = hue;
  hsv[1] = value > W{0} ? range / value : W{0};
  hsv[2] = value;
}

template <typename W>
void RgbOf(const W* hsv, W* rgb) {
  const auto clipped = [](W x) { return std::min(std::max(x, W{0}), W{1}); };
  const W hue = hsv[0] * W{6};
  const W shares[3] = {clipped(std::abs(hue - W{3}) - W{1}), clipped(W{2} - std::abs(hue - W{2})),
                       clipped(W{2} - std::abs(hue - W{4}))};
  const W white = W{1} - hsv[1];
  for (int i = 0; i < 3; ++i) rgb[i] = (white + hsv[1] * shares[i]) * hsv[2];
}

// out[0][..., :] = convert(in[0][..., :]) for pixels of three elements.
template <typename Convert>
Status MapPixels(const KernelCall& call, const char* name, const Convert& convert) {
  const Tensor& image = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, image.dtype, Shape(image)));
  return ForType<float, double, Half, BFloat16>(name, image.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    return ForEachChunk(call, image.count / 3, kPixelsPerChunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const T* from = Data<T>(image) + 3 * i;
        const W pixel[3] = {Widen(from[0]), Widen(from[1]), Widen(from[2])};
        W result[3];
        convert(pixel, result);
        T* to = MutableData<T>(*call.out[0]) + 3 * i;
        for (int j = 0; j < 3; ++j) to[j] = Narrow<T>(result[j]);
      }
    });
  });
}

Status CheckPixels(const Tensor& image, int least_rank) {
  if (image.rank < least_rank) {
    if (least_rank == 1) return STILLFLOW_INVALID_ARGUMENT("input must be at least 1D %s", ShapeText(image).c_str());
    return STILLFLOW_INVALID_ARGUMENT("input must be at least %d-D, got shape%s", least_rank,
                                      ShapeText(image).c_str());
  }
  const int64_t channels = image.dims[image.rank - 1];
  if (channels == 3) return Status();
  if (least_rank == 1) {
    return Error(Code::kFailedPrecondition, "input must have 3 channels but input only has %lld channels.",
                 static_cast<long long>(channels));
  }
  return STILLFLOW_INVALID_ARGUMENT("input must have 3 channels but instead has %lld channels.",
                                    static_cast<long long>(channels));
}

Status RgbToHsv(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckPixels(*call.in[0], 1));
  return MapPixels(call, "RGBToHSV", [](const auto* pixel, auto* result) { HsvOf(pixel, result); });
}

Status HsvToRgb(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckPixels(*call.in[0], 1));
  return MapPixels(call, "HSVToRGB", [](const auto* pixel, auto* result) { RgbOf(pixel, result); });
}

// ---- Hue and saturation -------------------------------------------------------------------------------------------

// `hue` in sixths of a turn, from 0 up to 6.
template <typename W>
void ShiftHue(const W* rgb, float turns, W* result) {
  const W low = std::min(rgb[0], std::min(rgb[1], rgb[2]));
  const W high = std::max(rgb[0], std::max(rgb[1], rgb[2]));
  W hue = W{0};
  if (high > low) {
    const W range = high - low;
    // The largest color leads to the next; between two of them, one rises or falls.
    if (rgb[0] == high) {
      hue = rgb[1] >= rgb[2] ? (rgb[1] - low) / range : W{5} + (W{1} - (rgb[2] - low) / range);
    } else if (rgb[1] == high) {
      hue = rgb[2] >= rgb[0] ? W{2} + (rgb[2] - low) / range : W{1} + (W{1} - (rgb[0] - low) / range);
    } else {
      hue = rgb[0] >= rgb[1] ? W{4} + (rgb[0] - low) / range : W{3} + (W{1} - (rgb[1] - low) / range);
    }
  }
  hue = hue + static_cast<W>(turns) * W{6};
  if (hue < W{0} || hue >= W{6}) {
    hue = std::fmod(hue, W{6});
    if (hue < W{0}) hue = hue + W{6};
  }
  const int sixth = hue >= W{0} && hue < W{6} ? static_cast<int>(hue) : 5;
  W share = hue - static_cast<W>(sixth);
  if (sixth % 2 == 1) share = W{1} - share;
  const W middle = low + share * (high - low);
  // Which of low (0), middle (1) and high (2) each color is, by the sixth of the circle.
  constexpr int kPlaces[6][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
  const W values[3] = {low, middle, high};
  for (int i = 0; i < 3; ++i) result[i] = values[kPlaces[sixth][i]];
}

template <typename W>
void Saturate(const W* rgb, float scale, W* result) {
  W hsv[3];
  HsvOf(rgb, hsv);
  const W saturation = std::min(W{1}, std::max(W{0}, hsv[1] * static_cast<W>(scale)));
  const W chroma = saturation * hsv[2];
  const W low = hsv[2] - chroma;
  const W hue = hsv[0] * W{6};
  const int sixth = hue >= W{0} && hue < W{6} ? static_cast<int>(hue) : 6;
  const W middle = chroma * (W{1} - std::abs(std::fmod(hue, W{2}) - W{1}));
  constexpr int kPlaces[7][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {0, 0, 0}};
  const W values[3] = {W{0}, middle, chroma};
  for (int i = 0; i < 3; ++i) result[i] = values[kPlaces[sixth][i]] + low;
}

Status CheckScalar(const Tensor& tensor, const char* name) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be scalar: %s", name, ShapeText(tensor).c_str());
}

Status AdjustHue(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckPixels(*call.in[0], 3));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "delta"));
  const float turns = Data<float>(*call.in[1])[0];
  return MapPixels(call, "AdjustHue", [turns](const auto* pixel, auto* result) { ShiftHue(pixel, turns, result); });
}

Status AdjustSaturation(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckPixels(*call.in[0], 3));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "scale"));
  const float scale = Data<float>(*call.in[1])[0];
  return MapPixels(call, "AdjustSaturation",
                   [scale](const auto* pixel, auto* result) { Saturate(pixel, scale, result); });
}

// ---- Contrast -----------------------------------------------------------------------------------------------------

template <typename T>
void AdjustImage(const T* from, int64_t pixels, int64_t channels, float factor, double* means, T* to) {
  using W = Wide<T>;
  std::fill_n(means, channels, 0.0);
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t j = 0; j < channels; ++j) means[j] += static_cast<double>(Widen(from[i * channels + j]));
  }
  for (int64_t j = 0; j < channels; ++j) means[j] /= static_cast<double>(pixels);
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t j = 0; j < channels; ++j) {
      const W mean = static_cast<W>(means[j]);
      const W distance = Widen(from[i * channels + j]) - mean;
      to[i * channels + j] = Narrow<T>(distance * static_cast<W>(factor) + mean);
    }
  }
}

Status AdjustContrast(const KernelCall& call) {
  const Tensor& image = *call.in[0];
  if (image.rank < 3) {
    return STILLFLOW_INVALID_ARGUMENT("input must be at least 3-D, got shape%s", ShapeText(image).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "contrast_factor"));
  const float factor = Data<float>(*call.in[1])[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, image.dtype, Shape(image)));
  if (image.count == 0) return Status();
  const int64_t channels = image.dims[image.rank - 1];
  const int64_t pixels = image.dims[image.rank - 2] * image.dims[image.rank - 3];
  const int64_t size = pixels * channels;
  return ForType<float, Half>("AdjustContrastv2", image.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, image.count / size, 1, [&](Range range) {
      Scratch means(call, channels * static_cast<int64_t>(sizeof(double)));
      if (!means.ok()) return OutOfScratch();
      for (int64_t i = range.begin; i < range.end; ++i) {
        AdjustImage(Data<T>(image) + i * size, pixels, channels, factor, means.data<double>(),
                    MutableData<T>(*call.out[0]) + i * size);
      }
      return Status();
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(image, color){{"rgb_to_hsv", "images", RgbToHsv},
                                {"hsv_to_rgb", "images", HsvToRgb},
                                {"adjust_contrast", "images, contrast_factor", AdjustContrast},
                                {"adjust_hue", "images, delta", AdjustHue},
                                {"adjust_saturation", "images, scale", AdjustSaturation},
                                {}};

}  // namespace stillflow
