// tensor_list: lists of tensors as variant scalars: making, measuring and joining them, and one element at a time.
// Shapes of elements are vectors in which -1 is unknown, or a scalar -1. Kernels have the type of elements as their
// attribute, but for the shape of elements, which has the type of that.
//
//   empty_tensor_list            in[0] element_shape, in[1] the most elements, int32 [], -1 for any; out[0] list
//   tensor_list_reserve          in[0] element_shape, in[1] how many, int32 [], none of them set; out[0] list
//   tensor_list_length           in[0] list; out[0] int32 []
//   tensor_list_element_shape    in[0] list; out[0] the shape
//   tensor_list_resize           in[0] list, in[1] int32 []; out[0] list
//   tensor_list_push_back        in[0] list, in[1] element; out[0] list
//   tensor_list_push_back_batch  in[0] lists, in[1] elements, one for each; out[0] lists
//   tensor_list_pop_back         in[0] list, in[1] element_shape; out[0] list, out[1] the last element
//   tensor_list_get_item         in[0] list, in[1] index, int32 [], in[2] element_shape; out[0] the element
//   tensor_list_set_item         in[0] list, in[1] index, int32 [], in[2] element; out[0] list
//   tensor_list_concat_lists     in[0..1] lists of one shape; out[0] each of the first followed by the second
//
// An element that was never set reads as zeros. A list that nothing else reads is changed in place.
#include "state_kernels/control_flow/tensor_list.h"

#include <memory>

#include "collections/tuple.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

DType TypeIn(const KernelCall& call) { return static_cast<DType>(call.attrs[0].i); }

Status ScalarIn(const KernelCall& call, int in, const char* what, int64_t* value) {
  const Tensor& tensor = *call.in[in];
  if (tensor.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("%s expected to be a scalar but got shape: %s", what,
                                      ShapeText(tensor).c_str());
  }
  *value = IntAt(tensor, 0);
  return Status();
}

Status Empty(const KernelCall& call) {
  PartialShape shape;
  int64_t most = 0;
  STILLFLOW_RETURN_IF_ERROR(ScalarIn(call, 1, "max_num_elements", &most));
  STILLFLOW_RETURN_IF_ERROR(ReadPartialShape(*call.in[0], &shape));
  return OutputList(call, 0, new TensorList(TypeIn(call), shape, most));
}

Status Reserve(const KernelCall& call) {
  PartialShape shape;
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadPartialShape(*call.in[0], &shape));
  STILLFLOW_RETURN_IF_ERROR(ScalarIn(call, 1, "num_elements", &count));
  if (count < 0) {
    return STILLFLOW_INVALID_ARGUMENT("The num_elements to reserve must be a non negative number, but got %lld",
                                      static_cast<long long>(count));
  }
  auto list = std::make_unique<TensorList>(TypeIn(call), shape, -1);
  list->Resize(count);
  return OutputList(call, 0, list.release());
}

Status Length(const KernelCall& call) {
  const TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &list));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[0]) = static_cast<int32_t>(list->size());
  return Status();
}

Status ElementShape(const KernelCall& call) {
  const TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &list));
  const PartialShape& element = list->element_shape;
  Shape shape;
  if (element.rank >= 0) shape.Add(element.rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, TypeIn(call), shape));
  for (int64_t i = 0; i < call.out[0]->count; ++i) {
    const int64_t size = element.rank < 0 ? -1 : element.dims[i];
    if (TypeIn(call) == DType::kInt64) {
      MutableData<int64_t>(*call.out[0])[i] = size;
    } else {
      MutableData<int32_t>(*call.out[0])[i] = static_cast<int32_t>(size);
    }
  }
  return Status();
}

Status Resize(const KernelCall& call) {
  int64_t size = 0;
  STILLFLOW_RETURN_IF_ERROR(ScalarIn(call, 1, "size", &size));
  if (size < 0) {
    return STILLFLOW_INVALID_ARGUMENT("TensorListSlice expects size to be non-negative. Got: %lld",
                                      static_cast<long long>(size));
  }
  TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(StartFrom(call, 0, 0, &list));
  list->Resize(size);
  return Status();
}

// ---- One element --------------------------------------------------------------------------------------------------

