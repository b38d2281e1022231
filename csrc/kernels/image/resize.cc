// resize_bilinear, resize_nearest_neighbor, resize_bicubic, resize_area and their gradients: images of another size.
//
//   in[0] images [batch, height, width, channels]; in[1] int32 [2]: the new height and width
//   attrs align_corners: the corners' pixels keep their places; half_pixel_centers: pixels are where their centers
//   are out[0] [batch, new height, new width, channels]: float, or the images' type for nearest neighbors
//
//   the gradients: in[0] gradients of out[0]; in[1] the images, or for nearest neighbors their height and width
//   out[0] gradients of the images, of the images' type
//
// Each output element is computed by itself, in float; gradients go through an image's pixels in order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/element.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 4096;

struct Options {
  bool align_corners;
  bool half_pixel_centers;
};

Status ReadOptions(const KernelCall& call, Options* options) {
  *options = {call.attrs[0].i != 0, call.attrs[1].i != 0};
  if (!options->half_pixel_centers || !options->align_corners) return Status();
  return STILLFLOW_INVALID_ARGUMENT("If half_pixel_centers is True, align_corners must be False.");
}

// How many pixels of the input a pixel of the output is wide.
float ScaleOf(int64_t in, int64_t out, const Options& options) {
  return options.align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                          : static_cast<float>(in) / static_cast<float>(out);
}

// Where in the input a pixel of the output is.
float PlaceOf(int64_t pixel, float scale, const Options& options) {
  if (options.half_pixel_centers) return (static_cast<float>(pixel) + 0.5f) * scale - 0.5f;
  return static_cast<float>(pixel) * scale;
}

int64_t Bounded(int64_t pixel, int64_t size) { return std::min(std::max<int64_t>(pixel, 0), size - 1); }

// ---- Checks -------------------------------------------------------------------------------------------------------

struct Sizes {
  int64_t batch, height, width, channels, new_height, new_width;
};

Status CheckImages(const Tensor& images) {
  if (images.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(images).c_str());
  }
  if (images.dims[1] > INT32_MAX || images.dims[2] > INT32_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("input sizes must be between 0 and max int32");
  }
  return Status();
}

Status ReadSize(const Tensor& size, int64_t* height, int64_t* width) {
  if (size.rank != 1) return STILLFLOW_INVALID_ARGUMENT("shape_t must be 1-dimensional%s", ShapeText(size).c_str());
  if (size.count != 2) return STILLFLOW_INVALID_ARGUMENT("shape_t must have two elements%s", ShapeText(size).c_str());
  *height = IntAt(size, 0);
  *width = IntAt(size, 1);
  if (*height <= 0 || *width <= 0) return STILLFLOW_INVALID_ARGUMENT("output dimensions must be positive");
  return Status();
}

Status ReadSizes(const KernelCall& call, Sizes* sizes) {
  const Tensor& images = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckImages(images));
  STILLFLOW_RETURN_IF_ERROR(ReadSize(*call.in[1], &sizes->new_height, &sizes->new_width));
  sizes->batch = images.dims[0];
  sizes->height = images.dims[1];
  sizes->width = images.dims[2];
  sizes->channels = images.dims[3];
  if (sizes->height == 0 || sizes->width == 0) {
    return STILLFLOW_INVALID_ARGUMENT("input image must be of non-zero size");
  }
  if (sizes->channels == 0) return STILLFLOW_INVALID_ARGUMENT("image must have at least one channel");
  return Status();
}

// Gradients [batch, new height, new width, channels] for images of that height and width.
Status ReadGradientSizes(const Tensor& grads, int64_t height, int64_t width, Sizes* sizes) {
  STILLFLOW_RETURN_IF_ERROR(CheckImages(grads));
  *sizes = {grads.dims[0], height, width, grads.dims[3], grads.dims[1], grads.dims[2]};
  return Status();
}

