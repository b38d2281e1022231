// scale_and_translate, scale_and_translate_grad: images resampled by kernels of any kind.
//
//   scale_and_translate       in[0] images [batch, height, width, depth] of numbers; in[1] int32[2]: height and width
//   of
//                             the results; in[2], in[3] float[2]: scale and translation along both axes
//                             attrs kernel_type; antialias: whether the kernel is widened where images shrink
//                             out[0] float[batch, height, width, depth]
//   scale_and_translate_grad  in[0] gradients of the results, in[1] images, in[2], in[3], attrs as above; out[0]
//   gradients
//                             of the images
//
// Element i of an axis is made of the elements that lie within the kernel's radius of (i + 1/2 - translation) /
// scale, by weights that sum up to 1. Rows first, then columns; sums in the order of elements.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arithmetic/elementwise/conversion.h"
#include "arithmetic/math/exponential.h"
#include "arithmetic/math/trigonometric.h"

namespace stillflow {
namespace {

enum Kind { kLanczos1, kLanczos3, kLanczos5, kGaussian, kBox, kTriangle, kKeysCubic, kMitchellCubic };

float RadiusOf(Kind kind) {
  switch (kind) {
    case kLanczos3:
      return 3;
    case kLanczos5:
      return 5;
    case kGaussian:
      return 1.5f;
    case kKeysCubic:
    case kMitchellCubic:
      return 2;
    default:
      return 1;
  }
}

float Lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * Sin(kPi * x) * Sin(kPi * x / radius) / (kPi * kPi * x * x);
}

// The kernel at a distance x >= 0.
float WeightAt(Kind kind, float x) {
  switch (kind) {
    case kGaussian: {
      constexpr float kSigma = 0.5f;
      return x >= 1.5f ? 0 : Exp(-x * x / (2 * kSigma * kSigma));
    }
    case kBox:
      return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f;
    case kTriangle:
      return x < 1 ? 1 - x : 0;
    case kKeysCubic:
      if (x >= 2) return 0;
      return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f : ((1.5f * x - 2.5f) * x) * x + 1.0f;
    case kMitchellCubic:
      if (x >= 2) return 0;
      return x >= 1 ? (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f
                    : (((7.0f / 6.0f) * x - 2.0f) * x) * x + 8.0f / 9.0f;
    default:
      return Lanczos(x, RadiusOf(kind));
  }
}

// What the elements of a resampled axis are made of: element i of source elements begins[i], ..., with the weights
// weights[starts[i]], ..., weights[starts[i + 1] - 1].
struct Spans {
  std::vector<int64_t> begins;
  std::vector<int64_t> starts;
  std::vector<float> weights;

  int64_t size() const { return static_cast<int64_t>(begins.size()); }
  int64_t Count(int64_t i) const { return starts[i + 1] - starts[i]; }
};

struct Sampling {
  Kind kind;
  bool is_antialiased;
  float scale;
  float translation;
};

Spans FindSpans(const Sampling& sampling, int64_t made, int64_t source) {
  const float inverse = 1.0f / sampling.scale;
  const float shift = -inverse * sampling.translation;
  const float widening = sampling.is_antialiased ? std::max(inverse, 1.0f) : 1.0f;
  const float reach = RadiusOf(sampling.kind) * widening;
  const auto inside = [=](float at) {
    return static_cast<int64_t>(std::max(std::min(at, static_cast<float>(source - 1)), 0.0f));
  };
  Spans spans;
  spans.starts.push_back(0);
  std::vector<float> weights;
  for (int64_t i = 0; i < made; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) * inverse + shift;
    spans.begins.push_back(0);
    if (center >= 0 && center <= static_cast<float>(source)) {
      const int64_t begin = inside(std::ceil(center - reach - 0.5f));
      const int64_t end = inside(std::floor(center + reach - 0.5f)) + 1;
      spans.begins.back() = begin;
      weights.clear();
      float total = 0;
      for (int64_t k = begin; k < end; ++k) {
        const float distance = (static_cast<float>(k) + 0.5f - center) * (1.0f / widening);
        weights.push_back(WeightAt(sampling.kind, std::fabs(distance)));
        total += weights.back();
      }
      if (std::fabs(total) >= 1000.0f * std::numeric_limits<float>::min()) {
        const float factor = 1.0f / total;
        for (const float weight : weights) spans.weights.push_back(weight * factor);
      }
    }
    spans.starts.push_back(static_cast<int64_t>(spans.weights.size()));
  }
  return spans;
}

// What each source element contributes to: the same weights by source elements. Between the first and the last
// element that one contributes to, others have a weight of zero.
Spans Transposed(const Spans& spans, int64_t source) {
  std::vector<std::vector<std::pair<int64_t, float>>> of_source(source);
  for (int64_t i = 0; i < spans.size(); ++i) {
    for (int64_t k = 0; k < spans.Count(i); ++k) {
      const float weight = spans.weights[spans.starts[i] + k];
      if (weight != 0) of_source[spans.begins[i] + k].push_back({i, weight});
    }
  }
  Spans transposed;
  transposed.starts.push_back(0);
  for (const auto& entries : of_source) {
    transposed.begins.push_back(entries.empty() ? 0 : entries.front().first);
    for (const auto& [i, weight] : entries) {
      transposed.weights.resize(transposed.starts.back() + i - transposed.begins.back(), 0);
      transposed.weights.push_back(weight);
    }
    transposed.starts.push_back(static_cast<int64_t>(transposed.weights.size()));
  }
  return transposed;
}

// to[outer, made, inner] from from[outer, source, inner].
Status Resample(const KernelCall& call, const Spans& spans, int64_t outer, int64_t source, int64_t inner,
                const float* from, float* to) {
  constexpr int64_t kElementsPerChunk = 16384;
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / inner, 1);
  return ForEachChunk(call, outer * spans.size(), rows_per_chunk, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t i = row % spans.size();
      float* const made = to + row * inner;
      std::fill_n(made, inner, 0.0f);
      const float* taken = from + (row / spans.size() * source + spans.begins[i]) * inner;
      for (int64_t k = spans.starts[i]; k < spans.starts[i + 1]; ++k, taken += inner) {
        const float weight = spans.weights[k];
        for (int64_t j = 0; j < inner; ++j) made[j] += weight * taken[j];
      }
    }
  });
}

