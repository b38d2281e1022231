// tensor_list_parts: lists from tensors, whose parts along the first dimension become elements, and back.
//
//   tensor_list_from_tensor   in[0] tensor, in[1] element_shape; out[0] list
//   tensor_list_split         in[0] tensor, in[1] element_shape, in[2] rows of each, int64 [n]; out[0] list
//   tensor_list_scatter       in[0] tensor, in[1] indices, int32 [n], in[2] element_shape, in[3] optional: how many
//                             elements, -1 for as many as the largest index needs; out[0] list
//   tensor_list_scatter_into  in[0] list, in[1] tensor, in[2] indices; attr type; out[0] list
//   tensor_list_stack         in[0] list, in[1] element_shape; attrs type, num_elements; out[0] tensor
//   tensor_list_gather        in[0] list, in[1] indices, in[2] element_shape; attr type; out[0] tensor
//   tensor_list_concat        in[0] list; attrs type, element_shape; out[0] all rows, out[1] rows of each, int64
//   tensor_list_concat_v2     in[0] list, in[1] element_shape, in[2] rows of what was never set; attr type; the same
#include <algorithm>
#include <memory>

#include "collections/tuple.h"
#include "kernels/guarded.h"
#include "state_kernels/control_flow/tensor_list.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

long long Long(int64_t value) { return value; }

// ---- From tensors -------------------------------------------------------------------------------------------------

// Element `index` becomes rows [begin, begin + count) of a tensor: of the rows' shape, or of one row's.
Status SetRows(const KernelCall& call, TensorList* list, int64_t index, const Tensor& from, int64_t begin,
               int64_t count, bool is_row) {
  Shape shape;
  if (!is_row) shape.Add(count);
  for (int i = 1; i < from.rank; ++i) shape.Add(from.dims[i]);
  Tensor value;
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, from.dtype, shape, &value));
  list->Put(index, value);
  const int64_t row = from.dims[0] == 0 ? 0 : from.count / from.dims[0];
  CopyElements(from, begin * row, count * row, &list->elements[index], 0);
  return Status();
}

Status CheckRows(const Tensor& tensor) {
  if (tensor.rank >= 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Tensor must be at least a vector, but saw shape: %s", ShapeText(tensor).c_str());
}

// Reads the shape of elements, which rows of the tensor have to have.
Status ShapeOfRows(const Tensor& tensor, const Tensor& given, PartialShape* shape) {
  STILLFLOW_RETURN_IF_ERROR(ReadPartialShape(given, shape));
  STILLFLOW_RETURN_IF_ERROR(CheckRows(tensor));
  Shape row;
  for (int i = 1; i < tensor.rank; ++i) row.Add(tensor.dims[i]);
  PartialShape merged = *shape;
  if (Merge(Partial(row), &merged)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Specified a list with shape %s from a tensor with shape %s",
                                    TextOf(*shape).c_str(), ShapeText(row).c_str());
}

Status FromTensor(const KernelCall& call) {
  const Tensor& tensor = *call.in[0];
  PartialShape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeOfRows(tensor, *call.in[1], &shape));
  auto list = std::make_unique<TensorList>(tensor.dtype, shape, -1);
  list->Resize(tensor.dims[0]);
  for (int64_t i = 0; i < tensor.dims[0]; ++i) {
    STILLFLOW_RETURN_IF_ERROR(SetRows(call, list.get(), i, tensor, i, 1, true));
  }
  return OutputList(call, 0, list.release());
}

// Checks that a tensor has an index for each row.
Status CheckIndices(const Tensor& tensor, const Tensor& indices) {
  STILLFLOW_RETURN_IF_ERROR(CheckRows(tensor));
  if (indices.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected indices to be a vector, but received shape: %s",
                                      ShapeText(indices).c_str());
  }
  if (indices.count == tensor.dims[0]) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Expected len(indices) == tensor.shape[0], but saw: %lld vs. %lld",
                                    Long(indices.count), Long(tensor.dims[0]));
}

Status LargestIndex(const Tensor& indices, int64_t* largest) {
  *largest = -1;
  for (int64_t i = 0; i < indices.count; ++i) {
    const int64_t index = IntAt(indices, i);
    if (index < 0) return STILLFLOW_INVALID_ARGUMENT("Indices in TensorListScatter must all be non-negative.");
    *largest = std::max(*largest, index);
  }
  return Status();
}

