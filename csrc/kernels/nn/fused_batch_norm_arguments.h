// fused_batch_norm_arguments.h: what batch normalization and its gradient take, checked as TensorFlow checks it.
#pragma once

#include "arithmetic/window/channels_last.h"

namespace stillflow {

inline Status CheckFourDimensional(const Tensor& images) {
  if (images.rank == 4) return Status();
  return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(images).c_str());
}

inline Status CheckVector(const Tensor& vector, const char* name) {
  if (vector.rank == 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be 1-dimensional%s", name, ShapeText(vector).c_str());
}

inline Status CheckChannels(const Tensor& vector, const char* name, int64_t channels) {
  if (vector.count == channels) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "%s must have the same number of elements as the channels of x, got %lld and %lld", name,
      static_cast<long long>(vector.count), static_cast<long long>(channels));
}

inline Shape VectorShape(int64_t size) {
  Shape shape;
  shape.Add(size);
  return shape;
}

}  // namespace stillflow
