// serialize_sparse, serialize_many_sparse, deserialize_sparse, sparse_tensor_slice_dataset: sparse tensors as
// variants, which data sets hold, or as serialized TensorProto messages, and data sets of their rows.
//
//   serialize       in[0..2] indices int64[n, rank], values [n], shape int64[rank]; out[0] variant | string [3]
//   serialize_many  the same; out[0] variant | string [rows, 3]: those of each row, whose indices have a column less
//   deserialize     in[0] variant | string [..., 3]; out[0..2] the sparse tensor of which they are the parts, stacked
//   along as
//                   many new dimensions as there are in front, as large as the largest; attr dtype
//   slice_dataset   in[0..2] a sparse tensor; out[0] a data set of the parts of each row
#include <algorithm>
#include <vector>

#include "kernel_api/sparse_tensor.h"
#include "kernels/parsing/tensor_message.h"
#include "state_kernels/data/arguments.h"

namespace stillflow {
namespace {

// Makes element `index` of a tensor of variants or strings hold `value`, which may be taken over.
Status Hold(const KernelCall& call, int64_t index, Tensor* value) {
  Tensor* const out = call.out[0];
  if (out->dtype == DType::kString) {
    const std::string message = SerializedTensor(*value, true);
    const bool is_set = SetString(call, out, index, message.data(), static_cast<int64_t>(message.size()));
    return is_set ? Status() : OutOfScratch();
  }
  MutableData<Variant*>(*out)[index] = new TensorVariant(*value);
  value->buffer = nullptr;
  return Status();
}

Status Serialize(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  Shape three;
  three.Add(3);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, static_cast<DType>(call.attrs[0].i), three));
  for (int i = 0; i < 3; ++i) {
    Tuple part(1);
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, *call.in[i], &part[0]));
    STILLFLOW_RETURN_IF_ERROR(Hold(call, i, &part[0]));
  }
  return Status();
}

// The parts of the row whose elements are [begin, end) of the sparse tensor.
Status RowParts(const KernelCall& call, int64_t begin, int64_t end, Tuple* row) {
  const Tensor& indices = *call.in[0];
  const int64_t rank = indices.dims[1];
  row->Reset(3);
  Tuple& parts = *row;
  Shape places;
  places.Add(end - begin);
  places.Add(rank - 1);
  Shape count;
  count.Add(end - begin);
  Shape dims;
  dims.Add(rank - 1);
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, places, &parts[0]));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, call.in[1]->dtype, count, &parts[1]));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, dims, &parts[2]));
  for (int64_t i = begin; i < end; ++i)
    CopyElements(indices, i * rank + 1, rank - 1, &parts[0], (i - begin) * (rank - 1));
  CopyElements(*call.in[1], begin, end - begin, &parts[1], 0);
  CopyElements(*call.in[2], 1, rank - 1, &parts[2], 0);
  return Status();
}

// Calls body(row, parts) for each row of the sparse tensor, whose elements have to be in order of rows.
template <typename Body>
Status ForEachRow(const KernelCall& call, const Body& body) {
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  const Tensor& indices = *call.in[0];
  const int64_t rank = indices.dims[1];
  if (rank < 1) return STILLFLOW_INVALID_ARGUMENT("Rank of input SparseTensor should be > 1, but saw rank: 0");
  const int64_t rows = IntAt(*call.in[2], 0);
  int64_t begin = 0;
  Tuple parts;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t end = begin;
    while (end < indices.dims[0] && IntAt(indices, end * rank) == row) ++end;
    STILLFLOW_RETURN_IF_ERROR(RowParts(call, begin, end, &parts));
    STILLFLOW_RETURN_IF_ERROR(body(row, parts));
    begin = end;
  }
  if (begin == indices.dims[0]) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "The `SparseTensor` must be ordered in the batch dimension, with indices from 0 to %lld, but element %lld is "
      "in "
      "row %lld",
      static_cast<long long>(rows - 1), static_cast<long long>(begin),
      static_cast<long long>(IntAt(indices, begin * rank)));
}

Status SerializeMany(const KernelCall& call) {
  if (call.in[2]->count < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Rank of input SparseTensor should be > 1, but saw rank: %lld",
                                      static_cast<long long>(call.in[2]->count));
  }
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  Shape dense;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &dense));
  STILLFLOW_RETURN_IF_ERROR(CheckInside(Entries(*call.in[0]), dense));
  STILLFLOW_RETURN_IF_ERROR(CheckOrder(Entries(*call.in[0])));
  Shape shape;
  shape.Add(dense.dims[0]);
  shape.Add(3);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, static_cast<DType>(call.attrs[0].i), shape));
  return ForEachRow(call, [&](int64_t row, Tuple& parts) -> Status {
    for (int i = 0; i < 3; ++i) STILLFLOW_RETURN_IF_ERROR(Hold(call, row * 3 + i, &parts[i]));
    return Status();
  });
}

Status SliceDataset(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  const Tensor& indices = *call.in[0];
  for (int64_t i = 1; i < indices.dims[0]; ++i) {
    if (IntAt(indices, i * indices.dims[1]) < IntAt(indices, (i - 1) * indices.dims[1])) {
      return Error(
          Code::kUnimplemented,
          "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not "
          "currently supported.");
    }
  }
  std::vector<Tuple> rows;
  STILLFLOW_RETURN_IF_ERROR(ForEachRow(call, [&](int64_t, Tuple& parts) {
    rows.push_back(std::move(parts));
    return Status();
  }));
  const auto rank = static_cast<int64_t>(call.in[0]->dims[1] - 1);
  TupleSpec spec;
  spec.types = {DType::kInt64, call.in[1]->dtype, DType::kInt64};
  spec.shapes.resize(3);
  spec.shapes[0].rank = 2;
  spec.shapes[0].dims[0] = -1;
  spec.shapes[0].dims[1] = rank;
  spec.shapes[1].rank = spec.shapes[2].rank = 1;
  spec.shapes[1].dims[0] = -1;
  spec.shapes[2].dims[0] = rank;
  return OutputDataset(call, MakeElementsDataset(std::move(spec), std::move(rows)));
}

