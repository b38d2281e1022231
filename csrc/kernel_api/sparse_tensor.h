// sparse_tensor.h: the entries of a sparse tensor, a row of indices and a value each, and orders among them.
#pragma once

#include <algorithm>

#include "kernel_api/element_width.h"

namespace stillflow {

// The rows of a matrix of indices.
struct Entries {
  const int64_t* indices = nullptr;
  int64_t count = 0;
  int64_t rank = 0;

  Entries() = default;
  explicit Entries(const Tensor& matrix)
      : indices(Data<int64_t>(matrix)), count(matrix.dims[0]), rank(matrix.dims[1]) {}
  const int64_t* operator[](int64_t entry) const { return indices + entry * rank; }
};

// Negative, zero or positive as row a comes before, is equal to, or comes after row b.
inline int CompareRows(const int64_t* a, const int64_t* b, int64_t rank) {
  for (int64_t i = 0; i < rank; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

// Fills `order` with the numbers of the entries in the order of their rows; equal rows stay as they are.
inline void OrderRows(const Entries& entries, int64_t* order) {
  bool is_ordered = true;
  for (int64_t i = 0; i < entries.count; ++i) {
    order[i] = i;
    if (i > 0 && CompareRows(entries[i - 1], entries[i], entries.rank) > 0) is_ordered = false;
  }
  if (is_ordered) return;
  std::sort(order, order + entries.count, [&](int64_t a, int64_t b) {
    const int comparison = CompareRows(entries[a], entries[b], entries.rank);
    return comparison != 0 ? comparison < 0 : a < b;
  });
}

inline ShapeText RowText(const int64_t* row, int64_t rank) {
  return ShapeText(static_cast<int>(std::min<int64_t>(rank, kMaxRank)), row);
}

// That the first `axes` indices of all entries are within the shape.
inline Status CheckInside(const Entries& entries, const Shape& shape, int axes) {
  for (int64_t i = 0; i < entries.count; ++i) {
    for (int axis = 0; axis < axes; ++axis) {
      if (static_cast<uint64_t>(entries[i][axis]) < static_cast<uint64_t>(shape.dims[axis])) continue;
      return STILLFLOW_INVALID_ARGUMENT("indices[%lld] = %s is out of bounds: need 0 <= index < %s",
                                        static_cast<long long>(i), RowText(entries[i], entries.rank).c_str(),
                                        ShapeText(shape).c_str());
    }
  }
  return Status();
}

inline Status CheckInside(const Entries& entries, const Shape& shape) {
  return CheckInside(entries, shape, shape.rank);
}

// That each entry comes after the one before it.
inline Status CheckOrder(const Entries& entries) {
  for (int64_t i = 1; i < entries.count; ++i) {
    const int comparison = CompareRows(entries[i - 1], entries[i], entries.rank);
    if (comparison < 0) continue;
    const ShapeText row = RowText(entries[i], entries.rank);
    if (comparison == 0) {
      return STILLFLOW_INVALID_ARGUMENT("indices[%lld] = %s is repeated", static_cast<long long>(i), row.c_str());
    }
    return STILLFLOW_INVALID_ARGUMENT(
        "indices[%lld] = %s is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to "
        "create a correctly ordered copy.\n\n",
        static_cast<long long>(i), row.c_str());
  }
  return Status();
}

// That the parts of a sparse tensor are a matrix and vectors.
inline Status CheckPartRanks(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be a matrix but received shape %s",
                                      ShapeText(indices).c_str());
  }
  if (values.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input values should be a vector but received shape %s",
                                      ShapeText(values).c_str());
  }
  if (shape.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shape should be a vector but received shape %s",
                                      ShapeText(shape).c_str());
  }
  return Status();
}

// That they are the parts of one sparse tensor.
inline Status CheckSparseTensor(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  STILLFLOW_RETURN_IF_ERROR(CheckPartRanks(indices, values, shape));
  if (indices.dims[0] != values.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Number of values must match first dimension of indices. Got %lld values, indices shape: %s",
        static_cast<long long>(values.dims[0]), ShapeText(indices).c_str());
  }
  if (indices.dims[1] != shape.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Number of dimensions must match second dimension of indices. Got %lld dimensions, indices shape: %s",
        static_cast<long long>(shape.dims[0]), ShapeText(indices).c_str());
  }
  return Status();
}

inline Status CheckValueCount(const Entries& entries, const Tensor& values) {
  if (values.count == entries.count) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "indices and values rows (indexing dimension) must match. (indices = %lld, values = %lld)",
      static_cast<long long>(entries.count), static_cast<long long>(values.count));
}

inline Status CheckRank(const Entries& entries, const Tensor& shape) {
  if (shape.count == entries.rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Order length must be SparseTensor rank.");
}

inline Status AllocateVector(const KernelCall& call, int out, DType dtype, int64_t count) {
  Shape shape;
  shape.Add(count);
  return AllocateOutput(call, out, dtype, shape);
}

inline Status AllocateMatrix(const KernelCall& call, int out, DType dtype, int64_t rows, int64_t columns) {
  Shape shape;
  shape.Add(rows);
  shape.Add(columns);
  return AllocateOutput(call, out, dtype, shape);
}

// An output vector with the sizes of a shape.
inline Status WriteShape(const KernelCall& call, int out, const Shape& shape) {
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, out, DType::kInt64, shape.rank));
  std::copy_n(shape.dims, shape.rank, MutableData<int64_t>(*call.out[out]));
  return Status();
}

// out[out] = the values numbered by order[0...count)
inline Status TakeValues(const KernelCall& call, const char* kernel, const Tensor& values, const int64_t* order,
                         int64_t count, int out) {
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, out, values.dtype, count));
  return ForWidth(kernel, values.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < count; ++i) MutableData<T>(*call.out[out])[i] = Data<T>(values)[order[i]];
    RetainStrings(*call.out[out]);
    return Status();
  });
}

}  // namespace stillflow