Status Scatter(const KernelCall& call) {
  const Tensor& tensor = *call.in[0];
  const Tensor& indices = *call.in[1];
  PartialShape shape;
  STILLFLOW_RETURN_IF_ERROR(CheckIndices(tensor, indices));
  STILLFLOW_RETURN_IF_ERROR(ShapeOfRows(tensor, *call.in[2], &shape));
  int64_t largest = 0;
  int64_t count = -1;
  STILLFLOW_RETURN_IF_ERROR(LargestIndex(indices, &largest));
  if (call.in_count > 3) {
    count = call.in[3]->count == 1 ? IntAt(*call.in[3], 0) : -2;
    if (count < -1) {
      return STILLFLOW_INVALID_ARGUMENT("TensorListScatter expects num_elements >= -1, found: %lld", Long(count));
    }
  }
  if (count == -1) count = largest + 1;
  if (largest >= count) {
    return STILLFLOW_INVALID_ARGUMENT("TensorListScatter: Trying to scatter at index %lld in list with size %lld",
                                      Long(largest), Long(count));
  }
  auto list = std::make_unique<TensorList>(tensor.dtype, shape, -1);
  list->Resize(count);
  for (int64_t i = 0; i < indices.count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(SetRows(call, list.get(), IntAt(indices, i), tensor, i, 1, true));
  }
  return OutputList(call, 0, list.release());
}

Status ScatterInto(const KernelCall& call) {
  const Tensor& tensor = *call.in[1];
  const Tensor& indices = *call.in[2];
  const TensorList* given = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &given));
  if (given->element_type != tensor.dtype) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid data types; input tensor type: %s list element_type: %s",
                                      Name(tensor.dtype), Name(given->element_type));
  }
  STILLFLOW_RETURN_IF_ERROR(CheckIndices(tensor, indices));
  int64_t largest = 0;
  STILLFLOW_RETURN_IF_ERROR(LargestIndex(indices, &largest));
  TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(StartFrom(call, 0, 0, &list));
  if (largest >= list->size()) list->Resize(largest + 1);
  for (int64_t i = 0; i < indices.count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(SetRows(call, list, IntAt(indices, i), tensor, i, 1, true));
  }
  return Status();
}

Status Split(const KernelCall& call) {
  const Tensor& tensor = *call.in[0];
  const Tensor& lengths = *call.in[2];
  PartialShape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadPartialShape(*call.in[1], &shape));
  if (shape.rank == 0) {
    return STILLFLOW_INVALID_ARGUMENT("TensorListSplit requires element_shape to be at least of rank 1, but saw: []");
  }
  STILLFLOW_RETURN_IF_ERROR(CheckRows(tensor));
  PartialShape whole = Partial(Shape(tensor));
  if (shape.rank > 0) whole.dims[0] = shape.dims[0];
  PartialShape merged = shape;
  if (!Merge(whole, &merged)) {
    return STILLFLOW_INVALID_ARGUMENT("tensor shape %s is not compatible with element_shape %s",
                                      ShapeText(tensor).c_str(), TextOf(shape).c_str());
  }
  if (lengths.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected lengths to be a vector, received shape: %s",
                                      ShapeText(lengths).c_str());
  }
  auto list = std::make_unique<TensorList>(tensor.dtype, shape, -1);
  list->Resize(lengths.count);
  int64_t begin = 0;
  for (int64_t i = 0; i < lengths.count; ++i) {
    const int64_t length = IntAt(lengths, i);
    if (length < 0) return STILLFLOW_INVALID_ARGUMENT("Invalid value in lengths: %lld", Long(length));
    if (length > tensor.dims[0] - begin) {
      return STILLFLOW_INVALID_ARGUMENT("Attempting to slice [%lld, %lld] from tensor with length %lld", Long(begin),
                                        Long(static_cast<int64_t>(static_cast<uint64_t>(begin) + length)),
                                        Long(tensor.dims[0]));
    }
    STILLFLOW_RETURN_IF_ERROR(SetRows(call, list.get(), i, tensor, begin, length, false));
    begin += length;
  }
  if (begin != tensor.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("Unused values in tensor. Length of tensor: %lld Values used: %lld",
                                      Long(tensor.dims[0]), Long(begin));
  }
  return OutputList(call, 0, list.release());
}

// ---- Back to tensors ----------------------------------------------------------------------------------------------

enum PartsAttr { kType, kMore };

