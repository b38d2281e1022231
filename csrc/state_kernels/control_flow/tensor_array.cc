// tensor_array: lists of tensors. A handle is a resource scalar, or two strings, and keeps its array alive; arrays do
// not outlive the run. A flow is a float scalar that stands for what was written.
//
//   tensor_array          in[0] size, int32 [] | type, element_shape, dynamic_size, clear_after_read,
//                         identical_element_shapes, name; out[0] handle, out[1] flow
//   tensor_array_by_name  the same without a flow; the handle is two strings
//   tensor_array_grad     in[0] handle, in[1] flow | source; out[0] handle of the gradients, out[1] the flow,
//   likewise tensor_array_write    in[0] handle, in[1] index, int32 [], in[2] value, in[3] flow; out[0] the flow
//   tensor_array_read     in[0] handle, in[1] index, int32 [] | type; out[0] the element
//   tensor_array_gather   in[0] handle, in[1] indices, int32 [n] | type, element_shape; out[0] elements, [n, ...]
//   tensor_array_scatter  in[0] handle, in[1] indices, int32 [n], in[2] values, [n, ...], in[3] flow; out[0] the flow
//   tensor_array_pack     in[0] handle | type, element_shape; out[0] all elements, [size, ...]
//   tensor_array_unpack   in[0] handle, in[1] values, [size, ...], in[2] flow; out[0] the flow
//   tensor_array_concat   in[0] handle | type, element_shape_except0; out[0] all rows, out[1] lengths, int64 [size]
//   tensor_array_split    in[0] handle, in[1] value, in[2] lengths, int64 [n], in[3] flow; out[0] the flow
//   tensor_array_size     in[0] handle; out[0] int32 []
//   tensor_array_close    in[0] handle
#include "collections/tensor_array.h"

#include <atomic>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

constexpr char kContainer[] = "_tensor_arrays";

Status Find(const KernelCall& call, TensorArray** array) {
  *array = HandledIn<TensorArray>(*call.in[0]);
  if (*array == nullptr) return NoHandle(*call.in[0], "TensorArray");
  return (*array)->CheckOpen();
}

Status IndexOf(const Tensor& index, int64_t* value) {
  if (index.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("TensorArray index must be scalar, but had shape: %s",
                                      ShapeText(index).c_str());
  }
  *value = Data<int32_t>(index)[0];
  return Status();
}

void HandOnFlow(const KernelCall& call, int in, int out) {
  *call.out[out] = *call.in[in];
  if (call.in[in]->buffer != nullptr) Retain(call.in[in]->buffer);
}

std::string StringOf(const Attr& attr) { return std::string(static_cast<const char*>(attr.data), attr.size); }

Status MakeArray(const KernelCall& call, const std::string& name, TensorArray** made) {
  const Tensor& size = *call.in[0];
  if (size.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("TensorArray size must be scalar, but had shape: %s", ShapeText(size).c_str());
  }
  const int64_t count = Data<int32_t>(size)[0];
  if (count < 0) return STILLFLOW_INVALID_ARGUMENT("Size should be >= 0.");
  auto* array = new TensorArray(static_cast<DType>(call.attrs[0].i), count, PartialShape(call.attrs[1]), name);
  array->is_dynamic = call.attrs[2].i != 0;
  array->clears_after_read = call.attrs[3].i != 0;
  array->has_one_shape = call.attrs[4].i != 0;
  MakeHandle(array, call.out[0]);
  *made = array;
  return Status();
}

Status New(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(MakeArray(call, StringOf(call.attrs[5]), &array));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, Shape()));
  MutableData<float>(*call.out[1])[0] = 0.0f;
  return Status();
}

// What is in the handle of an array, and in messages about it.
std::string UniqueName(const std::string& name) {
  static std::atomic<int64_t> next_number{0};
  return name + "_" + std::to_string(next_number.fetch_add(1));
}

Status NewByName(const KernelCall& call) {
  TensorArray* array = nullptr;
  const Attr& own = call.attrs[5];
  const std::string name = UniqueName(StringOf(own.size > 0 ? own : call.attrs[6]));
  STILLFLOW_RETURN_IF_ERROR(MakeArray(call, name, &array));
  return MakeNamedHandle(*call.services, array, kContainer, name, call.out[0]);
}

