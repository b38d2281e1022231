// resampler, resampler_grad: images between their pixels, at given places.
//
//   resampler       in[0] data T[batch, height, width, channels]; in[1] warp T[batch, ..., 2]: columns and rows
//                   out[0] T[batch, ..., channels]
//   resampler_grad  in[0] data; in[1] warp; in[2] gradients of the output
//                   out[0] gradients of data; out[1] gradients of warp
//
// Around an image there is a border of zeros, one pixel wide, and beyond it nothing. Each operation rounds to T. What
// falls on one pixel is added up in the order of the places; images are independent.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "arithmetic/math/scalar.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

// What an operation on T has made.
template <typename T>
Wide<T> Rounded(Wide<T> value) {
  return Widen(Narrow<T>(value));
}

struct Extents {
  int64_t batch, height, width, channels, points;
  int64_t image_size() const { return height * width * channels; }
};

// The four pixels around a place, and how much of the left and the upper ones it takes.
template <typename T>
struct Place {
  using W = Wide<T>;

  // False if the place is beyond the border.
  bool Find(const T* warp, const Extents& extents) {
    const W x = Widen(warp[0]);
    const W y = Widen(warp[1]);
    if (!(x > -1 && y > -1 && x < Rounded<T>(static_cast<W>(extents.width)) &&
          y < Rounded<T>(static_cast<W>(extents.height)))) {
      return false;
    }
    left = static_cast<int64_t>(std::floor(static_cast<float>(x)));
    top = static_cast<int64_t>(std::floor(static_cast<float>(y)));
    dx = Rounded<T>(Rounded<T>(static_cast<W>(left + 1)) - x);
    dy = Rounded<T>(Rounded<T>(static_cast<W>(top + 1)) - y);
    rest_x = Rounded<T>(1 - dx);
    rest_y = Rounded<T>(1 - dy);
    offsets[0] = Offset(left, top, extents);
    offsets[1] = Offset(left + 1, top + 1, extents);
    offsets[2] = Offset(left, top + 1, extents);
    offsets[3] = Offset(left + 1, top, extents);
    return true;
  }

  // Of a pixel in its image; -1 on the border.
  static int64_t Offset(int64_t x, int64_t y, const Extents& extents) {
    const bool is_inside = x >= 0 && y >= 0 && x < extents.width && y < extents.height;
    return is_inside ? (y * extents.width + x) * extents.channels : -1;
  }

  // Pixels in the order upper left, lower right, lower left, upper right.
  W Value(const T* image, int corner, int64_t channel) const {
    return offsets[corner] < 0 ? W(0) : Widen(image[offsets[corner] + channel]);
  }

  W Weighted(W value, int corner) const {
    const W across = corner == 1 || corner == 3 ? rest_x : dx;
    const W down = corner == 1 || corner == 2 ? rest_y : dy;
    return Rounded<T>(Rounded<T>(value * across) * down);
  }

  int64_t left, top;
  W dx, dy, rest_x, rest_y;
  int64_t offsets[4];
};

Status Check(const KernelCall& call, Extents* extents) {
  const Tensor& data = *call.in[0];
  const Tensor& warp = *call.in[1];
  if (data.rank != 4) {
    return Error(Code::kUnimplemented,
                 "Only bilinear interpolation is currently supported. The input data shape must be [batch_size, "
                 "data_height, data_width, data_channels], but is: %s",
                 ShapeText(data).c_str());
  }
  if (warp.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("warp should be at least a matrix, got shape %s", ShapeText(warp).c_str());
  }
  if (warp.dims[warp.rank - 1] != 2) {
    return Error(Code::kUnimplemented,
                 "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape last entry "
                 "should be 2, but shape vector is: %s",
                 ShapeText(warp).c_str());
  }
  if (data.dims[0] != warp.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Batch size of data and warp tensor must be the same, but input shapes are: %s, %s", ShapeText(data).c_str(),
        ShapeText(warp).c_str());
  }
  *extents = {data.dims[0], data.dims[1], data.dims[2], data.dims[3], 0};
  if (extents->batch > 0) extents->points = warp.count / extents->batch / 2;
  return Status();
}

Shape OutputShape(const KernelCall& call, const Extents& extents) {
  Shape shape;
  for (int i = 0; i < call.in[1]->rank - 1; ++i) shape.Add(call.in[1]->dims[i]);
  shape.Add(extents.channels);
  return shape;
}

