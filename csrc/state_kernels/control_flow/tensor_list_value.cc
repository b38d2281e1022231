// The value of TensorList ops: how lists are made, copied and added.
#include <algorithm>
#include <memory>

#include "kernels/guarded.h"
#include "state_kernels/control_flow/tensor_list.h"

namespace stillflow {
namespace {

template <typename T>
void AddInto(const Tensor& a, const Tensor& b, Tensor* sum) {
  const T* left = Data<T>(a);
  const T* right = Data<T>(b);
  T* to = MutableData<T>(*sum);
  // Unsigned sums of integers wrap where signed ones would be undefined.
  for (int64_t i = 0; i < sum->count; ++i) to[i] = static_cast<T>(left[i] + right[i]);
}

const TensorList& ListOf(const Variant& variant) { return static_cast<const TensorList&>(variant); }

Status AddLists(const Services& services, const Variant& left, const Variant& right, Variant** made) {
  const TensorList& a = ListOf(left);
  const TensorList& b = ListOf(right);
  if (a.element_type != b.element_type) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Trying to add two lists of tensors of different dtypes. One is %s and the other is %s", Name(a.element_type),
        Name(b.element_type));
  }
  if (a.size() != b.size()) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Trying to add two lists of tensors with different lengths. One is %lld and the other is %lld",
        static_cast<long long>(a.size()), static_cast<long long>(b.size()));
  }
  PartialShape shape = a.element_shape;
  if (!Merge(b.element_shape, &shape)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Trying to add two lists of tensors with incompatible element shapes. One is %s and the other is %s",
        TextOf(a.element_shape).c_str(), TextOf(b.element_shape).c_str());
  }
  auto sum = std::make_unique<TensorList>(a.element_type, shape, a.max_elements);
  sum->Resize(a.size());
  for (int64_t i = 0; i < a.size(); ++i) {
    if (a.is_set(i) && b.is_set(i)) {
      // What fails leaves nothing behind: the element belongs to the list at once.
      Tensor* const element = &sum->elements[i];
      STILLFLOW_RETURN_IF_ERROR(AddTensors(services, a.elements[i], b.elements[i], element));
    } else if (a.is_set(i) || b.is_set(i)) {
      const Tensor& only = a.is_set(i) ? a.elements[i] : b.elements[i];
      Retain(only.buffer);
      sum->Put(i, only);
    }
  }
  *made = sum.release();
  return Status();
}

Status ZerosLikeList(const Services& services, const Variant& value, Variant** made) {
  const TensorList& list = ListOf(value);
  auto zeros = std::make_unique<TensorList>(list.element_type, list.element_shape, list.max_elements);
  zeros->Resize(list.size());
  for (int64_t i = 0; i < list.size(); ++i) {
    if (!list.is_set(i)) continue;
    STILLFLOW_RETURN_IF_ERROR(MakeZerosLike(services, list.elements[i], &zeros->elements[i]));
  }
  *made = zeros.release();
  return Status();
}

}  // namespace

Status AddTensors(const Services& services, const Tensor& a, const Tensor& b, Tensor* sum) {
  if (!(Shape(a) == Shape(b))) {
    return STILLFLOW_INVALID_ARGUMENT("Elements of lists that are added have shapes %s and %s", ShapeText(a).c_str(),
                                      ShapeText(b).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, a.dtype, Shape(a), sum));
  switch (a.dtype) {
    case DType::kFloat:
      AddInto<float>(a, b, sum);
      return Status();
    case DType::kDouble:
      AddInto<double>(a, b, sum);
      return Status();
    case DType::kInt32:
      AddInto<uint32_t>(a, b, sum);
      return Status();
    case DType::kInt64:
      AddInto<uint64_t>(a, b, sum);
      return Status();
    case DType::kComplex64:
    case DType::kComplex128: {
      Tensor parts[] = {a, b, *sum};
      for (Tensor& part : parts) part.count *= 2;
      if (a.dtype == DType::kComplex64) AddInto<float>(parts[0], parts[1], &parts[2]);
      if (a.dtype == DType::kComplex128) AddInto<double>(parts[0], parts[1], &parts[2]);
      return Status();
    }
    case DType::kVariant: {
      for (int64_t i = 0; i < a.count; ++i) {
        const Variant* const left = Data<Variant*>(a)[i];
        const Variant* const right = Data<Variant*>(b)[i];
        if (left == nullptr || right == nullptr || left->add == nullptr || left->add != right->add) {
          return UnsupportedType("AddN of lists", a.dtype);
        }
        STILLFLOW_RETURN_IF_ERROR(left->add(services, *left, *right, &MutableData<Variant*>(*sum)[i]));
      }
      return Status();
    }
    default:
      return UnsupportedType("AddN of lists", a.dtype);
  }
}

Status MakeZerosLike(const Services& services, const Tensor& tensor, Tensor* zeros) {
  STILLFLOW_RETURN_IF_ERROR(MakeZeros(services, tensor.dtype, Shape(tensor), zeros));
  for (int64_t k = 0; tensor.dtype == DType::kVariant && k < tensor.count; ++k) {
    const Variant* const inner = Data<Variant*>(tensor)[k];
    if (inner == nullptr || inner->zeros_like == nullptr) continue;
    STILLFLOW_RETURN_IF_ERROR(inner->zeros_like(services, *inner, &MutableData<Variant*>(*zeros)[k]));
  }
  return Status();
}

