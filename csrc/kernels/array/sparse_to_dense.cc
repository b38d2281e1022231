// sparse_to_dense: an array of one value everywhere but at some places.
//
//   in[0]  indices  int32 | int64: a place each: [n, rank], [n] of a vector, or a scalar
//   in[1]  shape    the same type, [rank]: the output's
//   in[2]  values   any type, [n] or a scalar for all places
//   in[3]  default  a scalar
//   out[0] output   of that shape; of values for one place the last stays
//   attrs  whether the places must be in order and different
#include <algorithm>

#include "kernel_api/element_width.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 65536;

// The places as a matrix.
struct Places {
  const Tensor* indices;
  int64_t count;
  int64_t rank;
  int64_t at(int64_t place, int64_t axis) const { return IntAt(*indices, place * rank + axis); }
};

Status CheckShapes(const KernelCall& call, const Places& places, const Shape& shape) {
  const Tensor& indices = *call.in[0];
  const Tensor& values = *call.in[2];
  const Tensor& default_value = *call.in[3];
  if (places.rank != shape.rank) {
    return STILLFLOW_INVALID_ARGUMENT("output_shape has incorrect number of elements: %d should be: %lld", shape.rank,
                                      static_cast<long long>(places.rank));
  }
  if (values.rank > 1 || (values.rank == 1 && values.count != places.count)) {
    return STILLFLOW_INVALID_ARGUMENT("sparse_values has incorrect shape %s, should be [] or [%lld]",
                                      ShapeText(values).c_str(), static_cast<long long>(places.count));
  }
  if (default_value.rank != 0) return STILLFLOW_INVALID_ARGUMENT("default_value should be a scalar");
  if (indices.count != places.count * places.rank) {
    return STILLFLOW_INVALID_ARGUMENT("sparse_indices has incorrect shape %s", ShapeText(indices).c_str());
  }
  return Status();
}

ShapeText PlaceText(const Places& places, int64_t place) {
  Shape text;
  for (int64_t axis = 0; axis < places.rank; ++axis) text.Add(places.at(place, axis));
  return ShapeText(text);
}

Status CheckInside(const Places& places, const Shape& shape, bool are_validated) {
  for (int64_t i = 0; i < places.count; ++i) {
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (static_cast<uint64_t>(places.at(i, axis)) < static_cast<uint64_t>(shape.dims[axis])) continue;
      if (!are_validated) {
        return STILLFLOW_INVALID_ARGUMENT("Indices are not valid (out of bounds).  Shape: %s",
                                          ShapeText(shape).c_str());
      }
      return STILLFLOW_INVALID_ARGUMENT("indices[%lld] = %s is out of bounds: need 0 <= index < %s",
                                        static_cast<long long>(i), PlaceText(places, i).c_str(),
                                        ShapeText(shape).c_str());
    }
  }
  return Status();
}

Status CheckOrder(const Places& places) {
  for (int64_t i = 1; i < places.count; ++i) {
    int64_t axis = 0;
    while (axis < places.rank && places.at(i, axis) == places.at(i - 1, axis)) ++axis;
    if (axis == places.rank) {
      return STILLFLOW_INVALID_ARGUMENT("indices[%lld] = %s is repeated", static_cast<long long>(i),
                                        PlaceText(places, i).c_str());
    }
    if (places.at(i, axis) < places.at(i - 1, axis)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "indices[%lld] = %s is out of order. Many sparse ops require sorted indices.\n    Use "
          "`tf.sparse.reorder` to create a correctly ordered copy.\n\n",
          static_cast<long long>(i), PlaceText(places, i).c_str());
    }
  }
  return Status();
}

template <typename T>
Status FillAndPut(const KernelCall& call, const Places& places, const Shape& shape) {
  const Tensor& values = *call.in[2];
  const T filler = *Data<T>(*call.in[3]);
  T* to = MutableData<T>(*call.out[0]);
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, call.out[0]->count, kElementsPerChunk,
                                         [&](Range range) { std::fill(to + range.begin, to + range.end, filler); }));
  for (int64_t i = 0; i < places.count; ++i) {
    int64_t position = 0;
    for (int axis = 0; axis < shape.rank; ++axis) position = position * shape.dims[axis] + places.at(i, axis);
    to[position] = Data<T>(values)[values.rank == 0 ? 0 : i];
  }
  return Status();
}

Status SparseToDense(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  if (indices.rank > 2) {
    return STILLFLOW_INVALID_ARGUMENT("sparse_indices should be a scalar, vector, or matrix, got shape %s",
                                      ShapeText(indices).c_str());
  }
  if (call.in[1]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("output_shape should be a vector, got shape %s",
                                      ShapeText(*call.in[1]).c_str());
  }
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[1], &shape));
  const Places places{&indices, indices.rank == 0 ? 1 : indices.dims[0], indices.rank == 2 ? indices.dims[1] : 1};
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(call, places, shape));
  const bool are_validated = call.attrs[0].i != 0;
  STILLFLOW_RETURN_IF_ERROR(CheckInside(places, shape, are_validated));
  if (are_validated) STILLFLOW_RETURN_IF_ERROR(CheckOrder(places));
  const DType dtype = call.in[2]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(ForWidth("SparseToDense", dtype, [&](auto tag) {
    return FillAndPut<typename decltype(tag)::type>(call, places, shape);
  }));
  RetainStrings(*call.out[0]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, sparse_to_dense){
    {"sparse_to_dense", "sparse_indices, output_shape, sparse_values, default_value | validate_indices",
     SparseToDense},
    {}};

}  // namespace stillflow