template <typename T>
void Sample(const Extents& extents, const T* image, const T* warp, T* to) {
  Place<T> place{};
  if (!place.Find(warp, extents)) {
    std::memset(static_cast<void*>(to), 0, extents.channels * sizeof(T));
    return;
  }
  // Each pixel with its weight: the weight first.
  const Wide<T> weights[4] = {Rounded<T>(place.dx * place.dy), Rounded<T>(place.rest_x * place.rest_y),
                              Rounded<T>(place.dx * place.rest_y), Rounded<T>(place.rest_x * place.dy)};
  for (int64_t c = 0; c < extents.channels; ++c) {
    Wide<T> sum = Rounded<T>(weights[0] * place.Value(image, 0, c));
    for (int i = 1; i < 4; ++i) sum = Rounded<T>(sum + Rounded<T>(weights[i] * place.Value(image, i, c)));
    to[c] = Narrow<T>(sum);
  }
}

Status Resample(const KernelCall& call) {
  Extents extents{};
  STILLFLOW_RETURN_IF_ERROR(Check(call, &extents));
  const DType dtype = call.in[0]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, OutputShape(call, extents)));
  if (call.out[0]->count == 0) return Status();
  return ForType<float, double, Half>("Resampler", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = Data<T>(*call.in[0]);
    const T* const warp = Data<T>(*call.in[1]);
    T* const to = MutableData<T>(*call.out[0]);
    const int64_t per_chunk = std::max<int64_t>(kElementsPerChunk / extents.channels, 1);
    return ForEachChunk(call, extents.batch * extents.points, per_chunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const T* const image = data + i / extents.points * extents.image_size();
        Sample(extents, image, warp + 2 * i, to + i * extents.channels);
      }
    });
  });
}

// The gradients of one place: adds to those of the image's pixels.
template <typename T>
void Spread(const Extents& extents, const T* image, const T* warp, const T* grad, T* image_grad, T* warp_grad) {
  Place<T> place{};
  if (!place.Find(warp, extents)) return;
  Wide<T> across = 0;
  Wide<T> down = 0;
  for (int64_t c = 0; c < extents.channels; ++c) {
    const Wide<T> g = Widen(grad[c]);
    Wide<T> values[4];
    for (int i = 0; i < 4; ++i) values[i] = place.Value(image, i, c);
    const auto part = [&](Wide<T> rest, int a, int b, Wide<T> weight, int d, int e) {
      const Wide<T> first = Rounded<T>(rest * Rounded<T>(values[a] - values[b]));
      return Rounded<T>(g * Rounded<T>(first + Rounded<T>(weight * Rounded<T>(values[d] - values[e]))));
    };
    across = Rounded<T>(across + part(place.rest_y, 1, 2, place.dy, 3, 0));
    down = Rounded<T>(down + part(place.rest_x, 1, 3, place.dx, 2, 0));
    for (int i = 0; i < 4; ++i) {
      if (place.offsets[i] < 0) continue;
      T& pixel = image_grad[place.offsets[i] + c];
      pixel = Narrow<T>(Widen(pixel) + place.Weighted(g, i));
    }
  }
  warp_grad[0] = Narrow<T>(across);
  warp_grad[1] = Narrow<T>(down);
}

Status ResampleGrad(const KernelCall& call) {
  Extents extents{};
  STILLFLOW_RETURN_IF_ERROR(Check(call, &extents));
  const Shape expected = OutputShape(call, extents);
  const Tensor& grad = *call.in[2];
  if (!(Shape(grad) == expected)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "grad_output shape is not consistent with data and warp shapes; it should be %s but is %s",
        ShapeText(expected).c_str(), ShapeText(grad).c_str());
  }
  const DType dtype = call.in[0]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape(*call.in[0])));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, dtype, Shape(*call.in[1])));
  return ForType<float, double, Half>("ResamplerGrad", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = Data<T>(*call.in[0]);
    const T* const warp = Data<T>(*call.in[1]);
    const T* const grads = Data<T>(grad);
    T* const data_grad = MutableData<T>(*call.out[0]);
    T* const warp_grad = MutableData<T>(*call.out[1]);
    return ForEachChunk(call, extents.batch, 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        T* const image_grad = data_grad + i * extents.image_size();
        std::memset(static_cast<void*>(image_grad), 0, extents.image_size() * sizeof(T));
        std::memset(static_cast<void*>(warp_grad + 2 * i * extents.points), 0, 2 * extents.points * sizeof(T));
        for (int64_t j = i * extents.points; j < (i + 1) * extents.points; ++j) {
          Spread(extents, data + i * extents.image_size(), warp + 2 * j, grads + j * extents.channels, image_grad,
                 warp_grad + 2 * j);
        }
      }
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(image, resampler){
    {"resampler", "data, warp", Resample}, {"resampler_grad", "data, warp, grad_output", ResampleGrad}, {}};

}  // namespace stillflow
