// extract_glimpse: a window of each image, around a place of its own.
//
//   in[0]  images float[batch, height, width, depth]
//   in[1]  int32[2]: height and width of a window
//   in[2]  float[batch, 2]: y and x of each window's center
//   attrs  centered: whether places are counted from the image's middle, and its edges are -1 and 1; normalized:
//          whether places are parts of the image's size; uniform_noise, noise: what is outside of an image
//   out[0] float[batch, window height, window width, depth]
//
// Where a window is not inside of its image altogether, its rest is noise: "uniform" between the smallest and the
// largest element of the image, "gaussian" with mean and deviation of each channel and within its elements, or
// "zero". TensorFlow's noise is other noise each time; this one is the same in every run.
#include <algorithm>
#include <cmath>

#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/philox.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

enum Noise { kUniform, kGaussian, kZero };

struct Image {
  const float* pixels;
  int64_t height, width, depth;
};

struct Window {
  int64_t top, left, height, width;
};

bool HasText(const Attr& attr, const char* text) {
  return attr.size == static_cast<int64_t>(std::strlen(text)) && std::memcmp(attr.data, text, attr.size) == 0;
}

Status ReadNoise(const KernelCall& call, Noise* noise) {
  const bool is_uniform = call.attrs[2].i != 0;
  const Attr& name = call.attrs[3];
  if (is_uniform && name.size > 0 && !HasText(name, "uniform")) {
    return STILLFLOW_INVALID_ARGUMENT("The uniform_noise and noise could not be specified at the same time");
  }
  if (name.size == 0) {
    *noise = is_uniform ? kUniform : kGaussian;
  } else if (HasText(name, "uniform")) {
    *noise = kUniform;
  } else if (HasText(name, "gaussian")) {
    *noise = kGaussian;
  } else if (HasText(name, "zero")) {
    *noise = kZero;
  } else {
    return STILLFLOW_INVALID_ARGUMENT("The noise could only be uniform, gaussian, or zero, got%.*s",
                                      static_cast<int>(std::min<int64_t>(name.size, 200)),
                                      static_cast<const char*>(name.data));
  }
  return Status();
}

// Random words for element `i` of window `number`: pairs of words for pairs of elements.
void TakeWords(int64_t number, int64_t i, uint32_t* words) {
  const sf_philox base = {0x676C696D70736573, static_cast<uint64_t>(i / 2), static_cast<uint64_t>(number)};
  uint32_t block[SF_PHILOX_WORDS];
  sf_philox_fill(base, 1, block);
  words[0] = block[0];
  words[1] = block[1];
}

void FillUniform(const Image& image, int64_t number, int64_t count, float* to) {
  const auto [least, most] =
      std::minmax_element(image.pixels, image.pixels + image.height * image.width * image.depth);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t words[2];
    TakeWords(number, i, words);
    const float part = static_cast<float>(words[i % 2] >> 8) * 0x1p-24f;
    to[i] = *least + part * (*most - *least);
  }
}

void FillGaussian(const Image& image, int64_t number, int64_t count, float* to) {
  const int64_t pixels = image.height * image.width;
  for (int64_t channel = 0; channel < image.depth; ++channel) {
    double sum = 0;
    float least = image.pixels[channel];
    float most = least;
    for (int64_t i = 0; i < pixels; ++i) {
      const float x = image.pixels[i * image.depth + channel];
      sum += x;
      least = std::min(least, x);
      most = std::max(most, x);
    }
    const double mean = sum / static_cast<double>(pixels);
    double squares = 0;
    for (int64_t i = 0; i < pixels; ++i) {
      const double difference = image.pixels[i * image.depth + channel] - mean;
      squares += difference * difference;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(pixels));
    for (int64_t i = channel; i < count; i += image.depth) {
      uint32_t words[2];
      float normals[2];
      TakeWords(number, i, words);
      BoxMuller(words, 1, normals);
      to[i] = std::max(std::min(static_cast<float>(mean + normals[i % 2] * deviation), most), least);
    }
  }
}

void CopyInside(const Image& image, const Window& window, float* to) {
  const int64_t left = std::max<int64_t>(window.left, 0);
  const int64_t right = std::min(window.left + window.width, image.width);
  if (right <= left) return;
  for (int64_t y = std::max<int64_t>(window.top, 0); y < std::min(window.top + window.height, image.height); ++y) {
    std::copy_n(image.pixels + (y * image.width + left) * image.depth, (right - left) * image.depth,
                to + ((y - window.top) * window.width + left - window.left) * image.depth);
  }
}

// Where a window begins along one axis. Places without a pixel are far away.
int64_t BeginOf(float center, int64_t size, int64_t window, bool is_centered, bool is_normalized) {
  constexpr float kFar = 1e15f;
  if (is_normalized) center *= static_cast<float>(size);
  if (is_centered) center = center / 2 + static_cast<float>(size) / 2;
  const float begin = center - static_cast<float>(window) / 2;
  return begin >= -kFar && begin <= kFar ? static_cast<int64_t>(begin) : static_cast<int64_t>(kFar);
}

Status CheckInputs(const KernelCall& call) {
  const Tensor& images = *call.in[0];
  const Tensor& size = *call.in[1];
  const Tensor& offsets = *call.in[2];
  if (images.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional (batch_size, height, width, depth)%s",
                                      ShapeText(images).c_str());
  }
  if (size.rank != 1 || size.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("input must be a vector of size 2 (height, width)%s", ShapeText(size).c_str());
  }
  if (offsets.rank != 2) return STILLFLOW_INVALID_ARGUMENT("input must be a matrix%s", ShapeText(offsets).c_str());
  if (offsets.dims[0] != images.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("first dimension should be batch%s", ShapeText(offsets).c_str());
  }
  if (offsets.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("second dimension should be of size 2 (y,x)%s", ShapeText(offsets).c_str());
  }
  return Status();
}

Status ExtractGlimpse(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  const Tensor& images = *call.in[0];
  const int32_t* const size = Data<int32_t>(*call.in[1]);
  Noise noise = kGaussian;
  STILLFLOW_RETURN_IF_ERROR(ReadNoise(call, &noise));
  Shape shape(images);
  shape.dims[1] = size[0];
  shape.dims[2] = size[1];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  if (call.out[0]->count == 0) return Status();
  if (images.count == 0)
    return STILLFLOW_INVALID_ARGUMENT("images must have pixels, got %s", ShapeText(images).c_str());
  const bool is_centered = call.attrs[0].i != 0;
  const bool is_normalized = call.attrs[1].i != 0;
  const int64_t of_image = images.count / images.dims[0];
  const int64_t of_window = call.out[0]->count / images.dims[0];
  return ForEachChunk(call, images.dims[0], 1, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Image image = {Data<float>(images) + i * of_image, images.dims[1], images.dims[2], images.dims[3]};
      const float* const center = Data<float>(*call.in[2]) + 2 * i;
      const Window window = {BeginOf(center[0], image.height, size[0], is_centered, is_normalized),
                             BeginOf(center[1], image.width, size[1], is_centered, is_normalized), size[0], size[1]};
      float* const to = MutableData<float>(*call.out[0]) + i * of_window;
      if (noise == kUniform) {
        FillUniform(image, i, of_window, to);
      } else if (noise == kGaussian) {
        FillGaussian(image, i, of_window, to);
      } else {
        std::fill_n(to, of_window, 0.0f);
      }
      CopyInside(image, window, to);
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(image, extract_glimpse){
    {"extract_glimpse", "input, size, offsets | centered, normalized, uniform_noise, noise", ExtractGlimpse}, {}};

}  // namespace stillflow
