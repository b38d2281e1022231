// sparse_reorder, sparse_reshape, sparse_concat: the entries of sparse tensors in another order or shape.
//
//   A sparse tensor is three inputs or outputs: indices int64[n, rank], values [n], shape int64[rank].
//
//   sparse_reorder  the entries in row-major order; equal rows stay as they are
//   sparse_reshape  in[0] indices, in[1] shape, in[2] the new shape, in which one size may be -1;
//                   out[0], out[1] the same places in the new shape
//   sparse_concat   in[0..n) indices, in[n..2n) values, in[2n..3n) shapes; attr the axis
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

// ---- sparse_reorder -----------------------------------------------------------------------------------------------

Status WriteRows(const KernelCall& call, const Entries& entries, const int64_t* order) {
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, entries.count, entries.rank));
  auto* to = MutableData<int64_t>(*call.out[0]);
  for (int64_t i = 0; i < entries.count; ++i) to = std::copy_n(entries[order[i]], entries.rank, to);
  return Status();
}

Status SparseReorder(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckPartRanks(*call.in[0], *call.in[1], *call.in[2]));
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(Entries(*call.in[0]), *call.in[1]));
  const Entries entries(*call.in[0]);
  STILLFLOW_RETURN_IF_ERROR(CheckRank(entries, *call.in[2]));
  const Scratch order(call, entries.count * 8);
  if (!order.ok()) return OutOfScratch();
  OrderRows(entries, order.data<int64_t>());
  STILLFLOW_RETURN_IF_ERROR(WriteRows(call, entries, order.data<int64_t>()));
  return TakeValues(call, "SparseReorder", *call.in[1], order.data<int64_t>(), entries.count, 1);
}

// ---- sparse_reshape -----------------------------------------------------------------------------------------------

// Reads the new shape and puts in the size that is -1.
Status ReadNewShape(const Tensor& target, const Shape& old_shape, Shape* shape) {
  if (target.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Target shape should be a vector but received shape %s",
                                      ShapeText(target).c_str());
  }
  if (target.count > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d, but received %lld", kMaxRank,
                                      static_cast<long long>(target.count));
  }
  int unknown = -1;
  for (int i = 0; i < target.count; ++i) {
    const int64_t size = IntAt(target, i);
    if (size == -1) {
      if (unknown != -1) {
        return STILLFLOW_INVALID_ARGUMENT("only one output dimension may be -1, not both %d and %d", unknown, i);
      }
      unknown = i;
      shape->Add(1);
    } else if (size < 0) {
      return STILLFLOW_INVALID_ARGUMENT("size %d must be non-negative, not %lld", i, static_cast<long long>(size));
    } else {
      shape->Add(size);
    }
  }
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckedCount(*shape, &count));
  const int64_t old_count = old_shape.Count();
  if (unknown != -1) {
    if (count == 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are "
          "non-zero");
    }
    if (old_count % count != 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Input to reshape is a SparseTensor with %lld dense values, but the requested shape requires a multiple of "
          "%lld. input_shape=%s output_shape=%s",
          static_cast<long long>(old_count), static_cast<long long>(count), ShapeText(old_shape).c_str(),
          ShapeText(*shape).c_str());
    }
    shape->dims[unknown] = old_count / count;
    count = old_count;
  }
  if (count != old_count) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Input to reshape is a tensor with %lld dense values, but the requested shape has %lld. input_shape=%s "
        "output_shape=%s",
        static_cast<long long>(old_count), static_cast<long long>(count), ShapeText(old_shape).c_str(),
        ShapeText(*shape).c_str());
  }
  return Status();
}

Status SparseReshape(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  if (indices.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be a matrix but received shape %s",
                                      ShapeText(indices).c_str());
  }
  if (call.in[1]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shape should be a vector but received shape %s",
                                      ShapeText(*call.in[1]).c_str());
  }
  Shape old_shape;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[1], &old_shape));
  STILLFLOW_RETURN_IF_ERROR(ReadNewShape(*call.in[2], old_shape, &shape));
  const Entries entries(indices);
  if (entries.rank != old_shape.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices have %lld columns, but the input shape has %d sizes",
                                      static_cast<long long>(entries.rank), old_shape.rank);
  }
  if (shape == old_shape) {  // whatever the indices are, as in TensorFlow
    Alias(call, 0, 0, Shape(indices));
    return WriteShape(call, 1, shape);
  }
  STILLFLOW_RETURN_IF_ERROR(CheckInside(entries, old_shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, entries.count, shape.rank));
  auto* to = MutableData<int64_t>(*call.out[0]);
  for (int64_t i = 0; i < entries.count; ++i, to += shape.rank) {
    uint64_t position = 0;
    for (int axis = 0; axis < old_shape.rank; ++axis) {
      position = position * static_cast<uint64_t>(old_shape.dims[axis]) + static_cast<uint64_t>(entries[i][axis]);
    }
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      const auto size = static_cast<uint64_t>(shape.dims[axis]);
      to[axis] = static_cast<int64_t>(position % size);
      position /= size;
    }
  }
  return WriteShape(call, 1, shape);
}