// ---- The list -----------------------------------------------------------------------------------------------------

TensorList::TensorList(DType type, const PartialShape& shape, int64_t most)
    : element_type(type), element_shape(shape), max_elements(most) {
  add = [](const Services& services, const Variant& a, const Variant& b, Variant** sum) {
    return CatchingOutOfMemory([&] { return AddLists(services, a, b, sum); });
  };
  zeros_like = [](const Services& services, const Variant& value, Variant** zeros) {
    return CatchingOutOfMemory([&] { return ZerosLikeList(services, value, zeros); });
  };
}

TensorList* TensorList::Copy() const {
  auto copy = std::make_unique<TensorList>(element_type, element_shape, max_elements);
  copy->elements = elements;
  for (const Tensor& element : copy->elements) {
    if (element.buffer != nullptr) Retain(element.buffer);
  }
  return copy.release();
}

void TensorList::Resize(int64_t size) {
  for (int64_t i = size; i < this->size(); ++i) {
    if (is_set(i)) Release(elements[i].buffer);
  }
  Tensor unset = {};
  elements.resize(size, unset);
}

void TensorList::Put(int64_t index, const Tensor& value) {
  if (is_set(index)) Release(elements[index].buffer);
  elements[index] = value;
}

// ---- Shapes -------------------------------------------------------------------------------------------------------

bool Merge(const PartialShape& other, PartialShape* shape) {
  if (other.rank < 0) return true;
  if (shape->rank < 0) {
    *shape = other;
    return true;
  }
  if (shape->rank != other.rank) return false;
  for (int i = 0; i < other.rank; ++i) {
    if (other.dims[i] < 0) continue;
    if (shape->dims[i] >= 0 && shape->dims[i] != other.dims[i]) return false;
    shape->dims[i] = other.dims[i];
  }
  return true;
}

PartialShape Partial(const Shape& shape) {
  PartialShape partial;
  partial.rank = shape.rank;
  std::copy_n(shape.dims, shape.rank, partial.dims);
  return partial;
}

bool IsComplete(const PartialShape& shape) {
  return shape.rank >= 0 && std::all_of(shape.dims, shape.dims + shape.rank, [](int64_t size) { return size >= 0; });
}

Status ReadPartialShape(const Tensor& tensor, PartialShape* shape) {
  if (tensor.dtype != DType::kInt32 && tensor.dtype != DType::kInt64) {
    return STILLFLOW_INVALID_ARGUMENT("Expected an int32 or int64 shape tensor; found %s", Name(tensor.dtype));
  }
  if (tensor.rank == 0) {
    shape->rank = -1;
    if (IntAt(tensor, 0) == -1) return Status();
    return STILLFLOW_INVALID_ARGUMENT(
        "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (tensor.rank != 1 || tensor.count > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("A shape is a vector of at most %d sizes, got shape %s", kMaxRank,
                                      ShapeText(tensor).c_str());
  }
  shape->rank = static_cast<int32_t>(tensor.count);
  for (int i = 0; i < shape->rank; ++i) {
    shape->dims[i] = IntAt(tensor, i);
    if (shape->dims[i] < -1) {
      return STILLFLOW_INVALID_ARGUMENT("Dimension %lld must be >= -1", static_cast<long long>(shape->dims[i]));
    }
  }
  return Status();
}

// ---- Lists of a call ----------------------------------------------------------------------------------------------

Status ListIn(const Tensor& tensor, const TensorList** list) {
  if (tensor.dtype != DType::kVariant || tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input list must be a scalar saw: %s", ShapeText(tensor).c_str());
  }
  *list = VariantAt<TensorList>(tensor, 0);
  return *list != nullptr ? Status() : STILLFLOW_INVALID_ARGUMENT("Input handle is not a list.");
}

Status CheckElementType(const TensorList& list, DType type) {
  if (list.element_type == type) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Invalid data types; op elements %s but list elements %s", Name(type),
                                    Name(list.element_type));
}

Status MakeZeros(const Services& services, DType type, const Shape& shape, Tensor* zeros) {
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, type, shape, zeros));
  if (!HasCells(type) && zeros->count > 0) std::memset(zeros->data, 0, zeros->count * ElementBytes(type));
  return Status();
}

Status StartFrom(const KernelCall& call, int in, int out, TensorList** list) {
  const TensorList* given = nullptr;
  STILLFLOW_RETURN_IF_ERROR(ListIn(*call.in[in], &given));
  if (IsOwned(call, in) && given->references.load(std::memory_order_acquire) == 1) {
    Alias(call, in, out, Shape());
    *list = const_cast<TensorList*>(given);
    return Status();
  }
  *list = given->Copy();
  return OutputList(call, out, *list);
}

Status OutputList(const KernelCall& call, int out, TensorList* list) {
  return MakeVariant(*call.services, list, call.out[out]);
}

}  // namespace stillflow