// Rows, then columns, of images.
Status ResampleImages(const KernelCall& call, const Spans& rows, const Spans& columns, const int64_t* dims,
                      const float* from, float* to) {
  const int64_t width = dims[2] * dims[3];
  const Scratch between(call, dims[0] * rows.size() * width * static_cast<int64_t>(sizeof(float)));
  if (!between.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(Resample(call, rows, dims[0], dims[1], width, from, between.data<float>()));
  return Resample(call, columns, dims[0] * rows.size(), dims[2], dims[3], between.data<float>(), to);
}

Status CheckImages(const Tensor& images, const char* name) {
  if (images.rank == 4) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be 4-dimensional%s", name, ShapeText(images).c_str());
}

Status ReadSamplings(const KernelCall& call, Sampling* rows, Sampling* columns) {
  for (int i = 2; i < 4; ++i) {
    const Tensor& pair = *call.in[i];
    if (pair.rank != 1) return STILLFLOW_INVALID_ARGUMENT("t must be 1-dimensional%s", ShapeText(pair).c_str());
    if (pair.count != 2) return STILLFLOW_INVALID_ARGUMENT("t must have two elements%s", ShapeText(pair).c_str());
  }
  const float* const scales = Data<float>(*call.in[2]);
  const float* const shifts = Data<float>(*call.in[3]);
  if (!(scales[0] > 0 && scales[1] > 0)) return STILLFLOW_INVALID_ARGUMENT("Scale must be greater than zero.");
  const auto kind = static_cast<Kind>(call.attrs[0].i);
  const bool is_antialiased = call.attrs[1].i != 0;
  *rows = {kind, is_antialiased, scales[0], shifts[0]};
  *columns = {kind, is_antialiased, scales[1], shifts[1]};
  return Status();
}

Status ScaleAndTranslate(const KernelCall& call) {
  const Tensor& images = *call.in[0];
  const Tensor& size = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckImages(images, "input"));
  if (size.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("output_shape_t must be 1-dimensional%s", ShapeText(size).c_str());
  }
  if (size.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("output_shape_t must have two elements%s", ShapeText(size).c_str());
  }
  const int32_t* const made = Data<int32_t>(size);
  if (made[0] <= 0 || made[1] <= 0) return STILLFLOW_INVALID_ARGUMENT("output dimensions must be positive");
  if (images.dims[3] == 0) return STILLFLOW_INVALID_ARGUMENT("image must have at least one channel");
  if (images.dims[1] == 0 || images.dims[2] == 0) {
    return STILLFLOW_INVALID_ARGUMENT("input image must be of non-zero size");
  }
  Sampling rows;
  Sampling columns;
  STILLFLOW_RETURN_IF_ERROR(ReadSamplings(call, &rows, &columns));
  Shape shape(images);
  shape.dims[1] = made[0];
  shape.dims[2] = made[1];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  if (call.out[0]->count == 0) return Status();
  Converted floats;
  STILLFLOW_RETURN_IF_ERROR(floats.Convert(call, "ScaleAndTranslate", images, DType::kFloat));
  return ResampleImages(call, FindSpans(rows, made[0], images.dims[1]), FindSpans(columns, made[1], images.dims[2]),
                        images.dims, floats.data<float>(), MutableData<float>(*call.out[0]));
}

Status ScaleAndTranslateGrad(const KernelCall& call) {
  const Tensor& grads = *call.in[0];
  const Tensor& images = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckImages(grads, "input_grad"));
  STILLFLOW_RETURN_IF_ERROR(CheckImages(images, "original_image"));
  Sampling rows;
  Sampling columns;
  STILLFLOW_RETURN_IF_ERROR(ReadSamplings(call, &rows, &columns));
  if (grads.dtype != DType::kFloat) return UnsupportedType("ScaleAndTranslateGrad", grads.dtype);
  Shape shape(grads);
  shape.dims[1] = images.dims[1];
  shape.dims[2] = images.dims[2];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  if (call.out[0]->count == 0) return Status();
  if (grads.count == 0) {
    std::fill_n(MutableData<float>(*call.out[0]), call.out[0]->count, 0.0f);
    return Status();
  }
  const Spans by_row = Transposed(FindSpans(rows, grads.dims[1], images.dims[1]), images.dims[1]);
  const Spans by_column = Transposed(FindSpans(columns, grads.dims[2], images.dims[2]), images.dims[2]);
  return ResampleImages(call, by_row, by_column, grads.dims, Data<float>(grads), MutableData<float>(*call.out[0]));
}

#define ATTRIBUTES "kernel_type: lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic, antialias"

}  // namespace

STILLFLOW_KERNELS(image, scale_and_translate){
    {"scale_and_translate", "images, size, scale, translation | " ATTRIBUTES, ScaleAndTranslate},
    {"scale_and_translate_grad", "grads, original_image, scale, translation | " ATTRIBUTES, ScaleAndTranslateGrad},
    {}};

}  // namespace stillflow
