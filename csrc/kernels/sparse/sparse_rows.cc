// sparse_fill_empty_rows, sparse_fill_empty_rows_grad: a sparse tensor in which every row has an entry.
//
//   sparse_fill_empty_rows  in[0] indices int64[n, rank], in[1] values [n], in[2] shape int64[rank], in[3] a scalar;
//                           out[0], out[1] the entries by row, in the order they had, and for each row that has none
//                           one at its beginning with the scalar; out[2] bool[rows] which rows had none; out[3]
//                           int64[n] where each entry went
//   sparse_fill_empty_rows_grad  in[0] where each entry went, in[1] the gradient of the values; out[0] the gradient
//   of
//                           each entry's value, out[1] the sum of the others'
#include "arithmetic/math/element.h"
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

Status CheckInputs(const KernelCall& call) {
  if (call.in[0]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("indices must be a matrix, saw: %s", ShapeText(*call.in[0]).c_str());
  }
  if (call.in[1]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("values must be a vector, saw: %s", ShapeText(*call.in[1]).c_str());
  }
  if (call.in[2]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("dense_shape must be a vector, saw: %s", ShapeText(*call.in[2]).c_str());
  }
  if (call.in[3]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("default_value must be a scalar, saw: %s", ShapeText(*call.in[3]).c_str());
  }
  if (call.in[0]->dims[1] == 0 || call.in[2]->count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("A sparse tensor without dimensions has no rows");
  }
  return CheckValueCount(Entries(*call.in[0]), *call.in[1]);
}

// Fills next[row] with where the first entry of each row goes. Returns how many entries there will be.
int64_t PlaceRows(int64_t rows, int64_t* next) {
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t count = std::max<int64_t>(next[row], 1);
    next[row] = total;
    total += count;
  }
  return total;
}

template <typename T>
Status FillRows(const KernelCall& call, const Entries& entries, const int64_t* ends) {
  auto* indices = MutableData<int64_t>(*call.out[0]);
  auto* values = MutableData<T>(*call.out[1]);
  for (int64_t row = 0; row < call.out[2]->count; ++row) {
    if (!Data<bool>(*call.out[2])[row]) continue;
    int64_t* const to = indices + ends[row] * entries.rank;  // no entry went to the row: it ends where it begins
    std::fill_n(to, entries.rank, 0);
    to[0] = row;
    values[ends[row]] = *Data<T>(*call.in[3]);
  }
  for (int64_t i = 0; i < entries.count; ++i) {
    const int64_t at = Data<int64_t>(*call.out[3])[i];
    std::copy_n(entries[i], entries.rank, indices + at * entries.rank);
    values[at] = Data<T>(*call.in[1])[i];
  }
  RetainStrings(*call.out[1]);
  return Status();
}

Status SparseFillEmptyRows(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  const Entries entries(*call.in[0]);
  const int64_t rows = IntAt(*call.in[2], 0);
  Shape row_shape;
  row_shape.Add(rows);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kBool, row_shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 3, DType::kInt64, entries.count));
  if (rows == 0 && entries.count != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = %lld",
                                      static_cast<long long>(entries.count));
  }
  const Scratch places(call, rows * 8);
  if (!places.ok()) return OutOfScratch();
  auto* next = places.data<int64_t>();
  auto* went = MutableData<int64_t>(*call.out[3]);  // first each entry's row, then where it goes
  std::fill_n(next, rows, 0);
  for (int64_t i = 0; i < entries.count; ++i) {
    const int64_t row = entries[i][0];
    if (row < 0 || row >= rows) {
      return STILLFLOW_INVALID_ARGUMENT("indices(%lld, 0) is invalid: %lld >= %lld", static_cast<long long>(i),
                                        static_cast<long long>(row), static_cast<long long>(rows));
    }
    went[i] = row;
    ++next[row];
  }
  auto* is_empty = MutableData<bool>(*call.out[2]);
  for (int64_t row = 0; row < rows; ++row) is_empty[row] = next[row] == 0;
  const int64_t total = PlaceRows(rows, next);
  for (int64_t i = 0; i < entries.count; ++i) went[i] = next[went[i]]++;
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, total, entries.rank));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, call.in[1]->dtype, total));
  return ForWidth("SparseFillEmptyRows", call.in[1]->dtype,
                  [&](auto tag) { return FillRows<typename decltype(tag)::type>(call, entries, next); });
}

// ---- sparse_fill_empty_rows_grad ----------------------------------------------------------------------------------

template <typename T>
Status PickGradients(const KernelCall& call, bool* is_picked) {
  const Tensor& map = *call.in[0];
  const Tensor& grads = *call.in[1];
  const auto* from = Data<T>(grads);
  for (int64_t i = 0; i < map.count; ++i) {
    const int64_t at = Data<int64_t>(map)[i];
    if (at < 0 || at >= grads.count) {
      return STILLFLOW_INVALID_ARGUMENT("Elements in reverse index must be in [0, %lld) but got %lld",
                                        static_cast<long long>(grads.count), static_cast<long long>(at));
    }
    MutableData<T>(*call.out[0])[i] = from[at];
    is_picked[at] = true;
  }
  using A = ElementArithmetic<T>;
  typename A::Wide sum{};
  for (int64_t i = 0; i < grads.count; ++i) {
    if (!is_picked[i]) sum = A::Add(sum, A::Load(from[i]));
  }
  *MutableData<T>(*call.out[1]) = A::Store(sum);
  return Status();
}

Status SparseFillEmptyRowsGrad(const KernelCall& call) {
  const Tensor& map = *call.in[0];
  const Tensor& grads = *call.in[1];
  if (map.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("reverse_index_map must be a vector, saw: %s", ShapeText(map).c_str());
  }
  if (grads.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("grad_values must be a vector, saw: %s", ShapeText(grads).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 0, grads.dtype, map.count));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, grads.dtype, Shape()));
  const Scratch picked(call, grads.count);
  if (!picked.ok()) return OutOfScratch();
  std::fill_n(picked.data<bool>(), grads.count, false);
  return ForType<float, double, Half, BFloat16, Complex64, Complex128, int8_t, int16_t, int32_t, int64_t, uint8_t,
                 uint16_t>("SparseFillEmptyRowsGrad", grads.dtype, [&](auto tag) {
    return PickGradients<typename decltype(tag)::type>(call, picked.data<bool>());
  });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_rows){
    {"sparse_fill_empty_rows", "indices, values, dense_shape, default_value", SparseFillEmptyRows},
    {"sparse_fill_empty_rows_grad", "reverse_index_map, grad_values", SparseFillEmptyRowsGrad},
    {}};

}  // namespace stillflow