Status Grad(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  const std::string source = StringOf(call.attrs[0]);
  TensorArray* gradient = nullptr;
  Shape before;
  if (call.in_count > 2) {
    const Tensor& dims = *call.in[2];
    if (dims.rank != 1 || dims.dims[0] > kMaxRank) {
      return STILLFLOW_INVALID_ARGUMENT("shape_to_prepend must be a vector of few dimensions, but had shape: %s",
                                        ShapeText(dims).c_str());
    }
    for (int64_t i = 0; i < dims.dims[0]; ++i) before.Add(Data<int32_t>(dims)[i]);
  }
  STILLFLOW_RETURN_IF_ERROR(array->Gradient(source, before, &gradient));
  if (call.in[0]->dtype == DType::kString) {
    Retain(&gradient->buffer);
    return MakeNamedHandle(*call.services, gradient, kContainer, UniqueName(source), call.out[0]);
  }
  Tensor* handle = call.out[0];
  *handle = *call.in[0];
  handle->data = static_cast<Handled*>(gradient);
  handle->buffer = &gradient->buffer;
  Retain(handle->buffer);
  HandOnFlow(call, 1, 1);
  return Status();
}

Status Write(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  int64_t index = 0;
  STILLFLOW_RETURN_IF_ERROR(IndexOf(*call.in[1], &index));
  STILLFLOW_RETURN_IF_ERROR(array->Write(*call.services, index, *call.in[2]));
  HandOnFlow(call, 3, 0);
  return Status();
}

Status Read(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  STILLFLOW_RETURN_IF_ERROR(array->CheckType(static_cast<DType>(call.attrs[0].i)));
  int64_t index = 0;
  STILLFLOW_RETURN_IF_ERROR(IndexOf(*call.in[1], &index));
  return array->Read(*call.services, index, call.out[0]);
}

// Elements that have been read and are to be put together; released in the end.
class Elements {
 public:
  ~Elements() {
    for (Tensor& value : values_) {
      if (value.buffer != nullptr) Release(value.buffer);
    }
  }
  Status Add(const Services& services, TensorArray* array, int64_t index) {
    Tensor value;
    value.buffer = nullptr;
    Status status = array->Read(services, index, &value);
    if (status.ok()) values_.push_back(value);
    return status;
  }
  const std::vector<Tensor>& values() const { return values_; }

  // Copies them one after the other; strings are shared.
  void CopyTo(Tensor* to) const {
    char* next = MutableData<char>(*to);
    for (const Tensor& value : values_) {
      const int64_t bytes = value.count * ElementBytes(value.dtype);
      if (bytes > 0) std::memcpy(next, value.data, bytes);
      next += bytes;
    }
    RetainStrings(*to);
  }

 private:
  std::vector<Tensor> values_;
};

// Puts elements side by side: the one at(i) for each i below `count`.
template <typename At>
Status PutTogether(const KernelCall& call, TensorArray* array, int64_t count, const At& at) {
  const auto type = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(array->CheckType(type));
  Shape shape;
  shape.Add(count);
  if (count == 0) {
    PartialShape element(call.attrs[1]);
    if (!element.IsComplete()) element = array->element_shape();
    if (!element.IsComplete()) {
      return Error(
          Code::kUnimplemented,
          "TensorArray has size zero, but element shape %s is not fully defined. Currently only static shapes "
          "are supported when packing zero-size TensorArrays.",
          element.rank < 0 ? "<unknown>" : ShapeText(element.rank, element.dims).c_str());
    }
    for (int i = 0; i < element.rank && shape.rank < kMaxRank; ++i) shape.Add(element.dims[i]);
    return AllocateOutput(call, 0, type, shape);
  }
  Elements elements;
  for (int64_t i = 0; i < count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(elements.Add(*call.services, array, at(i)));
    const Tensor& first = elements.values().front();
    const Tensor& value = elements.values().back();
    if (!(Shape(first) == Shape(value))) {
      return STILLFLOW_INVALID_ARGUMENT(
          "TensorArray has inconsistent shapes.  Index 0 has shape: %s but index %lld has shape: %s",
          ShapeText(first).c_str(), static_cast<long long>(i), ShapeText(value).c_str());
    }
  }
  const Tensor& first = elements.values().front();
  if (first.rank >= kMaxRank) return STILLFLOW_INVALID_ARGUMENT("Elements of rank %d cannot be stacked", first.rank);
  for (int i = 0; i < first.rank; ++i) shape.Add(first.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  elements.CopyTo(call.out[0]);
  return Status();
}

Status Gather(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  const Tensor& indices = *call.in[1];
  if (indices.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected indices to be a vector, but received shape: %s",
                                      ShapeText(indices).c_str());
  }
  return PutTogether(call, array, indices.count, [&](int64_t i) { return Data<int32_t>(indices)[i]; });
}