// ---- sparse_concat ------------------------------------------------------------------------------------------------

// The parts that are concatenated: the first third of the inputs are indices, then come values and shapes.
struct Parts {
  const KernelCall* call;
  int count;
  const Tensor& indices(int part) const { return *call->in[part]; }
  const Tensor& values(int part) const { return *call->in[count + part]; }
  const Tensor& shape(int part) const { return *call->in[2 * count + part]; }
};

Status CheckForms(const Parts& parts) {
  for (int i = 0; i < parts.count; ++i) {
    if (parts.indices(i).rank != 2) {
      return STILLFLOW_INVALID_ARGUMENT("Input indices should be a matrix but received shape %s at position %d",
                                        ShapeText(parts.indices(i)).c_str(), i);
    }
    if (parts.values(i).rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Input values should be a vector but received shape %s at position %d",
                                        ShapeText(parts.values(i)).c_str(), i);
    }
    if (parts.shape(i).rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Input shapes should be a vector but received shape %s at position %d",
                                        ShapeText(parts.shape(i)).c_str(), i);
    }
    STILLFLOW_RETURN_IF_ERROR(CheckValueCount(Entries(parts.indices(i)), parts.values(i)));
  }
  return Status();
}

// The shape of the whole, and at which index along the axis each part begins.
Status JoinShapes(const Parts& parts, int64_t axis, Shape* shape, int64_t* total) {
  for (int i = 1; i < parts.count; ++i) {
    Shape other;
    STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(parts.shape(i), &other));
    if (other.rank != shape->rank) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Ranks of all input tensors must match: expected %d but got %d at position %d", shape->rank, other.rank, i);
    }
    for (int j = 0; j < shape->rank; ++j) {
      if (j == axis) {
        if (__builtin_add_overflow(shape->dims[j], other.dims[j], &shape->dims[j])) return CheckedCount(other, total);
      } else if (other.dims[j] != shape->dims[j]) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Input shapes must match: expected %lld for dimension %d but got %lld at position %d",
            static_cast<long long>(shape->dims[j]), j, static_cast<long long>(other.dims[j]), i);
      }
    }
  }
  *total = 0;
  for (int i = 0; i < parts.count; ++i) {
    const Entries entries(parts.indices(i));
    if (entries.rank != shape->rank) return CheckRank(entries, parts.shape(i));
    *total += entries.count;
  }
  return Status();
}

Status SparseConcat(const KernelCall& call) {
  const Parts parts{&call, call.in_count / 3};
  STILLFLOW_RETURN_IF_ERROR(CheckForms(parts));
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(parts.shape(0), &shape));
  int64_t axis = call.attrs[0].i;
  if (axis < -shape.rank || axis >= shape.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Concat dimension must be in range [%d, %d), got %lld", -shape.rank, shape.rank,
                                      static_cast<long long>(axis));
  }
  if (axis < 0) axis += shape.rank;
  int64_t total = 0;
  STILLFLOW_RETURN_IF_ERROR(JoinShapes(parts, axis, &shape, &total));
  const Scratch rows(call, total * shape.rank * 8);
  const Scratch values(call, total * ElementBytes(parts.values(0).dtype));
  const Scratch order(call, total * 8);
  if (!rows.ok() || !values.ok() || !order.ok()) return OutOfScratch();
  auto* row = rows.data<int64_t>();
  auto* value = values.data<char>();
  int64_t offset = 0;
  for (int i = 0; i < parts.count; ++i) {
    const Entries entries(parts.indices(i));
    for (int64_t j = 0; j < entries.count; ++j, row += shape.rank) {
      std::copy_n(entries[j], shape.rank, row);
      row[axis] = static_cast<int64_t>(static_cast<uint64_t>(row[axis]) + static_cast<uint64_t>(offset));
    }
    const int64_t bytes = entries.count * ElementBytes(parts.values(i).dtype);
    std::memcpy(value, parts.values(i).data, bytes);
    value += bytes;
    offset += IntAt(parts.shape(i), axis);
  }
  Entries entries;
  entries.indices = rows.data<int64_t>();
  entries.count = total;
  entries.rank = shape.rank;
  OrderRows(entries, order.data<int64_t>());
  STILLFLOW_RETURN_IF_ERROR(WriteRows(call, entries, order.data<int64_t>()));
  Tensor joined = parts.values(0);
  joined.data = values.data<char>();
  STILLFLOW_RETURN_IF_ERROR(TakeValues(call, "SparseConcat", joined, order.data<int64_t>(), total, 1));
  return WriteShape(call, 2, shape);
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_order){
    {"sparse_reorder", "input_indices, input_values, input_shape", SparseReorder},
    {"sparse_reshape", "input_indices, input_shape, new_shape", SparseReshape},
    {"sparse_concat", "indices..., values..., shapes... | concat_dim", SparseConcat},
    {}};

}  // namespace stillflow
