// sparse_tensor_dense_add, sparse_dense_cwise: a sparse and a dense tensor, entry by entry.
//
//   sparse_tensor_dense_add  in[0] indices int32 | int64 [n, rank], in[1] values [n], in[2] shape, in[3] dense, of
//   that
//                            shape; out[0] the dense sum, to which entries are added in their order
//   sparse_dense_cwise       in[0] indices int64[n, rank], in[1] values [n], in[2] shape, in[3] dense, broadcast to
//   that
//                            shape; attr operation: 0 add, 1 mul, 2 div; out[0] [n]: each value and its dense element
#include "arithmetic/math/element.h"
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

// ---- sparse_tensor_dense_add --------------------------------------------------------------------------------------

Status CheckTerms(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  const Tensor& dense = *call.in[3];
  if (indices.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input a_indices should be a matrix but received shape: %s",
                                      ShapeText(indices).c_str());
  }
  if (call.in[1]->rank != 1 || call.in[2]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Inputs a_values and a_shape should be vectors but received shapes: %s and %s",
                                      ShapeText(*call.in[1]).c_str(), ShapeText(*call.in[2]).c_str());
  }
  if (call.in[2]->count != dense.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Two operands have different ranks; received: %lld and %d",
                                      static_cast<long long>(call.in[2]->count), dense.rank);
  }
  for (int i = 0; i < dense.rank; ++i) {
    if (IntAt(*call.in[2], i) == dense.dims[i]) continue;
    return STILLFLOW_INVALID_ARGUMENT(
        "Dimension %d does not equal (no broadcasting is supported): sparse side %lld vs dense side %lld", i,
        static_cast<long long>(IntAt(*call.in[2], i)), static_cast<long long>(dense.dims[i]));
  }
  if (indices.dims[0] != call.in[1]->count || indices.dims[1] != dense.rank) {
    return STILLFLOW_INVALID_ARGUMENT("a_indices has shape %s, but there are %lld values and %d dimensions",
                                      ShapeText(indices).c_str(), static_cast<long long>(call.in[1]->count),
                                      dense.rank);
  }
  return Status();
}

template <typename T>
Status AddToDense(const KernelCall& call) {
  using A = ElementArithmetic<T>;
  const Tensor& indices = *call.in[0];
  const Tensor& dense = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dense.dtype, Shape(dense)));
  auto* to = MutableData<T>(*call.out[0]);
  std::copy_n(Data<T>(dense), dense.count, to);
  for (int64_t i = 0; i < indices.dims[0]; ++i) {
    int64_t position = 0;
    for (int axis = 0; axis < dense.rank; ++axis) {
      const int64_t index = IntAt(indices, i * dense.rank + axis);
      if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(dense.dims[axis])) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Sparse tensor has some invalid index on dimension %d; dense tensor shape: %s", axis,
            ShapeText(dense).c_str());
      }
      position = position * dense.dims[axis] + index;
    }
    to[position] = A::Store(A::Add(A::Load(to[position]), A::Load(Data<T>(*call.in[1])[i])));
  }
  return Status();
}

Status SparseTensorDenseAdd(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckTerms(call));
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint16_t, uint8_t, Half, BFloat16, Complex64,
                 Complex128>("SparseTensorDenseAdd", call.in[3]->dtype,
                             [&](auto tag) { return AddToDense<typename decltype(tag)::type>(call); });
}

// ---- sparse_dense_cwise -------------------------------------------------------------------------------------------

Status CheckOperands(const KernelCall& call) {
  if (call.in[0]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input sp_indices should be a matrix but received shape: %s",
                                      ShapeText(*call.in[0]).c_str());
  }
  if (call.in[1]->rank != 1 || call.in[2]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Inputs sp_values and sp_shape should be vectors but received shapes: %s and %s",
        ShapeText(*call.in[1]).c_str(), ShapeText(*call.in[2]).c_str());
  }
  const Entries entries(*call.in[0]);
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(entries, *call.in[1]));
  return CheckRank(entries, *call.in[2]);
}

// How far apart the dense tensor's elements are along each axis of the sparse one; 0 where it is broadcast.
Status BroadcastStrides(const Shape& shape, const Tensor& dense, int64_t* strides) {
  const int added = shape.rank - dense.rank;
  int64_t stride = 1;
  bool fits = added >= 0;
  for (int axis = shape.rank - 1; fits && axis >= 0; --axis) {
    const int64_t size = axis < added ? 1 : dense.dims[axis - added];
    fits = size == 1 || size == shape.dims[axis];
    strides[axis] = size == 1 ? 0 : stride;
    stride *= size;
  }
  if (fits) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: %s vs. %s",
      ShapeText(shape).c_str(), ShapeText(dense).c_str());
}

template <typename T>
Status Combine(int64_t operation, T x, T y, T* result) {
  using A = ElementArithmetic<T>;
  const auto a = A::Load(x);
  const auto b = A::Load(y);
  if (operation == 0) {
    *result = A::Store(A::Add(a, b));
  } else if (operation == 1) {
    *result = A::Store(A::Multiply(a, b));
  } else if constexpr (kIsFloating<T>) {
    *result = A::Store(a / b);
  } else {
    if (b == 0) return STILLFLOW_INVALID_ARGUMENT("Integer division by zero");
    const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);  // the least by -1 would overflow
    *result = negates ? A::Negative(a) : static_cast<T>(a / b);
  }
  return Status();
}

template <typename T>
Status CombineAll(const KernelCall& call, const Shape& shape, const int64_t* strides) {
  const Entries entries(*call.in[0]);
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 0, call.in[1]->dtype, entries.count));
  for (int64_t i = 0; i < entries.count; ++i) {
    int64_t position = 0;
    for (int axis = 0; axis < shape.rank; ++axis) {
      const int64_t index = entries[i][axis];
      if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(shape.dims[axis])) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
      }
      position += index * strides[axis];
    }
    const T x = Data<T>(*call.in[1])[i];
    const T y = Data<T>(*call.in[3])[position];
    STILLFLOW_RETURN_IF_ERROR(Combine(call.attrs[0].i, x, y, MutableData<T>(*call.out[0]) + i));
  }
  return Status();
}

Status SparseDenseCwise(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckOperands(call));
  Shape shape;
  int64_t strides[kMaxRank];
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &shape));
  STILLFLOW_RETURN_IF_ERROR(BroadcastStrides(shape, *call.in[3], strides));
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint16_t, uint8_t, Half, BFloat16>(
      "SparseDenseCwise", call.in[1]->dtype,
      [&](auto tag) { return CombineAll<typename decltype(tag)::type>(call, shape, strides); });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_dense){
    {"sparse_tensor_dense_add", "a_indices, a_values, a_shape, b", SparseTensorDenseAdd},
    {"sparse_dense_cwise", "sp_indices, sp_values, sp_shape, dense | operation: add mul div", SparseDenseCwise},
    {}};

}  // namespace stillflow