Status Pack(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  return PutTogether(call, array, array->size(), [](int64_t i) { return i; });
}

// Writes `count` rows of a tensor, from `begin`, as one element: of the rows' shape, or of one row's.
Status WriteRows(const KernelCall& call, TensorArray* array, int64_t index, const Tensor& from, int64_t begin,
                 int64_t count, bool is_row) {
  Shape shape;
  if (!is_row) shape.Add(count);
  for (int i = 1; i < from.rank; ++i) shape.Add(from.dims[i]);
  Tensor value;
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, from.dtype, shape, &value));
  const int64_t row_bytes = from.dims[0] == 0 ? 0 : from.count / from.dims[0] * ElementBytes(from.dtype);
  if (count * row_bytes > 0) std::memcpy(value.data, Data<char>(from) + begin * row_bytes, count * row_bytes);
  RetainStrings(value);
  Status status = array->Write(*call.services, index, value);
  Release(value.buffer);
  return status;
}

Status CheckRows(const Tensor& values) {
  if (values.rank >= 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input value for unpack must be at least a vector but received shape: %s",
                                    ShapeText(values).c_str());
}

Status Scatter(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  const Tensor& indices = *call.in[1];
  const Tensor& values = *call.in[2];
  STILLFLOW_RETURN_IF_ERROR(CheckRows(values));
  if (indices.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected indices to be a vector, but received shape: %s",
                                      ShapeText(indices).c_str());
  }
  if (indices.count != values.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("Expected len(indices) == values.shape[0], but saw: %lld vs. %lld",
                                      static_cast<long long>(indices.count), static_cast<long long>(values.dims[0]));
  }
  int64_t largest = -1;
  for (int64_t i = 0; i < indices.count; ++i) {
    if (Data<int32_t>(indices)[i] > largest) largest = Data<int32_t>(indices)[i];
  }
  bool is_large_enough = false;
  STILLFLOW_RETURN_IF_ERROR(array->Grow(largest + 1, &is_large_enough));
  if (!is_large_enough) {
    return STILLFLOW_INVALID_ARGUMENT("Max scatter index must be < array size (%lld vs. %lld)",
                                      static_cast<long long>(largest), static_cast<long long>(array->size()));
  }
  array->MarkSize();
  for (int64_t i = 0; i < indices.count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(WriteRows(call, array, Data<int32_t>(indices)[i], values, i, 1, true));
  }
  HandOnFlow(call, 3, 0);
  return Status();
}

Status Unpack(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  const Tensor& values = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckRows(values));
  const int64_t count = values.dims[0];
  bool is_large_enough = false;
  STILLFLOW_RETURN_IF_ERROR(array->Grow(count, &is_large_enough));
  if (count != array->size()) {
    return STILLFLOW_INVALID_ARGUMENT("Input value must have first dimension equal to the array size (%lld vs. %lld)",
                                      static_cast<long long>(count), static_cast<long long>(array->size()));
  }
  array->MarkSize();
  for (int64_t i = 0; i < count; ++i) STILLFLOW_RETURN_IF_ERROR(WriteRows(call, array, i, values, i, 1, true));
  HandOnFlow(call, 2, 0);
  return Status();
}

