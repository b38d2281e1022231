// tensor_array.cc: reading, writing and adding up the tensors of a TensorArray.
#include "collections/tensor_array.h"

#include "arithmetic/math/scalar.h"

namespace stillflow {

PartialShape::PartialShape(const Attr& attr) {
  const auto* sizes = static_cast<const int64_t*>(attr.data);
  if (attr.size == 1 && sizes[0] == -2) return;
  rank = static_cast<int32_t>(attr.size);
  for (int i = 0; i < rank && i < kMaxRank; ++i) dims[i] = sizes[i];
}

bool PartialShape::IsComplete() const {
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0) return false;
  }
  return rank >= 0;
}

bool PartialShape::Accepts(const Shape& shape) const {
  if (rank < 0) return true;
  if (rank != shape.rank) return false;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] >= 0 && dims[i] != shape.dims[i]) return false;
  }
  return true;
}

void PartialShape::Take(const Shape& shape) {
  rank = shape.rank;
  for (int i = 0; i < rank; ++i) dims[i] = shape.dims[i];
}

Shape PartialShape::Completed() const {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.Add(dims[i]);
  return shape;
}

TensorArray::TensorArray(DType type, int64_t size, const PartialShape& element, const std::string& name)
    : type_(type),
      element_shape_(element),
      name_(name.empty() ? "TensorArray" : "TensorArray " + name),
      elements_(size) {
  for (Element& each : elements_) each.value.buffer = nullptr;
}

TensorArray::~TensorArray() { Close(); }

void TensorArray::Close() {
  for (Element& element : elements_) {
    if (element.value.buffer != nullptr) Release(element.value.buffer);
  }
  elements_.clear();
  for (auto& gradient : gradients_) Release(&gradient.second->buffer);
  gradients_.clear();
  is_closed_ = true;
}

Status TensorArray::CheckOpen() const {
  if (!is_closed_) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s has already been closed.", name());
}

Status TensorArray::CheckType(DType requested) const {
  if (requested == type_) return Status();
  return STILLFLOW_INVALID_ARGUMENT("TensorArray dtype is %s but Op requested dtype %s.", Name(type_),
                                    Name(requested));
}

Status TensorArray::Grow(int64_t size, bool* is_large_enough) {
  *is_large_enough = size <= this->size();
  if (*is_large_enough || !is_dynamic || has_gradient_) return Status();
  const int64_t before = this->size();
  elements_.resize(size);
  for (int64_t i = before; i < size; ++i) elements_[i].value.buffer = nullptr;
  *is_large_enough = true;
  return Status();
}

Status TensorArray::Write(const Services& services, int64_t index, const Tensor& value) {
  bool is_large_enough = index >= 0;
  if (is_large_enough) STILLFLOW_RETURN_IF_ERROR(Grow(index + 1, &is_large_enough));
  if (!is_large_enough) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Tried to write to index %lld but array is not resizeable and size is: %lld", name(),
        static_cast<long long>(index), static_cast<long long>(size()));
  }
  if (value.dtype != type_) {
    return STILLFLOW_INVALID_ARGUMENT("TensorArray dtype is %s but Op is trying to write dtype %s.", Name(type_),
                                      Name(value.dtype));
  }
  const Shape shape(value);
  if (!element_shape_.Accepts(shape)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Could not write to TensorArray index %lld because the value shape is %s which is "
        "incompatible with the TensorArray's inferred element shape: %s (consider setting infer_shape=False).",
        name(), static_cast<long long>(index), ShapeText(value).c_str(),
        ShapeText(element_shape_.rank, element_shape_.dims).c_str());
  }
  if (has_one_shape) element_shape_.Take(shape);
  Element& element = elements_[index];
  if (element.is_read) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Could not write to TensorArray index %lld because it has already been read.", name(),
        static_cast<long long>(index));
  }
  if (element.is_written && !is_gradient_) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Could not write to TensorArray index %lld because it has already been written to.", name(),
        static_cast<long long>(index));
  }
  if (element.is_written) return Add(services, index, value);
  element.value = value;
  if (value.buffer != nullptr) Retain(value.buffer);
  element.shape = shape;
  element.is_written = true;
  return Status();
}

namespace {

template <typename T>
void AddElements(const Tensor& a, const Tensor& b, Tensor* sum) {
  const T* x = Data<T>(a);
  const T* y = Data<T>(b);
  T* to = MutableData<T>(*sum);
  const int64_t count = a.count * PartCount(a.dtype);
  for (int64_t i = 0; i < count; ++i) to[i] = Narrow<T>(static_cast<Wide<T>>(Widen(x[i]) + Widen(y[i])));
}

template <>
void AddElements<int32_t>(const Tensor& a, const Tensor& b, Tensor* sum) {
  for (int64_t i = 0; i < a.count; ++i) {
    MutableData<uint32_t>(*sum)[i] = Data<uint32_t>(a)[i] + Data<uint32_t>(b)[i];
  }
}

template <>
void AddElements<int64_t>(const Tensor& a, const Tensor& b, Tensor* sum) {
  for (int64_t i = 0; i < a.count; ++i) {
    MutableData<uint64_t>(*sum)[i] = Data<uint64_t>(a)[i] + Data<uint64_t>(b)[i];
  }
}

}  // namespace