// Merges what is known of the shape of elements, their own shapes included, of which `begin` dimensions do not count.
Status ShapeOfElements(const TensorList& list, const std::vector<int64_t>& indices, int begin, PartialShape* shape) {
  for (const int64_t index : indices) {
    if (!list.is_set(index)) continue;
    const Tensor& element = list.elements[index];
    if (element.rank < begin) {
      return STILLFLOW_INVALID_ARGUMENT("Concat saw a scalar shape at index %lld but requires at least vectors.",
                                        Long(index));
    }
    Shape own;
    for (int i = begin; i < element.rank; ++i) own.Add(element.dims[i]);
    if (!Merge(Partial(own), shape)) {
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes during merge: %s vs. %s", TextOf(*shape).c_str(),
                                        ShapeText(own).c_str());
    }
  }
  return Status();
}

Status ReadShape(const TensorList& list, const Tensor& given, PartialShape* shape) {
  STILLFLOW_RETURN_IF_ERROR(ReadPartialShape(given, shape));
  const std::string text = TextOf(*shape);
  if (Merge(list.element_shape, shape)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes during merge: %s vs. %s", text.c_str(),
                                    TextOf(list.element_shape).c_str());
}

// Output 0 is the elements side by side; `verb` is for messages.
Status OutputStack(const KernelCall& call, const TensorList& list, const std::vector<int64_t>& indices,
                   const Tensor& given, const char* verb) {
  PartialShape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadShape(list, given, &shape));
  if (indices.empty() && !IsComplete(shape)) {
    return std::strcmp(verb, "stack") == 0
               ? STILLFLOW_INVALID_ARGUMENT(
                     "Tried to stack elements of an empty list with non-fully-defined element_shape: %s",
                     TextOf(shape).c_str())
               : STILLFLOW_INVALID_ARGUMENT("Tried to gather 0-elements from a list with non-fully-defined shape: %s",
                                            TextOf(shape).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ShapeOfElements(list, indices, 0, &shape));
  if (!IsComplete(shape)) {
    return std::strcmp(verb, "stack") == 0
               ? STILLFLOW_INVALID_ARGUMENT(
                     "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
                     "element_shape: %s",
                     TextOf(shape).c_str())
               : STILLFLOW_INVALID_ARGUMENT(
                     "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: %s",
                     TextOf(shape).c_str());
  }
  if (shape.rank >= kMaxRank) return STILLFLOW_INVALID_ARGUMENT("Elements of rank %d cannot be stacked", shape.rank);
  Shape stacked;
  stacked.Add(static_cast<int64_t>(indices.size()));
  for (int i = 0; i < shape.rank; ++i) stacked.Add(shape.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(MakeZeros(*call.services, list.element_type, stacked, call.out[0]));
  int64_t at = 0;
  const int64_t size = indices.empty() ? 0 : call.out[0]->count / stacked.dims[0];
  for (const int64_t index : indices) {
    if (list.is_set(index)) CopyElements(list.elements[index], 0, size, call.out[0], at);
    at += size;
  }
  return Status();
}

Status ListOfType(const KernelCall& call, const TensorList** list) {
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], list));
  return CheckElementType(**list, static_cast<DType>(call.attrs[kType].i));
}

std::vector<int64_t> AllOf(const TensorList& list) {
  std::vector<int64_t> indices(list.size());
  for (int64_t i = 0; i < list.size(); ++i) indices[i] = i;
  return indices;
}

Status Stack(const KernelCall& call) {
  const TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListOfType(call, &list));
  const int64_t wanted = call.attrs[kMore].i;
  if (wanted != -1 && wanted != list->size()) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Operation expected a list with %lld elements but got a list with %lld elements.", Long(wanted),
        Long(list->size()));
  }
  return OutputStack(call, *list, AllOf(*list), *call.in[1], "stack");
}

Status Gather(const KernelCall& call) {
  const TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListOfType(call, &list));
  const Tensor& given = *call.in[1];
  std::vector<int64_t> indices(given.count);
  for (int64_t i = 0; i < given.count; ++i) {
    indices[i] = IntAt(given, i);
    if (indices[i] < 0 || indices[i] >= list->size()) {
      return STILLFLOW_INVALID_ARGUMENT("Index %lld out o range; list only has %lld elements.", Long(indices[i]),
                                        Long(list->size()));
    }
  }
  return OutputStack(call, *list, indices, *call.in[2], "gather");
}

// How many rows element `index` has: `all` tells those of elements that were never set, or -1, `leading` of each.
Status RowsOf(const TensorList& list, int64_t index, int64_t all, const Tensor* leading, int64_t* rows) {
  if (list.is_set(index)) {
    *rows = list.elements[index].dims[0];
  } else if (leading != nullptr && index < leading->count) {
    *rows = IntAt(*leading, index);
    if (*rows < 0) return STILLFLOW_INVALID_ARGUMENT("Invalid value in leading_dims: %lld", Long(*rows));
  } else if (all != -1) {
    *rows = all;
  } else if (leading == nullptr) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat. Consider "
        "updating your GraphDef to run the newer version.");
  } else {
    return STILLFLOW_INVALID_ARGUMENT(
        "List contains uninitialized tensor at index %lld but leading_dims has only %lld elements.", Long(index),
        Long(leading->count));
  }
  return Status();
}