Status Concat(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  const auto type = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(array->CheckType(type));
  const int64_t size = array->SizeToConcat();
  Shape lengths_shape;
  lengths_shape.Add(size);
  Shape shape;
  shape.Add(0);
  if (size == 0) {
    const PartialShape element(call.attrs[1]);
    if (!element.IsComplete()) {
      return Error(Code::kUnimplemented,
                   "TensorArray has size zero, but element_shape_except0 %s is not fully defined. Currently only "
                   "static shapes are supported when concatenating zero-size TensorArrays.",
                   element.rank < 0 ? "<unknown>" : ShapeText(element.rank, element.dims).c_str());
    }
    for (int i = 0; i < element.rank && shape.rank < kMaxRank; ++i) shape.Add(element.dims[i]);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
    return AllocateOutput(call, 1, DType::kInt64, lengths_shape);
  }
  Elements elements;
  int64_t rows = 0;
  for (int64_t i = 0; i < size; ++i) {
    STILLFLOW_RETURN_IF_ERROR(elements.Add(*call.services, array, i));
    const Tensor& first = elements.values().front();
    const Tensor& value = elements.values().back();
    if (value.rank < 1) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Concat saw a scalar shape at index %lld but requires at least vectors.  Did you mean to call pack?",
          static_cast<long long>(i));
    }
    bool fits = value.rank == first.rank;
    for (int k = 1; fits && k < value.rank; ++k) fits = value.dims[k] == first.dims[k];
    if (!fits) {
      return STILLFLOW_INVALID_ARGUMENT(
          "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: %s but index %lld has "
          "shape: %s",
          ShapeText(first).c_str(), static_cast<long long>(i), ShapeText(value).c_str());
    }
    rows += value.dims[0];
  }
  const Tensor& first = elements.values().front();
  shape.dims[0] = rows;
  for (int i = 1; i < first.rank; ++i) shape.Add(first.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt64, lengths_shape));
  for (int64_t i = 0; i < size; ++i) {
    MutableData<int64_t>(*call.out[1])[i] = elements.values()[i].dims[0];
  }
  elements.CopyTo(call.out[0]);
  return Status();
}

Status Split(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  const Tensor& value = *call.in[1];
  const Tensor& lengths = *call.in[2];
  if (lengths.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected lengths to be a vector, received shape: %s",
                                      ShapeText(lengths).c_str());
  }
  if (value.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected value to be at least a vector, but received shape: %s",
                                      ShapeText(value).c_str());
  }
  int64_t total = 0;
  for (int64_t i = 0; i < lengths.count; ++i) {
    const int64_t length = Data<int64_t>(lengths)[i];
    if (length < 0 || __builtin_add_overflow(total, length, &total)) {
      return STILLFLOW_INVALID_ARGUMENT("Invalid value in lengths: %lld", static_cast<long long>(length));
    }
  }
  if (total != value.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %lld and value's shape is: "
        "%s",
        static_cast<long long>(total), ShapeText(value).c_str());
  }
  bool is_large_enough = false;
  STILLFLOW_RETURN_IF_ERROR(array->Grow(lengths.count, &is_large_enough));
  if (!is_large_enough || array->size() != lengths.count) {
    return STILLFLOW_INVALID_ARGUMENT(
        "TensorArray's size is not equal to the size of lengths (%lld vs. %lld), and the TensorArray is not marked "
        "as "
        "dynamically resizeable",
        static_cast<long long>(array->size()), static_cast<long long>(lengths.count));
  }
  array->MarkSize();
  int64_t begin = 0;
  for (int64_t i = 0; i < lengths.count; ++i) {
    const int64_t length = Data<int64_t>(lengths)[i];
    STILLFLOW_RETURN_IF_ERROR(WriteRows(call, array, i, value, begin, length, false));
    begin += length;
  }
  HandOnFlow(call, 3, 0);
  return Status();
}

Status Size(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  MutableData<int32_t>(*call.out[0])[0] = static_cast<int32_t>(array->size());
  return Status();
}

Status Close(const KernelCall& call) {
  TensorArray* array = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &array));
  array->Close();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(control_flow, tensor_array){
    {"tensor_array",
     "size | dtype, element_shape, dynamic_size, clear_after_read, "
     "identical_element_shapes, tensor_array_name",
     New},
    {"tensor_array_by_name",
     "size | dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, tensor_array_name, "
     "node_name",
     Guarded<NewByName>},
    {"tensor_array_grad", "handle, flow_in | source", Grad},
    {"tensor_array_grad_with_shape", "handle, flow_in, shape_to_prepend | source", Grad},
    {"tensor_array_write", "handle, index, value, flow_in", Write},
    {"tensor_array_read", "handle, index | dtype", Read},
    {"tensor_array_gather", "handle, indices | dtype, element_shape", Gather},
    {"tensor_array_scatter", "handle, indices, value, flow_in", Scatter},
    {"tensor_array_pack", "handle | dtype, element_shape", Pack},
    {"tensor_array_unpack", "handle, value, flow_in", Unpack},
    {"tensor_array_concat", "handle | dtype, element_shape_except0", Concat},
    {"tensor_array_split", "handle, value, lengths, flow_in", Split},
    {"tensor_array_size", "handle", Size},
    {"tensor_array_close", "handle", Close},
    {}};

}  // namespace stillflow