Status AllocateImages(const KernelCall& call, DType dtype, int64_t batch, int64_t height, int64_t width,
                      int64_t channels) {
  Shape shape;
  for (const int64_t size : {batch, height, width, channels}) shape.Add(size);
  return AllocateOutput(call, 0, dtype, shape);
}

// ---- What pixels are made of --------------------------------------------------------------------------------------

// The pixels along one axis that a pixel of the output is made of, and their weights.
struct Taps {
  static constexpr int kMost = 4;
  int64_t pixels[kMost];
  float weights[kMost];
};

// Fills in taps for all pixels along an axis; two of them for bilinear, four for bicubic interpolation.
using FillTaps = void (*)(int64_t out, int64_t in, float scale, const Options& options, Taps* taps);

// weights[0] is the share of the second pixel alone.
void FillLinear(int64_t out, int64_t in, float scale, const Options& options, Taps* taps) {
  for (int64_t i = 0; i < out; ++i) {
    const float place = PlaceOf(i, scale, options);
    const float floor = std::floor(place);
    taps[i].pixels[0] = Bounded(static_cast<int64_t>(floor), in);
    taps[i].pixels[1] = Bounded(static_cast<int64_t>(std::ceil(place)), in);
    taps[i].weights[0] = place - floor;
  }
}

constexpr int64_t kCubicSteps = 1024;

// Keys' cubic kernel, at x pixels and at x + 1, x being one of 1024 steps; `a` is its slope at 1.
float CubicNear(int64_t step, double a) {
  const float x = static_cast<float>(static_cast<double>(step) / kCubicSteps);
  return static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
}
float CubicFar(int64_t step, double a) {
  const float x =
      static_cast<float>(static_cast<double>(static_cast<float>(static_cast<double>(step) / kCubicSteps)) + 1.0);
  return static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
}

void FillCubic(int64_t out, int64_t in, float scale, const Options& options, Taps* taps) {
  // With half pixels, TensorFlow takes Keys' slope, and leaves out what lies beyond the edges.
  const double a = options.half_pixel_centers ? -0.5 : -0.75;
  for (int64_t i = 0; i < out; ++i) {
    const float place = PlaceOf(i, scale, options);
    const auto first = static_cast<int64_t>(std::floor(place));
    const float share = place - static_cast<float>(first);
    const auto step = static_cast<int64_t>(std::lrint(share * static_cast<float>(kCubicSteps)));
    float* weights = taps[i].weights;
    weights[0] = CubicFar(step, a);
    weights[1] = CubicNear(step, a);
    weights[2] = CubicNear(kCubicSteps - step, a);
    weights[3] = CubicFar(kCubicSteps - step, a);
    for (int j = 0; j < 4; ++j) {
      taps[i].pixels[j] = Bounded(first - 1 + j, in);
      if (options.half_pixel_centers && taps[i].pixels[j] != first - 1 + j) weights[j] = 0.0f;
    }
    if (options.half_pixel_centers) {
      const float sum = weights[0] + weights[1] + weights[2] + weights[3];
      if (std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min()) {
        const float factor = 1.0f / sum;
        for (int j = 0; j < 4; ++j) weights[j] *= factor;
      }
    }
  }
}

// Taps along both axes, in scratch memory.
class TapTable {
 public:
  TapTable(const KernelCall& call, const Sizes& sizes, const Options& options, FillTaps fill)
      : memory_(call, (sizes.new_height + sizes.new_width) * static_cast<int64_t>(sizeof(Taps))),
        new_height_(sizes.new_height) {
    if (!memory_.ok()) return;
    Taps* taps = memory_.data<Taps>();
    fill(sizes.new_height, sizes.height, ScaleOf(sizes.height, sizes.new_height, options), options, taps);
    fill(sizes.new_width, sizes.width, ScaleOf(sizes.width, sizes.new_width, options), options, taps + new_height_);
  }
  bool ok() const { return memory_.ok(); }
  const Taps& row(int64_t i) const { return memory_.data<Taps>()[i]; }
  const Taps& column(int64_t i) const { return memory_.data<Taps>()[new_height_ + i]; }