// The error of an element that a list may not have.
Status CheckPush(const TensorList& list, DType type, const PartialShape& element) {
  if (list.element_type != type) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid data types; op elements %s but list elements %s", Name(type),
                                      Name(list.element_type));
  }
  PartialShape merged = list.element_shape;
  if (!Merge(element, &merged)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Tried to append a tensor with incompatible shape to a list. Op element shape: %s list shape: %s",
        TextOf(element).c_str(), TextOf(list.element_shape).c_str());
  }
  if (list.max_elements == -1 || list.size() < list.max_elements) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Tried to push item into a full list list size: %lld max_num_elements: %lld",
                                    static_cast<long long>(list.size()), static_cast<long long>(list.max_elements));
}

Status PushBack(const KernelCall& call) {
  const Tensor& element = *call.in[1];
  const TensorList* given = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &given));
  STILLFLOW_RETURN_IF_ERROR(CheckPush(*given, TypeIn(call), Partial(Shape(element))));
  Tuple kept(1);
  STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, element, &kept[0]));
  TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(StartFrom(call, 0, 0, &list));
  list->elements.push_back(kept[0]);
  kept[0].buffer = nullptr;
  return Status();
}

Status PushBackBatch(const KernelCall& call) {
  const Tensor& lists = *call.in[0];
  const Tensor& elements = *call.in[1];
  bool fits = lists.dtype == DType::kVariant && elements.rank >= 1 && lists.rank <= elements.rank;
  for (int i = 0; fits && i < lists.rank; ++i) fits = lists.dims[i] == elements.dims[i];
  if (!fits) {
    return STILLFLOW_INVALID_ARGUMENT("Expected tensor.shape[0] == input_handles.size, but saw %s vs. %s",
                                      ShapeText(elements).c_str(), ShapeText(lists).c_str());
  }
  Shape shape;
  for (int i = lists.rank; i < elements.rank; ++i) shape.Add(elements.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kVariant, Shape(lists)));
  for (int64_t i = 0; i < lists.count; ++i) {
    const auto* given = VariantAt<TensorList>(lists, i);
    if (given == nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("input_handles[%lld] is not a list.", static_cast<long long>(i));
    }
    STILLFLOW_RETURN_IF_ERROR(CheckPush(*given, TypeIn(call), Partial(shape)));
    TensorList* const list = given->Copy();
    MutableData<Variant*>(*call.out[0])[i] = list;
    list->Resize(list->size() + 1);
    Tensor* const element = &list->elements.back();
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, elements.dtype, shape, element));
    CopyElements(elements, i * element->count, element->count, element, 0);
  }
  return Status();
}

// Puts an element into an output; zeros of the shape that `wanted`, the list and its other elements tell, if it was
// never set.
Status OutputElement(const KernelCall& call, int out, const TensorList& list, int64_t index, const Tensor& wanted) {
  if (list.is_set(index)) {
    *call.out[out] = list.elements[index];
    Retain(list.elements[index].buffer);
    return Status();
  }
  PartialShape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadPartialShape(wanted, &shape));
  bool fits = Merge(list.element_shape, &shape);
  for (int64_t i = 0; fits && i < list.size() && !IsComplete(shape); ++i) {
    if (list.is_set(i)) fits = Merge(Partial(Shape(list.elements[i])), &shape);
  }
  if (!fits) return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes during merge: %s", TextOf(shape).c_str());
  if (!IsComplete(shape)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Trying to read an uninitialized tensor but element_shape is not fully defined: %s and no list element is "
        "set.",
        TextOf(shape).c_str());
  }
  Shape complete;
  for (int i = 0; i < shape.rank; ++i) complete.Add(shape.dims[i]);
  return MakeZeros(*call.services, list.element_type, complete, call.out[out]);
}

Status PopBack(const KernelCall& call) {
  const TensorList* given = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &given));
  STILLFLOW_RETURN_IF_ERROR(CheckElementType(*given, TypeIn(call)));
  if (given->size() == 0) return STILLFLOW_INVALID_ARGUMENT("Trying to pop from an empty list.");
  STILLFLOW_RETURN_IF_ERROR(OutputElement(call, 1, *given, given->size() - 1, *call.in[1]));
  TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(StartFrom(call, 0, 0, &list));
  list->Resize(list->size() - 1);
  return Status();
}

Status CheckIndex(const TensorList& list, int64_t index, const char* verb) {
  if (index >= 0 && index < list.size()) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Trying to %s element %lld in a list with %lld elements.", verb,
                                    static_cast<long long>(index), static_cast<long long>(list.size()));
}

Status GetItem(const KernelCall& call) {
  const TensorList* list = nullptr;
  int64_t index = 0;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &list));
  STILLFLOW_RETURN_IF_ERROR(CheckElementType(*list, TypeIn(call)));
  STILLFLOW_RETURN_IF_ERROR(ScalarIn(call, 1, "index", &index));
  STILLFLOW_RETURN_IF_ERROR(CheckIndex(*list, index, "access"));
  return OutputElement(call, 0, *list, index, *call.in[2]);
}

