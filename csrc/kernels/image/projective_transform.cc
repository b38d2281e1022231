// projective_transform: images seen through a projection of the plane, one for each or one for all.
//
//   in[0]  images T[batch, height, width, channels]
//   in[1]  float[batch or 1, 8]: a0, a1, a2, b0, b1, b2, c0, c1
//   in[2]  int32[2]: height and width of the results
//   attrs  interpolation: "NEAREST" or "BILINEAR"
//   out[0] T[batch, new height, new width, channels]
//
// Pixel (x, y) of a result is what the image has at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) where
// k = c0 x + c1 y + 1; outside of the image everything is 0.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "arithmetic/math/scalar.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

struct Place {
  float x, y;
  bool is_finite;
};

template <typename T>
struct Image {
  const T* pixels;
  int64_t height, width, channels;

  // The pixel of column x and row y, which are whole numbers; nullptr outside of the image.
  const T* At(float x, float y) const {
    const bool is_inside = x >= 0 && x < static_cast<float>(width) && y >= 0 && y < static_cast<float>(height);
    return is_inside ? pixels + (static_cast<int64_t>(y) * width + static_cast<int64_t>(x)) * channels : nullptr;
  }
};

Place Project(const float* transform, int64_t column, int64_t row) {
  const auto x = static_cast<float>(column);
  const auto y = static_cast<float>(row);
  const float scale = transform[6] * x + transform[7] * y + 1.0f;
  return {(transform[0] * x + transform[1] * y + transform[2]) / scale,
          (transform[3] * x + transform[4] * y + transform[5]) / scale, scale != 0};
}

template <typename T>
float ToFloat(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<float>(Widen(value));
  }
}

// Toward zero, as C++ converts; float has no number between the largest of a wide integer and the first past it.
template <typename T>
T FromFloat(float value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr T kMost = std::numeric_limits<T>::max();
    if (value >= static_cast<float>(kMost)) return kMost;
  }
  return Narrow<T>(value);
}

template <typename T>
void TakeNearest(const Image<T>& image, const Place& at, T* to) {
  const T* const pixel = image.At(std::round(at.x), std::round(at.y));
  if (pixel == nullptr) {
    std::memset(static_cast<void*>(to), 0, image.channels * sizeof(T));
  } else {
    std::copy_n(pixel, image.channels, to);
  }
}

template <typename T>
void TakeBilinear(const Image<T>& image, const Place& at, T* to) {
  const float left = std::floor(at.x);
  const float top = std::floor(at.y);
  const float right = left + 1;
  const float bottom = top + 1;
  const T* const corners[4] = {image.At(left, top), image.At(right, top), image.At(left, bottom),
                               image.At(right, bottom)};
  if (std::all_of(corners, corners + 4, [](const T* corner) { return corner == nullptr; })) {
    std::memset(static_cast<void*>(to), 0, image.channels * sizeof(T));
    return;
  }
  for (int64_t c = 0; c < image.channels; ++c) {
    float values[4];
    for (int i = 0; i < 4; ++i) values[i] = corners[i] == nullptr ? 0.0f : ToFloat(corners[i][c]);
    const float above = (right - at.x) * values[0] + (at.x - left) * values[1];
    const float below = (right - at.x) * values[2] + (at.x - left) * values[3];
    to[c] = FromFloat<T>((bottom - at.y) * above + (at.y - top) * below);
  }
}

Status CheckInputs(const KernelCall& call) {
  const Tensor& images = *call.in[0];
  const Tensor& transforms = *call.in[1];
  const Tensor& size = *call.in[2];
  if (images.rank != 4) return STILLFLOW_INVALID_ARGUMENT("Input images must have rank 4");
  if (transforms.rank != 2 || (transforms.dims[0] != images.dims[0] && transforms.dims[0] != 1) ||
      transforms.dims[1] != 8) {
    return STILLFLOW_INVALID_ARGUMENT("Input transform should be num_images x 8 or 1 x 8");
  }
  if (size.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("output shape must be 1-dimensional%s", ShapeText(size).c_str());
  }
  if (size.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("output shape must have two elements%s", ShapeText(size).c_str());
  }
  if (Data<int32_t>(size)[0] <= 0 || Data<int32_t>(size)[1] <= 0) {
    return STILLFLOW_INVALID_ARGUMENT("output dimensions must be positive");
  }
  return Status();
}

Status ReadInterpolation(const KernelCall& call, bool* is_bilinear) {
  const Attr& name = call.attrs[0];
  const auto is = [&name](const char* text) {
    return name.size == static_cast<int64_t>(std::strlen(text)) && std::memcmp(name.data, text, name.size) == 0;
  };
  *is_bilinear = is("BILINEAR");
  if (*is_bilinear || is("NEAREST")) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Invalid interpolation %.*s. Supported types: NEAREST, BILINEAR",
                                    static_cast<int>(std::min<int64_t>(name.size, 200)),
                                    static_cast<const char*>(name.data));
}

Status ProjectiveTransform(const KernelCall& call) {
  constexpr int64_t kPixelsPerChunk = 4096;
  bool is_bilinear = false;
  STILLFLOW_RETURN_IF_ERROR(ReadInterpolation(call, &is_bilinear));
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  const Tensor& images = *call.in[0];
  const Tensor& transforms = *call.in[1];
  const int64_t height = Data<int32_t>(*call.in[2])[0];
  const int64_t width = Data<int32_t>(*call.in[2])[1];
  Shape shape(images);
  shape.dims[1] = height;
  shape.dims[2] = width;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, images.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  const auto by_type = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t channels = images.dims[3];
    const int64_t of_image = images.count / images.dims[0];
    T* const to = MutableData<T>(*call.out[0]);
    const int64_t rows_per_chunk = std::max<int64_t>(kPixelsPerChunk / width, 1);
    return ForEachChunk(call, images.dims[0] * height, rows_per_chunk, [&](Range range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        const int64_t number = row / height;
        const Image<T> image = {Data<T>(images) + number * of_image, images.dims[1], images.dims[2], channels};
        const float* const transform = Data<float>(transforms) + (transforms.dims[0] == 1 ? 0 : 8 * number);
        for (int64_t column = 0; column < width; ++column) {
          T* const pixel = to + (row * width + column) * channels;
          const Place at = Project(transform, column, row % height);
          if (!at.is_finite) {
            std::memset(static_cast<void*>(pixel), 0, channels * sizeof(T));
          } else if (is_bilinear) {
            TakeBilinear(image, at, pixel);
          } else {
            TakeNearest(image, at, pixel);
          }
        }
      }
    });
  };
  return ForType<uint8_t, int32_t, int64_t, Half, float, double>("ImageProjectiveTransformV2", images.dtype, by_type);
}

}  // namespace

STILLFLOW_KERNELS(image, projective_transform){
    {"projective_transform", "images, transforms, output_shape | interpolation", ProjectiveTransform}, {}};

}  // namespace stillflow
