// global_batch_norm, global_batch_norm_grad: normalization by moments that are given (the op of 2015, which old
// graphs have).
//
//   in[0]  t [batch, rows, columns, depth], floats
//   in[1..4]  m, v, beta, gamma [depth]; of the gradient m, v, gamma [depth] and backprop, of t's shape
//   out[0] (t - m) / sqrt(v + epsilon) * gamma + beta; the gradients of t, m, v, beta and gamma
//   attrs  variance_epsilon; scale_after_normalization: whether gamma counts
//
// Sums over pixels go in order, in double.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

Status CheckShapes(const KernelCall& call, std::initializer_list<std::pair<int, const char*>> vectors) {
  const Tensor& t = *call.in[0];
  if (t.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(t).c_str());
  }
  for (const auto& [index, name] : vectors) {
    const Tensor& vector = *call.in[index];
    if (vector.rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("%s must be 1-dimensional%s", name, ShapeText(vector).c_str());
    }
    if (vector.count != t.dims[3]) {
      return STILLFLOW_INVALID_ARGUMENT("%s has %lld elements, but the input has %lld channels", name,
                                        static_cast<long long>(vector.count), static_cast<long long>(t.dims[3]));
    }
  }
  return Status();
}

template <typename T>
Status Normalize(const KernelCall& call) {
  const Tensor& t = *call.in[0];
  const auto *x = Data<T>(t), *mean = Data<T>(*call.in[1]), *variance = Data<T>(*call.in[2]);
  const auto *beta = Data<T>(*call.in[3]), *gamma = Data<T>(*call.in[4]);
  const auto epsilon = static_cast<T>(call.attrs[0].f);
  const bool is_scaled = call.attrs[1].i != 0;
  const int64_t depth = t.dims[3];
  T* const y = MutableData<T>(*call.out[0]);
  const int64_t rows = depth == 0 ? 0 : t.count / depth;
  return ForEachChunk(call, rows, std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(depth, 1), 1),
                      [&](Range range) {
                        for (int64_t row = range.begin; row < range.end; ++row) {
                          for (int64_t c = 0; c < depth; ++c) {
                            T factor = Rsqrt(variance[c] + epsilon);
                            if (is_scaled) factor = factor * gamma[c];
                            const int64_t i = row * depth + c;
                            y[i] = (x[i] - mean[c]) * factor + beta[c];
                          }
                        }
                      });
}

template <typename T>
Status NormalizeGrad(const KernelCall& call) {
  const Tensor& t = *call.in[0];
  const auto *x = Data<T>(t), *mean = Data<T>(*call.in[1]), *variance = Data<T>(*call.in[2]);
  const auto *gamma = Data<T>(*call.in[3]), *grad = Data<T>(*call.in[4]);
  const auto epsilon = static_cast<T>(call.attrs[0].f);
  const bool is_scaled = call.attrs[1].i != 0;
  const int64_t depth = t.dims[3];
  const int64_t rows = depth == 0 ? 0 : t.count / depth;
  T* outs[5];
  for (int i = 0; i < 5; ++i) outs[i] = MutableData<T>(*call.out[i]);
  return ForEachChunk(call, depth, 1, [&](Range range) {
    for (int64_t c = range.begin; c < range.end; ++c) {
      const T root = Rsqrt(variance[c] + epsilon);
      const T factor = is_scaled ? root * gamma[c] : root;
      double sum = 0, product = 0;
      for (int64_t i = c; i < rows * depth; i += depth) {
        outs[0][i] = grad[i] * factor;
        sum += static_cast<double>(grad[i]);
        product += static_cast<double>(grad[i]) * static_cast<double>(x[i] - mean[c]);
      }
      outs[1][c] = static_cast<T>(-sum) * factor;
      const T of_variance = static_cast<T>(product) * (T{-0.5} * (root * root * root));
      outs[2][c] = is_scaled ? of_variance * gamma[c] : of_variance;
      outs[3][c] = static_cast<T>(sum);
      outs[4][c] = is_scaled ? static_cast<T>(product) * root : T{0};
    }
  });
}

Status GlobalBatchNorm(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(call, {{1, "mean"}, {2, "var"}, {3, "beta"}, {4, "gamma"}}));
  const DType dtype = call.in[0]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape(*call.in[0])));
  return ForType<float, double>("BatchNormWithGlobalNormalization", dtype,
                                [&](auto tag) { return Normalize<typename decltype(tag)::type>(call); });
}

Status GlobalBatchNormGrad(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(call, {{1, "mean"}, {2, "var"}, {3, "gamma"}}));
  const Tensor& t = *call.in[0];
  if (!(Shape(*call.in[4]) == Shape(t))) {
    return STILLFLOW_INVALID_ARGUMENT("backprop has shape %s, the input %s", ShapeText(*call.in[4]).c_str(),
                                      ShapeText(t).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, t.dtype, Shape(t)));
  Shape depth;
  depth.Add(t.dims[3]);
  for (int i = 1; i < 5; ++i) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, t.dtype, depth));
  return ForType<float, double>("BatchNormWithGlobalNormalizationGrad", t.dtype,
                                [&](auto tag) { return NormalizeGrad<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(nn, global_batch_norm){
    {"global_batch_norm", "t, m, v, beta, gamma | variance_epsilon, scale_after_normalization", GlobalBatchNorm},
    {"global_batch_norm_grad", "t, m, v, gamma, backprop | variance_epsilon, scale_after_normalization",
     GlobalBatchNormGrad},
    {}};

}  // namespace stillflow