 private:
  Scratch memory_;
  int64_t new_height_;
};

struct Bilinear {
  static constexpr FillTaps kFill = FillLinear;
  // The value between pixels; at(i, j) is the pixel of row tap i and column tap j.
  template <typename At>
  static float Value(const Taps& row, const Taps& column, const At& at) {
    const float top = at(0, 0) + (at(0, 1) - at(0, 0)) * column.weights[0];
    const float bottom = at(1, 0) + (at(1, 1) - at(1, 0)) * column.weights[0];
    return top + (bottom - top) * row.weights[0];
  }
  // Calls add(i, j, share of the gradient).
  template <typename Add>
  static void Spread(const Taps& row, const Taps& column, float grad, const Add& add) {
    const float below = row.weights[0], right = column.weights[0];
    add(0, 0, grad * (1 - below) * (1 - right));
    add(0, 1, grad * (1 - below) * right);
    add(1, 0, grad * below * (1 - right));
    add(1, 1, grad * below * right);
  }
};

struct Bicubic {
  static constexpr FillTaps kFill = FillCubic;
  static float Sum(const float* weights, float a, float b, float c, float d) {
    return a * weights[0] + b * weights[1] + c * weights[2] + d * weights[3];
  }
  template <typename At>
  static float Value(const Taps& row, const Taps& column, const At& at) {
    float columns[4];
    for (int j = 0; j < 4; ++j) columns[j] = Sum(row.weights, at(0, j), at(1, j), at(2, j), at(3, j));
    return Sum(column.weights, columns[0], columns[1], columns[2], columns[3]);
  }
  template <typename Add>
  static void Spread(const Taps& row, const Taps& column, float grad, const Add& add) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) add(i, j, grad * row.weights[i] * column.weights[j]);
    }
  }
};

// ---- Interpolation ------------------------------------------------------------------------------------------------

// Images as floats: their own elements, or converted ones.
class FloatImages {
 public:
  FloatImages(const KernelCall& call, const Tensor& images)
      : converted_(call, images.dtype == DType::kFloat ? 0 : images.count * static_cast<int64_t>(sizeof(float))),
        data_(images.dtype == DType::kFloat ? Data<float>(images) : converted_.data<float>()) {}
  bool ok() const { return converted_.ok(); }
  const float* data() const { return data_; }

  Status Convert(const KernelCall& call, const char* kernel, const Tensor& images) const {
    if (images.dtype == DType::kFloat) return Status();
    const TileOp* const cast = FindTileOp("cast", images.dtype, DType::kFloat);
    const bool is_counted = images.dtype == DType::kUInt32 || images.dtype == DType::kUInt64;
    if (cast == nullptr || is_counted || images.dtype == DType::kBool) return UnsupportedType(kernel, images.dtype);
    const int64_t bytes = ElementBytes(images.dtype);
    return ForEachChunk(call, images.count, kElementsPerChunk, [&](Range range) {
      TileCall tile = {};
      tile.count = range.end - range.begin;
      tile.in[0] = Data<char>(images) + range.begin * bytes;
      tile.out = converted_.data<float>() + range.begin;
      RunTileOp(*cast, tile);
    });
  }

 private:
  const Scratch converted_;
  const float* const data_;
};

