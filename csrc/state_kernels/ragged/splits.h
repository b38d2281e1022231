// splits.h: the outputs that say where the rows of a ragged tensor begin.
#pragma once

#include <vector>

#include "kernel_api/kernel.h"

namespace stillflow {

inline Shape ShapeOfVector(int64_t size) {
  Shape shape;
  shape.Add(size);
  return shape;
}

inline void SetIntAt(Tensor* tensor, int64_t index, int64_t value) {
  if (tensor->dtype == DType::kInt64) {
    MutableData<int64_t>(*tensor)[index] = value;
  } else {
    MutableData<int32_t>(*tensor)[index] = static_cast<int32_t>(value);
  }
}

inline Status OutputSplits(const KernelCall& call, int out, DType dtype, const std::vector<int64_t>& splits) {
  if (dtype == DType::kInt32 && !splits.empty() && splits.back() > INT32_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("Row splits of type int32 cannot count %lld values",
                                      static_cast<long long>(splits.back()));
  }
  const auto size = static_cast<int64_t>(splits.size());
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, dtype, ShapeOfVector(size)));
  for (int64_t i = 0; i < size; ++i) SetIntAt(call.out[out], i, splits[i]);
  return Status();
}

// The splits of all dimensions of `outer` but the last, whose rows are of one length, as outputs 0, 1, ...
inline Status OutputEvenSplits(const KernelCall& call, const Tensor& outer, DType dtype) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < outer.rank; ++d) {
    rows *= outer.dims[d];
    std::vector<int64_t> splits(rows + 1);
    for (int64_t i = 0; i <= rows; ++i) splits[i] = i * outer.dims[d + 1];
    STILLFLOW_RETURN_IF_ERROR(OutputSplits(call, d, dtype, splits));
  }
  return Status();
}

}  // namespace stillflow
