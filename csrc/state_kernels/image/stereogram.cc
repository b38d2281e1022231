// random_dot_stereogram: an image of random dots that shows depths to two eyes (Thimbleby, Inglis and Witten,
// "Displaying 3D images: algorithms for single-image random-dot stereograms", 1994).
//
//   in[0]   depths[rows, columns] of float, double, int32 or int64: 0 is far and 1 is near, after they are normalized
//   attrs   see single_image_random_dot_stereograms
//   out[0]  uint8[height, width, 1 or 3]
//
// The dots are the same in every run, those of the first run of a process in TensorFlow, which asks rand().
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/guarded.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

enum StereogramAttr {
  kHidesSurfaces,
  kDotSize,
  kDotsPerInch,
  kEyeSeparation,
  kMu,
  kNormalizes,
  kMost,
  kLeast,
  kBorder,
  kColors,
  kImageShape,
  kWindow
};

// glibc's rand() before a call of srand().
class Dots {
 public:
  Dots() {
    constexpr int64_t kMultiplier = 16807;
    constexpr int64_t kModulus = 2147483647;
    constexpr int kDiscarded = 310;
    int64_t word = 1;
    for (uint32_t& each : words_) {
      each = static_cast<uint32_t>(word);
      word = word * kMultiplier % kModulus;
    }
    for (int i = 0; i < kDiscarded; ++i) Next();
  }
  uint32_t Next() {
    uint32_t& word = words_[at_];
    word += words_[(at_ + kWords - kLag) % kWords];
    at_ = (at_ + 1) % kWords;
    return word >> 1;
  }

 private:
  static constexpr int kWords = 31;
  static constexpr int kLag = 3;
  uint32_t words_[kWords];
  int at_ = kLag;
};

struct Scene {
  std::vector<double> depths;
  int64_t rows = 0, columns = 0;
  int64_t width = 0, height = 0, channels = 0;
  int64_t left = 0, top = 0, window_width = 0, window_height = 0, dots_end = 0;
  double border = 0;
  float mu = 0;
  int64_t eyes = 0;  // pixels between them
  bool hides_surfaces = false;

  // How far apart the two images of a point are.
  int64_t Separation(double depth) const { return std::lround((1 - mu * depth) * eyes / (2 - mu * depth)); }

  double DepthAt(int64_t x, int64_t y) const {
    const double column = static_cast<double>(columns) * static_cast<double>(x - left) / window_width;
    const double row = static_cast<double>(rows) * static_cast<double>(y - top) / window_height;
    const bool is_inside = column >= 0 && row >= 0 && row < rows && column < columns;
    return is_inside ? depths[static_cast<int64_t>(column) + columns * static_cast<int64_t>(row)] : border;
  }

  // Whether no nearer surface lies between the point and one of the eyes.
  bool IsVisible(int64_t x, int64_t y, double depth) const {
    double at = 0;
    for (int64_t step = 1; at < 1; ++step) {
      at = depth + 2 * (2 - mu * depth) * step / (mu * eyes);
      if (DepthAt(x - step, y) >= at || DepthAt(x + step, y) >= at) return false;
    }
    return true;
  }
};

template <typename T>
void ReadDepths(const Tensor& tensor, const Attr* attrs, std::vector<double>* depths) {
  const T* const data = Data<T>(tensor);
  double most = attrs[kMost].f;
  double least = attrs[kLeast].f;
  if (most < least && tensor.count > 0) {
    most = static_cast<double>(*std::max_element(data, data + tensor.count));
    least = static_cast<double>(*std::min_element(data, data + tensor.count));
  }
  depths->resize(static_cast<size_t>(tensor.count));
  for (int64_t i = 0; i < tensor.count; ++i) {
    double value = static_cast<double>(data[i]);
    if (attrs[kNormalizes].i != 0) value = (value - least) / (most - least);
    if (value > 1) value = 1;
    if (value < 0) value = 0;
    (*depths)[static_cast<size_t>(i)] = value;
  }
}

