// lrn, lrn_grad: local response normalization across channels, y = x * norm ** -beta, where norm = bias + alpha times
// the sum of x * x of the channels that are at most depth_radius away.
//
//   lrn       in[0] input   float, Half or BFloat16 [batch, rows, columns, channels]; out[0] likewise
//   lrn_grad  in[0] input_grads: the gradient of y; in[1] input_image: x; in[2] output_image: y; out[0] that of x
//   attrs     depth_radius, bias, alpha, beta
//
// Sums are in ascending order of channels; what is outside of an image counts as zeros. The gradient is
//   norm ** -beta * dy - (2 alpha beta) * x * (the sum of dy * y / norm of the same channels).
// 16-bit floats are computed as floats.
#include <algorithm>
#include <climits>

#include "arithmetic/elementwise/tile.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 8192;

struct Normalization {
  int64_t channels;
  int64_t radius;  // less than the channels, if there are any
  float bias, alpha, beta;
  const TileOp* power;

  // Floats of a row with zeros around it.
  int64_t PaddedSize() const { return channels + 2 * radius; }
};

Status ReadNormalization(const KernelCall& call, const Tensor& image, Normalization* plan) {
  const int64_t radius = call.attrs[0].i;
  if (radius < 0 || radius >= INT_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("depth_radius = %lld larger than int max", static_cast<long long>(radius));
  }
  plan->channels = image.dims[3];
  plan->radius = std::min(radius, std::max<int64_t>(plan->channels - 1, 0));
  plan->bias = static_cast<float>(call.attrs[1].f);
  plan->alpha = static_cast<float>(call.attrs[2].f);
  plan->beta = static_cast<float>(call.attrs[3].f);
  plan->power = FindTileOp("pow", DType::kFloat, DType::kFloat);
  return Status();
}

template <typename T>
void WidenRow(const T* from, int64_t count, float* to) {
  for (int64_t c = 0; c < count; ++c) to[c] = Widen(from[c]);
}

// sums[c] = the sum of the elements of a padded row that are at most the radius away from c.
void SumNeighbors(const Normalization& plan, const float* padded, float* sums) {
  std::fill_n(sums, plan.channels, 0.0f);
  for (int64_t offset = 0; offset <= 2 * plan.radius; ++offset) {
    for (int64_t c = 0; c < plan.channels; ++c) sums[c] += padded[c + offset];
  }
}

// Replaces sums of squares by norms.
void Norms(const Normalization& plan, float* sums) {
  for (int64_t c = 0; c < plan.channels; ++c) sums[c] = plan.bias + plan.alpha * sums[c];
}

void Powers(const Normalization& plan, const float* norms, float* powers) {
  const float exponent = -plan.beta;
  TileCall tile = {};
  tile.count = plan.channels;
  tile.scalars = 2;
  tile.in[0] = reinterpret_cast<const char*>(norms);
  tile.in[1] = reinterpret_cast<const char*>(&exponent);
  tile.out = reinterpret_cast<char*>(powers);
  RunTileOp(*plan.power, tile);
}

// Calls body(row, padded memory, three rows of memory) for each row of channels.
template <typename Body>
Status ForRows(const KernelCall& call, const Normalization& plan, int64_t rows, const Body& body) {
  const int64_t floats = plan.PaddedSize() + 3 * plan.channels;
  return ForEachChunk(call, rows, std::max<int64_t>(kElementsPerChunk / plan.channels, 1), [&](Range range) {
    const Scratch scratch(call, floats * static_cast<int64_t>(sizeof(float)));
    if (!scratch.ok()) return OutOfScratch();
    float* const padded = scratch.data<float>();
    std::fill_n(padded, plan.PaddedSize(), 0.0f);
    for (int64_t row = range.begin; row < range.end; ++row) body(row, padded, padded + plan.PaddedSize());
    return Status();
  });
}

template <typename T>
Status Normalize(const KernelCall& call, const Normalization& plan, const T* input, T* output) {
  const int64_t channels = plan.channels;
  return ForRows(call, plan, call.in[0]->count / channels, [&](int64_t row, float* padded, float* memory) {
    float* const x = memory;
    float* const norms = memory + channels;
    float* const powers = memory + 2 * channels;
    WidenRow(input + row * channels, channels, x);
    for (int64_t c = 0; c < channels; ++c) padded[plan.radius + c] = x[c] * x[c];
    SumNeighbors(plan, padded, norms);
    Norms(plan, norms);
    Powers(plan, norms, powers);
    T* const to = output + row * channels;
    for (int64_t c = 0; c < channels; ++c) to[c] = Narrow<T>(x[c] * powers[c]);
  });
}

template <typename T>
Status Gradient(const KernelCall& call, const Normalization& plan, const T* grads, const T* image,
                const T* normalized, T* output) {
  const int64_t channels = plan.channels;
  const float slope = 2 * plan.alpha * plan.beta;
  return ForRows(call, plan, call.in[0]->count / channels, [&](int64_t row, float* padded, float* memory) {
    float* const x = memory;
    float* const norms = memory + channels;
    float* const powers = memory + 2 * channels;
    const int64_t first = row * channels;
    WidenRow(image + first, channels, x);
    for (int64_t c = 0; c < channels; ++c) padded[plan.radius + c] = x[c] * x[c];
    SumNeighbors(plan, padded, norms);
    Norms(plan, norms);
    Powers(plan, norms, powers);
    for (int64_t c = 0; c < channels; ++c) {
      padded[plan.radius + c] = Widen(grads[first + c]) * Widen(normalized[first + c]) / norms[c];
    }
    SumNeighbors(plan, padded, norms);
    for (int64_t c = 0; c < channels; ++c) {
      output[first + c] = Narrow<T>(powers[c] * Widen(grads[first + c]) - slope * x[c] * norms[c]);
    }
  });
}

Status Lrn(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank != 4) return STILLFLOW_INVALID_ARGUMENT("in must be 4-dimensional");
  Normalization plan;
  STILLFLOW_RETURN_IF_ERROR(ReadNormalization(call, input, &plan));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  return ForType<float, Half, BFloat16>("LRN", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Normalize(call, plan, Data<T>(input), MutableData<T>(*call.out[0]));
  });
}

Status LrnGrad(const KernelCall& call) {
  const Tensor& grads = *call.in[0];
  const Tensor& image = *call.in[1];
  const Tensor& normalized = *call.in[2];
  if (grads.rank != 4 || image.rank != 4) return STILLFLOW_INVALID_ARGUMENT("inputs must be 4-dimensional");
  if (!(Shape(grads) == Shape(image)) || !(Shape(grads) == Shape(normalized))) {
    return STILLFLOW_INVALID_ARGUMENT("input_grads, input_image, and out_image should have the same shape");
  }
  Normalization plan;
  STILLFLOW_RETURN_IF_ERROR(ReadNormalization(call, image, &plan));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, image.dtype, Shape(image)));
  if (image.count == 0) return Status();
  return ForType<float, Half, BFloat16>("LRNGrad", image.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Gradient(call, plan, Data<T>(grads), Data<T>(image), Data<T>(normalized), MutableData<T>(*call.out[0]));
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, lrn){
    {"lrn", "input | depth_radius, bias, alpha, beta", Lrn},
    {"lrn_grad", "input_grads, input_image, output_image | depth_radius, bias, alpha, beta", LrnGrad},
    {}};

}  // namespace stillflow
