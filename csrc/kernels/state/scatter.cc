// scatter, scatter_nd_ref, scatter_nd, tensor_scatter, update_rows: arrays changed in part.
//
//   scatter         in[0] variable; in[1] indices, int32 | int64, of rows; in[2] updates, a row each, or a scalar
//   scaled_scatter  the same; in[3] a scalar that the updates are multiplied by first
//   scatter_nd_ref  in[0] variable; in[1] indices, index tuples in the last dimension; in[2] updates
//   scatter_nd      in[0] indices; in[1] updates; in[2] shape; out[0] the updates added up in zeros of that shape
//   tensor_scatter  in[0] array; in[1] indices; in[2] updates; out[0] a changed copy
//   update_rows     in[0] array; in[1] rows, which count around; in[2] updates, a row each; out[0] a changed copy
//   attr            operation
//
// Updates of one place apply in the order of the indices. Bad indices are reported before anything is written.
#include <algorithm>

#include "memory/indices.h"
#include "memory/row_update.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// Where the updates go, and which they are.
struct Target {
  void* data;
  int64_t width;  // elements of a row
  const int64_t* rows;
  int64_t count;
  const Tensor* updates;
  const Tensor* scale = nullptr;
};

Status CheckDivisors(const Tensor& updates) {
  const auto is_zero = [&](auto value) {
    using T = decltype(value);
    return std::any_of(Data<T>(updates), Data<T>(updates) + updates.count, [](T x) { return x == 0; });
  };
  bool has_zero = false;
  switch (updates.dtype) {
    case DType::kInt64:
      has_zero = is_zero(int64_t{});
      break;
    case DType::kInt32:
      has_zero = is_zero(int32_t{});
      break;
    case DType::kInt16:
    case DType::kUInt16:
      has_zero = is_zero(int16_t{});
      break;
    case DType::kInt8:
    case DType::kUInt8:
      has_zero = is_zero(int8_t{});
      break;
    default:
      break;
  }
  return has_zero ? STILLFLOW_INVALID_ARGUMENT("Integer division by zero") : Status();
}

Status Update(const KernelCall& call, const Target& target, RowOperation operation) {
  const DType type = target.updates->dtype;
  const bool is_counted = type == DType::kUInt32 || type == DType::kUInt64;
  if (is_counted && operation != RowOperation::kSet) return UnsupportedType("Scatter", type);  // as in TensorFlow
  RowUpdates work = {target.data, target.rows, target.count, target.width, target.updates->data, target.width};
  if (target.scale != nullptr) work.scale = target.scale->data;
  if (target.updates->rank > 0 || target.updates->count == target.count * target.width) {
    return UpdateRows(call, "Scatter", operation, type, work);
  }
  // One scalar for all: a row of it.
  const int64_t bytes = ElementBytes(type);
  const Scratch row(call, target.width * bytes);
  if (!row.ok()) return OutOfScratch();
  for (int64_t i = 0; i < target.width; ++i) std::memcpy(row.data<char>() + i * bytes, work.updates, bytes);
  work.updates = row.data<void>();
  work.update_stride = 0;
  return UpdateRows(call, "Scatter", operation, type, work);
}

// ---- Rows of a variable -----------------------------------------------------------------------------------------

Status CheckRows(const Tensor& whole, const Tensor& indices, const Tensor& updates) {
  if (whole.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("params must be at least 1-D, got shape %s", ShapeText(whole).c_str());
  }
  bool fits = updates.rank == 0 || updates.rank == indices.rank + whole.rank - 1;
  for (int i = 0; fits && i < updates.rank; ++i) {
    fits = updates.dims[i] == (i < indices.rank ? indices.dims[i] : whole.dims[i - indices.rank + 1]);
  }
  if (fits) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape %s, "
      "indices.shape %s, params.shape %s",
      ShapeText(updates).c_str(), ShapeText(indices).c_str(), ShapeText(whole).c_str());
}

