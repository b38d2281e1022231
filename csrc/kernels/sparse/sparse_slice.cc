// sparse_slice, sparse_slice_grad, sparse_split: parts of a sparse tensor.
//
//   sparse_slice       in[0] indices int64[n, rank], in[1] values, in[2] shape, in[3] start, in[4] size int64[rank];
//                      out[0..3) the part, which ends where the whole does
//   sparse_slice_grad  in[0] the gradient of the part's values, in[1] the whole's indices, in[2] start, in[3] the
//                      part's indices; out[0] the gradient of the whole's values
//   sparse_split       in[0] axis, in[1..4) indices, values, shape; attr the number of parts, of which the first are
//                      longer by one where it does not divide; out[0..n) indices, then values, then shapes
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

Status CheckParts(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be a matrix but received shape %s",
                                      ShapeText(indices).c_str());
  }
  // TensorFlow shows the shape of the indices here too.
  if (values.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input values should be a vector but received shape %s",
                                      ShapeText(indices).c_str());
  }
  if (shape.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shape should be a vector but received shape %s",
                                      ShapeText(shape).c_str());
  }
  const Entries entries(indices);
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(entries, values));
  return CheckRank(entries, shape);
}

// From `begin` to `end`, which is not below it: up to 2^64 - 1.
uint64_t Distance(int64_t begin, int64_t end) { return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin); }

// A box of indices. It may begin below zero, where there is nothing.
struct Box {
  Shape start;
  Shape size;
  bool Contains(const int64_t* row) const {
    for (int axis = 0; axis < start.rank; ++axis) {
      if (row[axis] < start.dims[axis] || Distance(start.dims[axis], row[axis]) >= Extent(axis)) return false;
    }
    return true;
  }
  uint64_t Extent(int axis) const { return static_cast<uint64_t>(size.dims[axis]); }
};

// Writes the entries inside the box, moved to its corner, to `out`, and their values to `out` + `stride`.
Status TakeBox(const KernelCall& call, const char* kernel, const Entries& entries, const Tensor& values,
               const Box& box, int out, int stride) {
  const Scratch order(call, entries.count * 8);
  if (!order.ok()) return OutOfScratch();
  int64_t count = 0;
  for (int64_t i = 0; i < entries.count; ++i) {
    if (box.Contains(entries[i])) order.data<int64_t>()[count++] = i;
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, out, DType::kInt64, count, entries.rank));
  auto* to = MutableData<int64_t>(*call.out[out]);
  for (int64_t i = 0; i < count; ++i, to += entries.rank) {
    for (int axis = 0; axis < entries.rank; ++axis) {
      to[axis] = entries[order.data<int64_t>()[i]][axis] - box.start.dims[axis];
    }
  }
  STILLFLOW_RETURN_IF_ERROR(TakeValues(call, kernel, values, order.data<int64_t>(), count, out + stride));
  return WriteShape(call, out + 2 * stride, box.size);
}

Status ReadVector(const Tensor& tensor, const char* name, int64_t length, Shape* values) {
  if (tensor.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input %s should be a vector but received shape %s", name,
                                      ShapeText(tensor).c_str());
  }
  if (tensor.count != length) {
    return STILLFLOW_INVALID_ARGUMENT("Expected %s to be a vector of length %lld but got length %lld", name,
                                      static_cast<long long>(length), static_cast<long long>(tensor.count));
  }
  for (int i = 0; i < length; ++i) values->Add(IntAt(tensor, i));
  return Status();
}

Status SparseSlice(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckParts(*call.in[0], *call.in[1], *call.in[2]));
  const Entries entries(*call.in[0]);
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &shape));
  Box box;
  STILLFLOW_RETURN_IF_ERROR(ReadVector(*call.in[3], "start", shape.rank, &box.start));
  STILLFLOW_RETURN_IF_ERROR(ReadVector(*call.in[4], "size", shape.rank, &box.size));
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (box.size.dims[axis] < 0) {
      return STILLFLOW_INVALID_ARGUMENT("size must not be negative, got %s", ShapeText(box.size).c_str());
    }
    const int64_t begin = box.start.dims[axis];
    const uint64_t left = begin < shape.dims[axis] ? Distance(begin, shape.dims[axis]) : 0;
    box.size.dims[axis] = static_cast<int64_t>(std::min(box.Extent(axis), left));
  }
  return TakeBox(call, "SparseSlice", entries, *call.in[1], box, 0, 1);
}