Status TensorArray::Add(const Services& services, int64_t index, const Tensor& value) {
  Element* const element = &elements_[index];
  if (!(element->shape == Shape(value))) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Could not aggregate to TensorArray index %lld because the existing shape is %s but the new input "
        "shape is %s.",
        name(), static_cast<long long>(index), ShapeText(element->shape).c_str(), ShapeText(value).c_str());
  }
  Tensor sum;
  if (element->value.buffer == nullptr) {  // zeros
    sum = value;
    if (value.buffer != nullptr) Retain(value.buffer);
  } else {
    STILLFLOW_RETURN_IF_ERROR(Allocate(services, type_, element->shape, &sum));
    Status status =
        ForType<float, double, Half, BFloat16, int32_t, int64_t>("TensorArrayWrite", PartType(type_), [&](auto tag) {
          AddElements<typename decltype(tag)::type>(element->value, value, &sum);
          return Status();
        });
    if (!status.ok()) {
      Release(sum.buffer);
      return status;
    }
    Release(element->value.buffer);
  }
  element->value = sum;
  return Status();
}

// Where a gradient was not written it is zero, if its shape is known.
Status TensorArray::MakeZeros(int64_t index) {
  Shape shape;
  if (is_gradient_ && index < size() && elements_[index].shape.rank > 0) {
    shape = elements_[index].shape;
  } else if (element_shape_.IsComplete()) {
    shape = element_shape_.Completed();
  } else {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Could not read from TensorArray index %lld.  Furthermore, the element shape is not fully "
        "defined: %s.  It is possible you are working with a resizeable TensorArray and stop_gradients is not "
        "allowing the gradients to be written.  If you set the full element_shape property on the forward "
        "TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.",
        name(), static_cast<long long>(index),
        element_shape_.rank < 0 ? "<unknown>" : ShapeText(element_shape_.rank, element_shape_.dims).c_str());
  }
  const int64_t before = size();
  if (index >= before) elements_.resize(index + 1);
  for (int64_t i = index < before ? index : before; i <= index; ++i) {
    elements_[i].value.buffer = nullptr;
    elements_[i].shape = shape;
    elements_[i].is_written = true;
  }
  return Status();
}

Status TensorArray::Read(const Services& services, int64_t index, Tensor* value) {
  if (index < 0 || (!is_gradient_ && index >= size())) {
    return STILLFLOW_INVALID_ARGUMENT("Tried to read from index %lld but array size is: %lld",
                                      static_cast<long long>(index), static_cast<long long>(size()));
  }
  if (index >= size() || !elements_[index].is_written) STILLFLOW_RETURN_IF_ERROR(MakeZeros(index));
  Element& element = elements_[index];
  if (element.is_cleared) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: Could not read index %lld twice because it was cleared after a previous read (perhaps try "
        "setting clear_after_read = false?).",
        name(), static_cast<long long>(index));
  }
  if (element.value.buffer == nullptr && type_ != DType::kResource) {
    STILLFLOW_RETURN_IF_ERROR(Allocate(services, type_, element.shape, &element.value));
    if (type_ != DType::kString && element.value.count > 0) {
      std::memset(element.value.data, 0, element.value.count * ElementBytes(type_));
    }
  }
  *value = element.value;
  if (value->buffer != nullptr && !clears_after_read) Retain(value->buffer);
  if (clears_after_read) {
    element.value.buffer = nullptr;
    element.is_cleared = true;
  }
  element.is_read = true;
  return Status();
}

// `shape` behind the dimensions `before`.
static Status Prepend(const Shape& before, Shape* shape) {
  if (before.rank + shape->rank > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("Gradients of a TensorArray would have %d dimensions",
                                      before.rank + shape->rank);
  }
  Shape longer = before;
  for (int i = 0; i < shape->rank; ++i) longer.Add(shape->dims[i]);
  *shape = longer;
  return Status();
}

Status TensorArray::Gradient(const std::string& source, const Shape& before, TensorArray** gradient) {
  TensorArray*& found = gradients_[source];
  if (found == nullptr) {
    has_gradient_ = true;  // the array must not grow any more
    PartialShape element = element_shape_;
    std::vector<Shape> shapes;
    for (const Element& own : elements_) {
      shapes.push_back(own.shape);
      // What was never written has no shape.
      if (own.is_written || own.shape.rank > 0) STILLFLOW_RETURN_IF_ERROR(Prepend(before, &shapes.back()));
    }
    if (element.rank >= 0 && before.rank > 0) {
      Shape known;
      for (int i = 0; i < element.rank; ++i) known.Add(element.dims[i]);
      STILLFLOW_RETURN_IF_ERROR(Prepend(before, &known));
      element.Take(known);
    }
    auto* made = new TensorArray(type_, size(), element, source);
    made->has_one_shape = has_one_shape;
    made->is_gradient_ = true;
    made->marked_size_ = marked_size_;
    for (int64_t i = 0; i < size(); ++i) made->elements_[i].shape = shapes[i];
    Tensor owner;
    MakeHandle(made, &owner);
    found = made;
  }
  *gradient = found;
  return Status();
}

}  // namespace stillflow