// `to` is new: a copy of `from` with the strings of the target in place.
void CopyAndSetStrings(const Tensor& from, const Target& target, Tensor* to) {
  std::memcpy(to->data, from.data, from.count * sizeof(StringCell*));
  auto** cells = MutableData<StringCell*>(*to);
  StringCell* const* updates = Data<StringCell*>(*target.updates);
  const bool is_scalar = target.updates->rank == 0;
  for (int64_t i = 0; i < target.count; ++i) {
    for (int64_t k = 0; k < target.width; ++k) {
      cells[target.rows[i] * target.width + k] = updates[is_scalar ? 0 : i * target.width + k];
    }
  }
  RetainStrings(*to);
}

// Strings are set in a copy of the variable: it is small, and releases the old ones.
Status SetStrings(const KernelCall& call, Variable* variable, const Target& target) {
  Tensor copy;
  Tensor& value = variable->value;
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, value.dtype, Shape(value), &copy));
  CopyAndSetStrings(value, target, &copy);
  Release(value.buffer);
  value = copy;
  return Status();
}

Status UpdateVariable(const KernelCall& call, Variable* variable, Target* target, RowOperation operation) {
  if (operation == RowOperation::kDivide) STILLFLOW_RETURN_IF_ERROR(CheckDivisors(*target->updates));
  if (HasCells(variable->value.dtype)) return SetStrings(call, variable, *target);
  STILLFLOW_RETURN_IF_ERROR(MakeUnique(*call.services, variable));
  target->data = variable->value.data;
  return Update(call, *target, operation);
}

Status Scatter(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  const Tensor& indices = *call.in[1];
  const Tensor& updates = *call.in[2];
  const Scratch rows(call, indices.count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  MutexLock guard(variable->mutex);
  const Tensor& whole = variable->value;
  if (whole.buffer == nullptr) return Uninitialized(*variable);
  STILLFLOW_RETURN_IF_ERROR(CheckRows(whole, indices, updates));
  const int64_t size = whole.dims[0];
  STILLFLOW_RETURN_IF_ERROR(indices.dtype == DType::kInt64 ? ReadRows<int64_t>(indices, size, rows.data<int64_t>())
                                                           : ReadRows<int32_t>(indices, size, rows.data<int64_t>()));
  Target target{nullptr, Shape(whole).Count(1, whole.rank), rows.data<int64_t>(), indices.count, &updates};
  if (call.in_count > 3) {
    target.scale = call.in[3];
    if (target.scale->count != 1) return STILLFLOW_INVALID_ARGUMENT("scale must be a scalar");
  }
  return UpdateVariable(call, variable, &target, static_cast<RowOperation>(call.attrs[0].i));
}

// ---- Parts at index tuples ----------------------------------------------------------------------------------------

// How index tuples cut an array into rows.
struct Cut {
  int depth;
  int64_t count;  // tuples
  int64_t width;  // elements of a row
};

Status CheckTuples(const Shape& whole, const Tensor& indices, const Tensor& updates, Cut* cut) {
  if (indices.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("Indices shape must have rank at least one. Found:%s",
                                      ShapeText(indices).c_str());
  }
  if (updates.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("Updates shape must have rank at least one. Found:%s",
                                      ShapeText(updates).c_str());
  }
  if (whole.Count() == 0 && (indices.count > 0 || updates.count > 0)) {
    return STILLFLOW_INVALID_ARGUMENT("Indices and updates specified for empty output.  indices shape: %s",
                                      ShapeText(indices).c_str());
  }
  const int outer = indices.rank - 1;
  const int64_t depth = indices.dims[outer];
  bool fits = updates.rank >= outer;
  for (int i = 0; fits && i < outer; ++i) fits = updates.dims[i] == indices.dims[i];
  if (!fits) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Outer dimensions of indices and update must match. Indices shape: %s, updates shape:%s",
        ShapeText(indices).c_str(), ShapeText(updates).c_str());
  }
  fits = depth <= whole.rank && updates.rank - outer == whole.rank - depth;
  for (int i = outer; fits && i < updates.rank; ++i) fits = updates.dims[i] == whole.dims[i - outer + depth];
  if (!fits) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Inner dimensions of output shape must match inner dimensions of updates shape. Output: %s updates: %s",
        ShapeText(whole).c_str(), ShapeText(updates).c_str());
  }
  cut->depth = static_cast<int>(depth);
  cut->count = Shape(indices).Count(0, outer);
  cut->width = whole.Count(cut->depth, whole.rank);
  return Status();
}