// ---- sparse_slice_grad --------------------------------------------------------------------------------------------

Status CheckGradient(const Tensor& grad, const Tensor& input, const Tensor& start, const Tensor& output) {
  if (input.rank != 2 || output.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input and output indices should be matrices but received shapes: %s and %s",
                                      ShapeText(input).c_str(), ShapeText(output).c_str());
  }
  if (grad.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input backprop_val_grad should be a vector but received shape: %s",
                                      ShapeText(grad).c_str());
  }
  if (grad.count != output.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got %lld and %lld",
        static_cast<long long>(grad.count), static_cast<long long>(output.dims[0]));
  }
  if (input.dims[1] != output.dims[1]) {
    return STILLFLOW_INVALID_ARGUMENT("The input and output should have the same ndims: got: %lld and %lld",
                                      static_cast<long long>(input.dims[1]), static_cast<long long>(output.dims[1]));
  }
  if (start.rank != 1 || start.count != input.dims[1]) {
    return STILLFLOW_INVALID_ARGUMENT("Expected input_start to be a vector of length %lld but got length %lld",
                                      static_cast<long long>(input.dims[1]), static_cast<long long>(start.count));
  }
  return Status();
}

Status SparseSliceGrad(const KernelCall& call) {
  const Tensor& grad = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckGradient(grad, *call.in[1], *call.in[2], *call.in[3]));
  const Entries whole(*call.in[1]);
  const Entries part(*call.in[3]);
  const auto* start = Data<int64_t>(*call.in[2]);
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 0, grad.dtype, whole.count));
  return ForWidth("SparseSliceGrad", grad.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* to = MutableData<T>(*call.out[0]);
    int64_t used = 0;
    for (int64_t i = 0; i < whole.count; ++i) {
      bool is_next = used < part.count;
      for (int64_t axis = 0; is_next && axis < whole.rank; ++axis) {
        is_next = whole[i][axis] - start[axis] == part[used][axis];
      }
      to[i] = is_next ? Data<T>(grad)[used] : T{0};
      used += is_next ? 1 : 0;
    }
    if (used == part.count) return Status();
    return Error(Code::kInternal,
                 "Elements of backprop_val_grad aren't all propagated. Num elements:%lld, used: %lld",
                 static_cast<long long>(part.count), static_cast<long long>(used));
  });
}

// ---- sparse_split -------------------------------------------------------------------------------------------------

Status SparseSplit(const KernelCall& call) {
  const Tensor& indices = *call.in[1];
  const Tensor& values = *call.in[2];
  STILLFLOW_RETURN_IF_ERROR(CheckParts(indices, values, *call.in[3]));
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[3], &shape));
  if (call.in[0]->count != 1) return STILLFLOW_INVALID_ARGUMENT("split_dim should be a scalar");
  const int64_t axis = *Data<int64_t>(*call.in[0]);
  if (axis < 0 || axis >= shape.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Input split_dim should be between 0 and rank (%d), got %lld", shape.rank,
                                      static_cast<long long>(axis));
  }
  const int64_t count = call.attrs[0].i;
  const int64_t size = shape.dims[axis];
  if (count < 1 || count > size) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Input num_split should be between 1 and the splitting dimension size (%lld), got %lld",
        static_cast<long long>(size), static_cast<long long>(count));
  }
  const Entries entries(indices);
  STILLFLOW_RETURN_IF_ERROR(CheckInside(entries, shape));
  Box box{shape, shape};
  std::fill_n(box.start.dims, shape.rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    box.size.dims[axis] = size / count + (i < size % count ? 1 : 0);
    STILLFLOW_RETURN_IF_ERROR(
        TakeBox(call, "SparseSplit", entries, values, box, static_cast<int>(i), static_cast<int>(count)));
    box.start.dims[axis] += box.size.dims[axis];
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_slice){
    {"sparse_slice", "indices, values, shape, start, size", SparseSlice},
    {"sparse_slice_grad", "backprop_val_grad, input_indices, input_start, output_indices", SparseSliceGrad},
    {"sparse_split", "split_dim, indices, values, shape | num_split", SparseSplit},
    {}};

}  // namespace stillflow