template <typename Kind>
Status Interpolate(const KernelCall& call, const char* name) {
  Options options;
  Sizes sizes;
  STILLFLOW_RETURN_IF_ERROR(ReadOptions(call, &options));
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(call, &sizes));
  STILLFLOW_RETURN_IF_ERROR(
      AllocateImages(call, DType::kFloat, sizes.batch, sizes.new_height, sizes.new_width, sizes.channels));
  if (call.out[0]->count == 0) return Status();
  const TapTable taps(call, sizes, options, Kind::kFill);
  if (!taps.ok()) return OutOfScratch();
  float* const out = MutableData<float>(*call.out[0]);
  const FloatImages images(call, *call.in[0]);
  if (!images.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(images.Convert(call, name, *call.in[0]));
  const int64_t channels = sizes.channels;
  const int64_t row_size = sizes.new_width * channels;
  const int64_t chunk = std::max<int64_t>(1, kElementsPerChunk / row_size);
  return ForEachChunk(call, sizes.batch * sizes.new_height, chunk, [&](Range range) {
    for (int64_t line = range.begin; line < range.end; ++line) {
      const float* const image = images.data() + line / sizes.new_height * sizes.height * sizes.width * channels;
      const Taps& row = taps.row(line % sizes.new_height);
      for (int64_t x = 0; x < sizes.new_width; ++x) {
        const Taps& column = taps.column(x);
        for (int64_t c = 0; c < channels; ++c) {
          out[line * row_size + x * channels + c] = Kind::Value(row, column, [&](int i, int j) {
            return image[(row.pixels[i] * sizes.width + column.pixels[j]) * channels + c];
          });
        }
      }
    }
  });
}

// Adds the gradients of one image, in the order of its pixels.
template <typename Kind, typename T>
void SpreadImage(const float* grads, const Sizes& sizes, const TapTable& taps, T* image) {
  using W = typename ElementArithmetic<T>::Wide;
  const int64_t channels = sizes.channels;
  for (int64_t y = 0; y < sizes.new_height; ++y) {
    const Taps& row = taps.row(y);
    for (int64_t x = 0; x < sizes.new_width; ++x) {
      const Taps& column = taps.column(x);
      for (int64_t c = 0; c < channels; ++c) {
        Kind::Spread(row, column, grads[(y * sizes.new_width + x) * channels + c], [&](int i, int j, float share) {
          T& to = image[(row.pixels[i] * sizes.width + column.pixels[j]) * channels + c];
          to = ElementArithmetic<T>::Store(ElementArithmetic<T>::Load(to) + static_cast<W>(share));
        });
      }
    }
  }
}

template <typename Kind>
Status InterpolateGrad(const KernelCall& call, const char* name) {
  Options options;
  Sizes sizes;
  const Tensor& grads = *call.in[0];
  const Tensor& images = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(ReadOptions(call, &options));
  if (images.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("original_image must be 4-dimensional%s", ShapeText(images).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ReadGradientSizes(grads, images.dims[1], images.dims[2], &sizes));
  if (images.dims[0] != grads.dims[0] || images.dims[3] != grads.dims[3]) {
    return STILLFLOW_INVALID_ARGUMENT("gradients of shape %s do not fit images of shape %s", ShapeText(grads).c_str(),
                                      ShapeText(images).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, images.dtype, Shape(images)));
  if (call.out[0]->count == 0) return Status();
  std::memset(call.out[0]->data, 0, call.out[0]->count * ElementBytes(images.dtype));
  if (grads.count == 0) return Status();
  const TapTable taps(call, sizes, options, Kind::kFill);
  if (!taps.ok()) return OutOfScratch();
  return ForType<float, double, Half, BFloat16>(name, images.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, sizes.batch, 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        SpreadImage<Kind>(Data<float>(grads) + i * sizes.new_height * sizes.new_width * sizes.channels, sizes, taps,
                          MutableData<T>(*call.out[0]) + i * sizes.height * sizes.width * sizes.channels);
      }
    });
  });
}

Status ResizeBilinear(const KernelCall& call) { return Interpolate<Bilinear>(call, "ResizeBilinear"); }
Status ResizeBicubic(const KernelCall& call) { return Interpolate<Bicubic>(call, "ResizeBicubic"); }
Status ResizeBilinearGrad(const KernelCall& call) { return InterpolateGrad<Bilinear>(call, "ResizeBilinearGrad"); }
Status ResizeBicubicGrad(const KernelCall& call) { return InterpolateGrad<Bicubic>(call, "ResizeBicubicGrad"); }

// ---- Nearest neighbors --------------------------------------------------------------------------------------------

