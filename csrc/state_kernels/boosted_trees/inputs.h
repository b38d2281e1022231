// inputs.h: what kernels of boosted trees check of their inputs, and scalars that they read and write.
#pragma once

#include <string>

#include "kernel_api/kernel.h"

namespace stillflow::boosted_trees {

inline Shape VectorOf(int64_t count) {
  Shape shape;
  shape.Add(count);
  return shape;
}

inline Shape MatrixOf(int64_t rows, int64_t columns) {
  Shape shape = VectorOf(rows);
  shape.Add(columns);
  return shape;
}

inline Status CheckRank(const Tensor& tensor, int rank, const char* name) {
  if (tensor.rank == rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be of rank %d, but has the shape %s", name, rank,
                                    ShapeText(tensor).c_str());
}

inline Status CheckCount(const Tensor& tensor, int64_t count, const char* name) {
  if (tensor.count == count) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must have %lld elements, but has the shape %s", name,
                                    static_cast<long long>(count), ShapeText(tensor).c_str());
}

// A scalar input.
template <typename T>
Status Scalar(const KernelCall& call, int in, const char* name, T* value) {
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[in], 0, name));
  *value = *Data<T>(*call.in[in]);
  return Status();
}

template <typename T>
Status SetScalar(const KernelCall& call, int out, T value) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DTypeOf<T>(), Shape()));
  *MutableData<T>(*call.out[out]) = value;
  return Status();
}

inline Status SetScalarBytes(const KernelCall& call, int out, const std::string& bytes) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kString, Shape()));
  const bool is_set = SetString(call, call.out[out], 0, bytes.data(), static_cast<int64_t>(bytes.size()));
  return is_set ? Status() : OutOfScratch();
}

}  // namespace stillflow::boosted_trees