Status ReadTupleRows(const Tensor& indices, const Cut& cut, const Shape& whole, int64_t* rows) {
  return indices.dtype == DType::kInt64 ? ReadTuples<int64_t>(indices, cut.count, cut.depth, whole, "shape", rows)
                                        : ReadTuples<int32_t>(indices, cut.count, cut.depth, whole, "shape", rows);
}

// TensorFlow has words of its own for variables.
Status InWordsForVariables(Status status, const Shape& whole, const Tensor& indices, const Tensor& updates) {
  if (status.ok() || indices.rank < 1 || updates.rank < 1) return status;
  const ShapeText index_shape(indices);
  const ShapeText update_shape(updates);
  const int batch_dim = indices.rank > 1 ? indices.rank - 1 : 1;
  if (indices.dims[0] != updates.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "The outermost dimension of updates and indices must match. Got indices.shape %s, updates.shape %s",
        index_shape.c_str(), update_shape.c_str());
  }
  return STILLFLOW_INVALID_ARGUMENT(
      "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: %s, "
      "indices.shape: %s, params_shape: %s, slice_dim: %lld, and batch_dim: %d",
      update_shape.c_str(), index_shape.c_str(), ShapeText(whole).c_str(),
      static_cast<long long>(indices.rank > 1 ? indices.dims[indices.rank - 1] : 1), batch_dim);
}

Status ScatterNdRef(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  const Tensor& indices = *call.in[1];
  const Tensor& updates = *call.in[2];
  MutexLock guard(variable->mutex);
  if (variable->value.buffer == nullptr) return Uninitialized(*variable);
  const Shape whole(variable->value);
  Cut cut;
  STILLFLOW_RETURN_IF_ERROR(InWordsForVariables(CheckTuples(whole, indices, updates, &cut), whole, indices, updates));
  const Scratch rows(call, cut.count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadTupleRows(indices, cut, whole, rows.data<int64_t>()));
  Target target{nullptr, cut.width, rows.data<int64_t>(), cut.count, &updates};
  return UpdateVariable(call, variable, &target, static_cast<RowOperation>(call.attrs[0].i));
}

// Strings that fall on one place are put together.
Status AddStrings(const KernelCall& call, const Target& target) {
  Tensor& output = *call.out[0];
  auto** cells = MutableData<StringCell*>(output);
  StringCell* const* updates = Data<StringCell*>(*target.updates);
  for (int64_t i = 0; i < target.count * target.width; ++i) {
    StringCell* update = updates[i];
    StringCell*& cell = cells[target.rows[i / target.width] * target.width + i % target.width];
    if (update == nullptr) continue;
    if (cell == nullptr) {
      update->references.fetch_add(1, std::memory_order_relaxed);
      cell = update;
      continue;
    }
    return Error(Code::kUnimplemented, "Several strings fall on one place");
  }
  return Status();
}

Status ScatterNd(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  const Tensor& updates = *call.in[1];
  Shape whole;
  if (call.in[2]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("Shape must be a vector");
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &whole));
  Cut cut;
  STILLFLOW_RETURN_IF_ERROR(CheckTuples(whole, indices, updates, &cut));
  const Scratch rows(call, cut.count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadTupleRows(indices, cut, whole, rows.data<int64_t>()));
  STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, updates.dtype, whole));
  const Target target{call.out[0]->data, cut.width, rows.data<int64_t>(), cut.count, &updates};
  if (HasCells(updates.dtype)) return AddStrings(call, target);
  return Update(call, target, RowOperation::kAdd);
}