int64_t NearestPixel(int64_t pixel, int64_t size, float scale, const Options& options) {
  const float place =
      options.half_pixel_centers ? (static_cast<float>(pixel) + 0.5f) * scale : static_cast<float>(pixel) * scale;
  return Bounded(static_cast<int64_t>(options.align_corners ? std::round(place) : std::floor(place)), size);
}

Status ResizeNearest(const KernelCall& call) {
  Options options;
  Sizes sizes;
  STILLFLOW_RETURN_IF_ERROR(ReadOptions(call, &options));
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(call, &sizes));
  const DType dtype = call.in[0]->dtype;
  const int64_t bytes = sizes.channels * ElementBytes(dtype);
  if (HasCells(dtype) || ElementBytes(dtype) == 0) return UnsupportedType("ResizeNearestNeighbor", dtype);
  STILLFLOW_RETURN_IF_ERROR(
      AllocateImages(call, dtype, sizes.batch, sizes.new_height, sizes.new_width, sizes.channels));
  if (call.out[0]->count == 0) return Status();
  const float row_scale = ScaleOf(sizes.height, sizes.new_height, options);
  const float column_scale = ScaleOf(sizes.width, sizes.new_width, options);
  const auto* from = static_cast<const char*>(call.in[0]->data);
  auto* to = static_cast<char*>(call.out[0]->data);
  const int64_t chunk = std::max<int64_t>(1, kElementsPerChunk / (sizes.new_width * sizes.channels));
  return ForEachChunk(call, sizes.batch * sizes.new_height, chunk, [&](Range range) {
    for (int64_t line = range.begin; line < range.end; ++line) {
      const int64_t row = line / sizes.new_height * sizes.height +
                          NearestPixel(line % sizes.new_height, sizes.height, row_scale, options);
      for (int64_t x = 0; x < sizes.new_width; ++x) {
        const int64_t column = NearestPixel(x, sizes.width, column_scale, options);
        std::memcpy(to + (line * sizes.new_width + x) * bytes, from + (row * sizes.width + column) * bytes, bytes);
      }
    }
  });
}

Status ResizeNearestGrad(const KernelCall& call) {
  Options options;
  Sizes sizes;
  const Tensor& grads = *call.in[0];
  int64_t height, width;
  STILLFLOW_RETURN_IF_ERROR(ReadOptions(call, &options));
  STILLFLOW_RETURN_IF_ERROR(CheckImages(grads));
  STILLFLOW_RETURN_IF_ERROR(ReadSize(*call.in[1], &height, &width));
  STILLFLOW_RETURN_IF_ERROR(ReadGradientSizes(grads, height, width, &sizes));
  STILLFLOW_RETURN_IF_ERROR(AllocateImages(call, grads.dtype, sizes.batch, height, width, sizes.channels));
  if (call.out[0]->count == 0) return Status();
  std::memset(call.out[0]->data, 0, call.out[0]->count * ElementBytes(grads.dtype));
  if (grads.count == 0) return Status();
  const float row_scale = ScaleOf(height, sizes.new_height, options);
  const float column_scale = ScaleOf(width, sizes.new_width, options);
  return ForType<float, double, Half, uint8_t, int8_t, int32_t>(
      "ResizeNearestNeighborGrad", grads.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Arithmetic = ElementArithmetic<T>;
        return ForEachChunk(call, sizes.batch, 1, [&](Range range) {
          for (int64_t line = range.begin * sizes.new_height; line < range.end * sizes.new_height; ++line) {
            const int64_t row =
                line / sizes.new_height * height + NearestPixel(line % sizes.new_height, height, row_scale, options);
            for (int64_t x = 0; x < sizes.new_width; ++x) {
              const int64_t column = NearestPixel(x, width, column_scale, options);
              const T* from = Data<T>(grads) + (line * sizes.new_width + x) * sizes.channels;
              T* to = MutableData<T>(*call.out[0]) + (row * width + column) * sizes.channels;
              for (int64_t c = 0; c < sizes.channels; ++c) {
                to[c] = Arithmetic::Store(Arithmetic::Add(Arithmetic::Load(to[c]), Arithmetic::Load(from[c])));
              }
            }
          }
        });
      });
}

