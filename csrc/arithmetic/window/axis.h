// axis.h: how a window goes along the axes of images, as attributes of nodes describe it.
//
// Images have up to three spatial axes: planes, rows and columns. Those with fewer have axes of size 1 in front.
#pragma once

#include <algorithm>
#include <climits>

#include "kernel_api/kernel.h"

namespace stillflow {

constexpr int kSpatialAxes = 3;

enum class Padding { kValid, kSame, kExplicit };

struct WindowAxis {
  int64_t input = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding
  int64_t after = 0;
  int64_t output = 1;

  int64_t Extent() const { return (window - 1) * dilation + 1; }

  // Sets `output` and, unless it is explicit, the padding.
  Status Resolve(Padding padding);

  // The taps of the window at `place` that lie inside of the image; dilation is 1.
  Range Inside(int64_t place) const {
    const int64_t first = place * stride - before;
    const int64_t begin = std::max<int64_t>(first, 0);
    return {begin, std::max(begin, std::min(first + window, input))};
  }
  // The places whose windows cover a pixel; dilation is 1.
  Range Covering(int64_t pixel) const {
    const int64_t position = pixel + before;
    const int64_t begin = position < window ? 0 : (position - window) / stride + 1;
    return {begin, std::max(begin, std::min(position / stride + 1, output))};
  }
};

inline Status WindowAxis::Resolve(Padding padding) {
  if (stride <= 0) {
    return STILLFLOW_INVALID_ARGUMENT("Stride must be > 0, but got %lld", static_cast<long long>(stride));
  }
  if (dilation < 1) {
    return STILLFLOW_INVALID_ARGUMENT("Dilation rate must be >= 1, but got %lld", static_cast<long long>(dilation));
  }
  if (padding == Padding::kSame) {
    output = (input + stride - 1) / stride;
    const int64_t missing = std::max<int64_t>((output - 1) * stride + Extent() - input, 0);
    before = missing / 2;
    after = missing - before;
  } else {
    if (padding == Padding::kValid) before = after = 0;
    output = (input + before + after - Extent() + stride) / stride;
  }
  if (output >= 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, stride: %lld]",
      static_cast<long long>(output), static_cast<long long>(input), static_cast<long long>(Extent()),
      static_cast<long long>(stride));
}

// ---- Formats --------------------------------------------------------------------------------------------------

inline bool EqualsText(const Attr& attr, const char* text) {
  const auto length = static_cast<int64_t>(std::strlen(text));
  return attr.size == length && std::memcmp(attr.data, text, length) == 0;
}

inline Padding PaddingOf(const Attr& attr) {
  if (EqualsText(attr, "SAME")) return Padding::kSame;
  return EqualsText(attr, "EXPLICIT") ? Padding::kExplicit : Padding::kValid;
}

// Where the dimensions of images lie.
struct ImageFormat {
  int spatial_rank;
  bool is_channels_first;

  int Rank() const { return spatial_rank + 2; }
  int ChannelAxis() const { return is_channels_first ? 1 : spatial_rank + 1; }
  // `i` counts the spatial axes that there are.
  int SpatialAxis(int i) const { return i + (is_channels_first ? 2 : 1); }
  // Where spatial axis i is among kSpatialAxes.
  int Slot(int i) const { return kSpatialAxes - spatial_rank + i; }
};

// "NHWC", "NCHW", "NDHWC", "NCDHW".
inline ImageFormat FormatOf(const Attr& attr, int spatial_rank) {
  const bool is_channels_first = attr.size > 1 && static_cast<const char*>(attr.data)[1] == 'C';
  return {spatial_rank, is_channels_first};
}

// ---- Lists of one number for each dimension -------------------------------------------------------------------

// The numbers of a list, which must all fit into an int32, as in TensorFlow.
inline Status ReadSizes(const Attr& attr, const char* name, int rank, const char* wrong_count, int64_t* sizes) {
  if (attr.size != rank) return STILLFLOW_INVALID_ARGUMENT("%s", wrong_count);
  const auto* values = static_cast<const int64_t*>(attr.data);
  for (int i = 0; i < rank; ++i) {
    if (values[i] < INT_MIN || values[i] > INT_MAX) {
      return STILLFLOW_INVALID_ARGUMENT("Attr %s has value %lld out of range for an int32", name,
                                        static_cast<long long>(values[i]));
    }
    sizes[i] = values[i];
  }
  return Status();
}

// Sizes that programs cannot mean, and with which arithmetic on them could overflow.
inline Status CheckImageSizes(const Tensor& image) {
  for (int i = 0; i < image.rank; ++i) {
    if (image.dims[i] > INT_MAX) {
      return STILLFLOW_INVALID_ARGUMENT("image is too large: %s", ShapeText(image).c_str());
    }
  }
  return Status();
}

}  // namespace stillflow