// The rows that all elements have that are set, if it is one number; else -1.
Status CommonRows(const TensorList& list, int64_t first, int64_t* common) {
  *common = first;
  bool is_open = first == -1;
  for (int64_t i = 0; i < list.size(); ++i) {
    if (!list.is_set(i)) continue;
    const int64_t rows = list.elements[i].dims[0];
    if (first != -1 && rows != first) {
      return STILLFLOW_INVALID_ARGUMENT(
          "First entry of element_shape input does not match the first dim of list element at index: %lld Expected: "
          "%lld Actual: %lld",
          Long(i), Long(first), Long(rows));
    }
    if (!is_open) continue;
    is_open = *common == -1 || *common == rows;
    *common = is_open ? rows : -1;
  }
  return Status();
}

// `rest` is what is known of the shape of a row, `first` how many rows each element has, or -1.
Status OutputConcat(const KernelCall& call, const TensorList& list, PartialShape rest, int64_t first,
                    const Tensor* leading) {
  if (list.size() == 0 && !IsComplete(rest)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: %s",
        TextOf(rest).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ShapeOfElements(list, AllOf(list), 1, &rest));
  STILLFLOW_RETURN_IF_ERROR(CommonRows(list, first, &first));
  if (!IsComplete(rest)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim_ is not fully "
        "defined: %s",
        TextOf(rest).c_str());
  }
  Shape per_element;
  per_element.Add(list.size());
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt64, per_element));
  auto* lengths = MutableData<int64_t>(*call.out[1]);
  int64_t total = 0;
  for (int64_t i = 0; i < list.size(); ++i) {
    STILLFLOW_RETURN_IF_ERROR(RowsOf(list, i, first, leading, &lengths[i]));
    if (__builtin_add_overflow(total, lengths[i], &total)) return OutOfScratch();
  }
  Shape shape;
  shape.Add(total);
  for (int i = 0; i < rest.rank; ++i) shape.Add(rest.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(MakeZeros(*call.services, list.element_type, shape, call.out[0]));
  const int64_t row = total == 0 ? 0 : call.out[0]->count / total;
  int64_t at = 0;
  for (int64_t i = 0; i < list.size(); ++i) {
    if (list.is_set(i)) CopyElements(list.elements[i], 0, lengths[i] * row, call.out[0], at);
    at += lengths[i] * row;
  }
  return Status();
}

Status Concat(const KernelCall& call) {
  const TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListOfType(call, &list));
  // As TensorFlow has it, this version's attribute is the shape of a row.
  return OutputConcat(call, *list, PartialShapeOf(call.attrs[kMore]), -1, nullptr);
}

Status ConcatV2(const KernelCall& call) {
  const TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListOfType(call, &list));
  PartialShape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadShape(*list, *call.in[1], &shape));
  if (shape.rank == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Concat requires elements to be at least vectors, found scalars instead.");
  }
  PartialShape rest;
  rest.rank = shape.rank < 0 ? -1 : shape.rank - 1;
  if (shape.rank > 0) std::copy_n(shape.dims + 1, rest.rank, rest.dims);
  return OutputConcat(call, *list, rest, shape.rank < 0 ? -1 : shape.dims[0], call.in[2]);
}

}  // namespace

STILLFLOW_KERNELS(control_flow, tensor_list_parts){
    {"tensor_list_from_tensor", "tensor, element_shape", Guarded<FromTensor>},
    {"tensor_list_split", "tensor, element_shape, lengths", Guarded<Split>},
    {"tensor_list_scatter", "tensor, indices, element_shape, num_elements...", Guarded<Scatter>},
    {"tensor_list_scatter_into", "input_handle, tensor, indices | element_dtype", Guarded<ScatterInto>},
    {"tensor_list_stack", "input_handle, element_shape | element_dtype, num_elements", Guarded<Stack>},
    {"tensor_list_gather", "input_handle, indices, element_shape | element_dtype", Guarded<Gather>},
    {"tensor_list_concat", "input_handle | element_dtype, element_shape", Guarded<Concat>},
    {"tensor_list_concat_v2", "input_handle, element_shape, leading_dims | element_dtype", Guarded<ConcatV2>},
    {}};

}  // namespace stillflow