// ---- Areas --------------------------------------------------------------------------------------------------------

// The pixels that a pixel of the output covers, and how much of the first and the last.
struct Cover {
  int64_t begin, end;
  float first, last;
  float Weight(int64_t pixel) const { return pixel == begin ? first : pixel == end - 1 ? last : 1.0f; }
};

Cover CoverOf(int64_t pixel, float scale) {
  const float begin = static_cast<float>(pixel) * scale;
  const float end = static_cast<float>(pixel + 1) * scale;
  Cover cover = {static_cast<int64_t>(std::floor(begin)), static_cast<int64_t>(std::ceil(end)), 1.0f, 1.0f};
  const auto share = [&](int64_t i) {
    const auto left = static_cast<float>(i), right = static_cast<float>(i + 1);
    if (left < begin) return right > end ? scale : right - begin;
    return right > end ? end - left : 1.0f;
  };
  cover.first = share(cover.begin);
  cover.last = share(cover.end - 1);
  return cover;
}

Status ResizeArea(const KernelCall& call) {
  const Options options = {call.attrs[0].i != 0, false};
  Sizes sizes;
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(call, &sizes));
  STILLFLOW_RETURN_IF_ERROR(
      AllocateImages(call, DType::kFloat, sizes.batch, sizes.new_height, sizes.new_width, sizes.channels));
  if (call.out[0]->count == 0) return Status();
  const float row_scale = ScaleOf(sizes.height, sizes.new_height, options);
  const float column_scale = ScaleOf(sizes.width, sizes.new_width, options);
  const auto factor = static_cast<float>(1.0 / static_cast<double>(row_scale * column_scale));
  float* const out = MutableData<float>(*call.out[0]);
  const FloatImages images(call, *call.in[0]);
  if (!images.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(images.Convert(call, "ResizeArea", *call.in[0]));
  const int64_t channels = sizes.channels;
  return ForEachChunk(call, sizes.batch * sizes.new_height, 1, [&](Range range) {
    for (int64_t line = range.begin; line < range.end; ++line) {
      const float* const image = images.data() + line / sizes.new_height * sizes.height * sizes.width * channels;
      const Cover rows = CoverOf(line % sizes.new_height, row_scale);
      for (int64_t x = 0; x < sizes.new_width; ++x) {
        const Cover columns = CoverOf(x, column_scale);
        for (int64_t c = 0; c < channels; ++c) {
          float sum = 0.0f;
          for (int64_t i = rows.begin; i < rows.end; ++i) {
            const float* row = image + Bounded(i, sizes.height) * sizes.width * channels + c;
            float of_row = 0.0f;
            for (int64_t j = columns.begin; j < columns.end; ++j) {
              of_row += row[Bounded(j, sizes.width) * channels] * columns.Weight(j);
            }
            sum += of_row * rows.Weight(i);
          }
          out[(line * sizes.new_width + x) * channels + c] = sum * factor;
        }
      }
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(image, resize){
    {"resize_bilinear", "images, size | align_corners, half_pixel_centers", ResizeBilinear},
    {"resize_bilinear_grad", "grads, original_image | align_corners, half_pixel_centers", ResizeBilinearGrad},
    {"resize_bicubic", "images, size | align_corners, half_pixel_centers", ResizeBicubic},
    {"resize_bicubic_grad", "grads, original_image | align_corners, half_pixel_centers", ResizeBicubicGrad},
    {"resize_nearest_neighbor", "images, size | align_corners, half_pixel_centers", ResizeNearest},
    {"resize_nearest_neighbor_grad", "grads, size | align_corners, half_pixel_centers", ResizeNearestGrad},
    {"resize_area", "images, size | align_corners", ResizeArea},
    {}};

}  // namespace stillflow