// ---- Back to a sparse tensor --------------------------------------------------------------------------------------

struct SparseParts {
  const Tensor* indices;
  const Tensor* values;
  const Tensor* dims;
};

// `parsed` keeps what was in messages.
Status PartsAt(const KernelCall& call, int64_t index, DType dtype, Tuple* parsed, SparseParts* parts) {
  const Tensor& serialized = *call.in[0];
  const Tensor** const wanted[] = {&parts->indices, &parts->values, &parts->dims};
  for (int i = 0; i < 3; ++i) {
    if (serialized.dtype == DType::kString) {
      Tensor& part = (*parsed)[index * 3 + i];
      bool is_valid = false;
      STILLFLOW_RETURN_IF_ERROR(ParseTensorMessage(call, StringAt(serialized, index * 3 + i), &is_valid, &part));
      if (!is_valid) return STILLFLOW_INVALID_ARGUMENT("Could not parse serialized proto");
      *wanted[i] = &part;
      continue;
    }
    const auto* held = VariantAt<TensorVariant>(serialized, index * 3 + i);
    if (held == nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("serialized_sparse[%lld, %d] does not hold a tensor",
                                        static_cast<long long>(index), i);
    }
    *wanted[i] = &held->tensor;
  }
  const Tensor& indices = *parts->indices;
  const Tensor& values = *parts->values;
  const Tensor& dims = *parts->dims;
  if (values.dtype != dtype) {
    return STILLFLOW_INVALID_ARGUMENT("Requested SparseTensor of type %s but SparseTensor[%lld].values.dtype() == %s",
                                      Name(dtype), static_cast<long long>(index), Name(values.dtype));
  }
  const bool fits = indices.dtype == DType::kInt64 && indices.rank == 2 && values.rank == 1 &&
                    dims.dtype == DType::kInt64 && dims.rank == 1 && indices.dims[0] == values.dims[0] &&
                    indices.dims[1] == dims.dims[0];
  return fits ? Status()
              : STILLFLOW_INVALID_ARGUMENT("serialized_sparse[%lld] does not hold the parts of a sparse tensor",
                                           static_cast<long long>(index));
}

Status Deserialize(const KernelCall& call) {
  const Tensor& serialized = *call.in[0];
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  if (serialized.rank == 0 || serialized.dims[serialized.rank - 1] != 3) {
    return STILLFLOW_INVALID_ARGUMENT("Serialized sparse should have 3 as the last dimension %s",
                                      ShapeText(serialized).c_str());
  }
  const int front = serialized.rank - 1;
  const int64_t count = serialized.count / 3;
  if (count == 0) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension %s",
        ShapeText(serialized).c_str());
  }
  std::vector<SparseParts> all(count);
  Tuple parsed(serialized.dtype == DType::kString ? count * 3 : 0);
  int64_t element_count = 0;
  for (int64_t i = 0; i < count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(PartsAt(call, i, dtype, &parsed, &all[i]));
    if (all[i].dims->count != all[0].dims->count) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Inconsistent shape across SparseTensors: rank prior to SparseTensor[%lld] was: %lld but rank of "
          "SparseTensor[%lld] is: %lld",
          static_cast<long long>(i), static_cast<long long>(all[0].dims->count), static_cast<long long>(i),
          static_cast<long long>(all[i].dims->count));
    }
    element_count += all[i].values->count;
  }
  const int64_t inner = all[0].dims->count;
  const int64_t rank = front + inner;
  Shape places;
  places.Add(element_count);
  places.Add(rank);
  Shape elements;
  elements.Add(element_count);
  Shape sizes;
  sizes.Add(rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, places));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, dtype, elements));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt64, sizes));
  auto* place = MutableData<int64_t>(*call.out[0]);
  auto* size = MutableData<int64_t>(*call.out[2]);
  std::copy_n(serialized.dims, front, size);
  std::fill_n(size + front, inner, 0);
  std::vector<int64_t> index(front, 0);
  int64_t done = 0;
  for (const SparseParts& parts : all) {
    for (int64_t d = 0; d < inner; ++d) size[front + d] = std::max(size[front + d], IntAt(*parts.dims, d));
    for (int64_t i = 0; i < parts.values->count; ++i) {
      place = std::copy_n(index.data(), front, place);
      place = std::copy_n(Data<int64_t>(*parts.indices) + i * inner, inner, place);
    }
    CopyElements(*parts.values, 0, parts.values->count, call.out[1], done);
    done += parts.values->count;
    for (int d = front - 1; d >= 0 && ++index[d] == serialized.dims[d]; --d) index[d] = 0;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(sparse, serialize){
    {"serialize_sparse", "sparse_indices, sparse_values, sparse_shape | out_type", Guarded<Serialize>},
    {"serialize_many_sparse", "sparse_indices, sparse_values, sparse_shape | out_type", Guarded<SerializeMany>},
    {"deserialize_sparse", "serialized_sparse | dtype", Guarded<Deserialize>},
    {"sparse_tensor_slice_dataset", "indices, values, dense_shape", Guarded<SliceDataset>},
    {}};

}  // namespace stillflow