// The output with the values of the first input, in its memory if nobody else reads that.
Status CopyToOutput(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, input.dtype, Shape(input)));
  if (call.out[0]->data == input.data) return Status();
  return CopyRun(call, input.count * ElementBytes(input.dtype), input.data, call.out[0]->data);
}

Status TensorScatter(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& indices = *call.in[1];
  const Tensor& updates = *call.in[2];
  const Shape whole(input);
  if (HasCells(input.dtype)) return UnsupportedType("TensorScatter", input.dtype);
  Cut cut;
  STILLFLOW_RETURN_IF_ERROR(CheckTuples(whole, indices, updates, &cut));
  const Scratch rows(call, cut.count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadTupleRows(indices, cut, whole, rows.data<int64_t>()));
  STILLFLOW_RETURN_IF_ERROR(CopyToOutput(call));
  const Target target{call.out[0]->data, cut.width, rows.data<int64_t>(), cut.count, &updates};
  return Update(call, target, static_cast<RowOperation>(call.attrs[0].i));
}

Status CheckRowUpdates(const Tensor& whole, const Tensor& rows, const Tensor& updates) {
  if (whole.rank != updates.rank) {
    return STILLFLOW_INVALID_ARGUMENT("x and v shape doesn't match (ranks differ): %s vs. %s",
                                      ShapeText(whole).c_str(), ShapeText(updates).c_str());
  }
  if (whole.rank < 1) return STILLFLOW_INVALID_ARGUMENT("x must be at least 1-D, got a scalar");
  for (int i = 1; i < whole.rank; ++i) {
    if (whole.dims[i] != updates.dims[i]) {
      return STILLFLOW_INVALID_ARGUMENT("x and v shape doesn't match at index %d : %s vs. %s", i,
                                        ShapeText(whole).c_str(), ShapeText(updates).c_str());
    }
  }
  if (rows.rank != 1) return STILLFLOW_INVALID_ARGUMENT("i must be a vector. %s", ShapeText(rows).c_str());
  if (rows.dims[0] != updates.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("i and x shape doesn't match at index 0: %s vs. %s", ShapeText(rows).c_str(),
                                      ShapeText(updates).c_str());
  }
  return Status();
}

Status UpdateRowsOfTensor(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& indices = *call.in[1];
  const Tensor& updates = *call.in[2];
  const auto operation = static_cast<RowOperation>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(CheckRowUpdates(input, indices, updates));
  const Scratch rows(call, indices.count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  const int64_t size = input.dims[0];
  if (size == 0 && indices.count > 0) return STILLFLOW_INVALID_ARGUMENT("x has no rows, but there are updates");
  for (int64_t i = 0; i < indices.count; ++i) {
    rows.data<int64_t>()[i] = (Data<int32_t>(indices)[i] % size + size) % size;
  }
  Target target{nullptr, Shape(input).Count(1, input.rank), rows.data<int64_t>(), indices.count, &updates};
  if (input.dtype == DType::kString && operation == RowOperation::kSet) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
    CopyAndSetStrings(input, target, call.out[0]);
    return Status();
  }
  if (HasCells(input.dtype)) return UnsupportedType("UpdateRows", input.dtype);
  STILLFLOW_RETURN_IF_ERROR(CopyToOutput(call));
  target.data = call.out[0]->data;
  return Update(call, target, operation);
}

}  // namespace

#define OPERATIONS "set add sub mul div min max"  // as RowOperation has them

STILLFLOW_KERNELS(state, scatter){
    {"scatter", "variable, indices, updates | operation: " OPERATIONS, Scatter},
    {"scaled_scatter", "variable, indices, updates, scale | operation: " OPERATIONS, Scatter},
    {"scatter_nd_ref", "variable, indices, updates | operation: " OPERATIONS, ScatterNdRef},
    {"scatter_nd", "indices, updates, shape", ScatterNd},
    {"tensor_scatter", "tensor, indices, updates | operation: " OPERATIONS, TensorScatter},
    {"update_rows", "array, rows, updates | operation: " OPERATIONS, UpdateRowsOfTensor},
    {}};

}  // namespace stillflow