Status ReadScene(const KernelCall& call, Scene* scene) {
  const Tensor& depths = *call.in[0];
  const PartialShape image = PartialShapeOf(call.attrs[kImageShape]);
  const PartialShape window = PartialShapeOf(call.attrs[kWindow]);
  if (depths.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("depth_values must be 2-D, got shape %s", ShapeText(depths).c_str());
  }
  if (image.rank != 3 || window.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("output_image_shape must be of rank 3 and output_data_window of rank 2");
  }
  scene->rows = depths.dims[0];
  scene->columns = depths.dims[1];
  scene->width = image.dims[0];
  scene->height = image.dims[1];
  scene->channels = call.attrs[kColors].i > 256 ? 3 : image.dims[2];
  scene->window_width = window.dims[0];
  scene->window_height = window.dims[1];
  if (scene->width < 0 || scene->height < 0 || scene->channels < 0 || scene->window_width < 1 ||
      scene->window_height < 1) {
    return STILLFLOW_INVALID_ARGUMENT("output_image_shape and output_data_window must be known and not empty");
  }
  const int64_t dots = call.attrs[kDotSize].i;
  const int64_t above = scene->height - scene->window_height;
  scene->top = dots > 0 ? std::max<int64_t>(above - dots, 0) / 3 : above / 2;
  scene->dots_end = dots > 0 ? scene->height - 1 - scene->top : scene->height - 1;
  scene->left = (scene->width - scene->window_width) / 2;
  scene->border = call.attrs[kBorder].f;
  scene->mu = static_cast<float>(call.attrs[kMu].f);
  scene->eyes = static_cast<int64_t>(static_cast<float>(call.attrs[kEyeSeparation].f) * call.attrs[kDotsPerInch].i);
  scene->hides_surfaces = call.attrs[kHidesSurfaces].i != 0;
  return ForType<double, float, int64_t, int32_t>("SingleImageRandomDotStereograms", depths.dtype, [&](auto tag) {
    ReadDepths<typename decltype(tag)::type>(depths, call.attrs, &scene->depths);
    return Status();
  });
}

// For each pixel of a row the one to its right whose color it has, or itself.
void LinkRow(const Scene& scene, int64_t y, std::vector<int64_t>* same) {
  std::vector<int64_t>& next = *same;
  for (int64_t x = 0; x < scene.width; ++x) next[x] = x;
  for (int64_t x = 0; x < scene.width; ++x) {
    const double depth = scene.DepthAt(x, y);
    const int64_t separation = scene.Separation(depth);
    int64_t left = x - separation / 2;
    int64_t right = left + separation;
    if (left < 0 || right >= scene.width || right < left) continue;
    if (scene.hides_surfaces && !scene.IsVisible(x, y, depth)) continue;
    for (int64_t at = next[left]; at != left && at != right; at = next[left]) {
      if (at < right) {
        left = at;
      } else {
        next[left] = right;
        left = right;
        right = next[left];
      }
    }
    next[left] = right;
  }
}

// Two dots as far apart as the images of a far point, which help eyes to converge.
void DrawDots(const Scene& scene, int64_t size, uint8_t* pixels) {
  const int64_t half = scene.Separation(0.0) / 2;
  for (const int64_t center : {scene.width / 2 - half, scene.width / 2 + half}) {
    for (int64_t i = 0; i < size * size; ++i) {
      const int64_t x = center - size / 2 + i % size;
      const int64_t y = scene.dots_end - i / size;
      if (x < 0 || x >= scene.width || y < 0 || y >= scene.height) continue;
      std::fill_n(pixels + (y * scene.width + x) * scene.channels, scene.channels, uint8_t{0});
    }
  }
}

Status Stereogram(const KernelCall& call) {
  Scene scene;
  STILLFLOW_RETURN_IF_ERROR(ReadScene(call, &scene));
  Shape shape;
  for (const int64_t size : {scene.height, scene.width, scene.channels}) shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kUInt8, shape));
  Dots dots;
  std::vector<int64_t> same(static_cast<size_t>(scene.width));
  for (int64_t y = 0; y < scene.height; ++y) {
    uint8_t* const row = MutableData<uint8_t>(*call.out[0]) + y * scene.width * scene.channels;
    LinkRow(scene, y, &same);
    for (int64_t x = scene.width - 1; x >= 0; --x) {
      for (int64_t channel = 0; channel < scene.channels; ++channel) {
        uint8_t& color = row[x * scene.channels + channel];
        if (same[x] != x) {
          color = row[same[x] * scene.channels + channel];
        } else {
          const uint32_t dot = dots.Next();
          color = static_cast<uint8_t>(call.attrs[kColors].i == 2 ? dot % 2 * 255 : dot % 256);
        }
      }
    }
  }
  DrawDots(scene, std::max<int64_t>(call.attrs[kDotSize].i, 0), MutableData<uint8_t>(*call.out[0]));
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(image, stereogram){
    {"random_dot_stereogram",
     "depth_values | hidden_surface_removal, convergence_dots_size, dots_per_inch, eye_separation, mu, normalize, "
     "normalize_max, normalize_min, border_level, number_colors, output_image_shape, output_data_window",
     Guarded<Stereogram>},
    {}};

}  // namespace stillflow