Status SetItem(const KernelCall& call) {
  const Tensor& item = *call.in[2];
  const TensorList* given = nullptr;
  int64_t index = 0;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[0], &given));
  STILLFLOW_RETURN_IF_ERROR(CheckElementType(*given, TypeIn(call)));
  STILLFLOW_RETURN_IF_ERROR(ScalarIn(call, 1, "index", &index));
  STILLFLOW_RETURN_IF_ERROR(CheckIndex(*given, index, "modify"));
  PartialShape merged = given->element_shape;
  if (!Merge(Partial(Shape(item)), &merged)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Tried to set a tensor with incompatible shape at a list index. Item element shape: %s list shape: %s",
        ShapeText(item).c_str(), TextOf(given->element_shape).c_str());
  }
  Tuple kept(1);
  STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, item, &kept[0]));
  TensorList* list = nullptr;
  STILLFLOW_RETURN_IF_ERROR(StartFrom(call, 0, 0, &list));
  list->Put(index, kept[0]);
  kept[0].buffer = nullptr;
  return Status();
}

// ---- Lists of lists -----------------------------------------------------------------------------------------------

Status ConcatLists(const KernelCall& call) {
  const Tensor& a = *call.in[0];
  const Tensor& b = *call.in[1];
  if (!(Shape(a) == Shape(b)) || a.dtype != DType::kVariant || b.dtype != DType::kVariant) {
    return STILLFLOW_INVALID_ARGUMENT("Incompatible input TensorList tensor shapes: %s vs. %s", ShapeText(a).c_str(),
                                      ShapeText(b).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kVariant, Shape(a)));
  for (int64_t i = 0; i < a.count; ++i) {
    const TensorList* const lists[] = {VariantAt<TensorList>(a, i), VariantAt<TensorList>(b, i)};
    for (int k = 0; k < 2; ++k) {
      const char letter = k == 0 ? 'a' : 'b';
      const auto place = static_cast<long long>(i);
      if (lists[k] == nullptr) {
        return STILLFLOW_INVALID_ARGUMENT("input_%c is not a TensorList at index %lld.", letter, place);
      }
      if (lists[k]->element_type != TypeIn(call)) {
        return STILLFLOW_INVALID_ARGUMENT("input_%c[%lld].dtype != element_dtype.  Saw: %s vs. %s", letter, place,
                                          Name(lists[k]->element_type), Name(TypeIn(call)));
      }
    }
    if (!(lists[0]->element_shape == lists[1]->element_shape)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "input_a and input_b TensorList element shapes are not identical at index %lld.  Saw %s vs. %s",
          static_cast<long long>(i), TextOf(lists[0]->element_shape).c_str(),
          TextOf(lists[1]->element_shape).c_str());
    }
    TensorList* const joined = lists[0]->Copy();
    MutableData<Variant*>(*call.out[0])[i] = joined;
    const std::unique_ptr<TensorList> rest(lists[1]->Copy());
    joined->elements.insert(joined->elements.end(), rest->elements.begin(), rest->elements.end());
    for (Tensor& element : rest->elements) element.buffer = nullptr;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(control_flow, tensor_list){
    {"empty_tensor_list", "element_shape, max_num_elements | element_dtype", Guarded<Empty>},
    {"tensor_list_reserve", "element_shape, num_elements | element_dtype", Guarded<Reserve>},
    {"tensor_list_length", "input_handle", Guarded<Length>},
    {"tensor_list_element_shape", "input_handle | shape_type", Guarded<ElementShape>},
    {"tensor_list_resize", "input_handle, size", Guarded<Resize>},
    {"tensor_list_push_back", "input_handle, tensor | element_dtype", Guarded<PushBack>},
    {"tensor_list_push_back_batch", "input_handles, tensor | element_dtype", Guarded<PushBackBatch>},
    {"tensor_list_pop_back", "input_handle, element_shape | element_dtype", Guarded<PopBack>},
    {"tensor_list_get_item", "input_handle, index, element_shape | element_dtype", Guarded<GetItem>},
    {"tensor_list_set_item", "input_handle, index, item | element_dtype", Guarded<SetItem>},
    {"tensor_list_concat_lists", "input_a, input_b | element_dtype", Guarded<ConcatLists>},
    {}};

}  // namespace stillflow
