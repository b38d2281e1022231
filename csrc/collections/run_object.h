// run_object.h: tensors that are handles to objects of a run, counted: an object lives as long as its last handle.
#pragma once

#include <vector>

#include "kernel_api/kernel.h"

namespace stillflow {

// What a handle refers to.
struct Handled {
  Buffer buffer;
  virtual ~Handled() = default;
};

// Makes `tensor` the first handle of an object.
inline void MakeHandle(Handled* object, Tensor* tensor) {
  object->buffer.references.store(1, std::memory_order_relaxed);
  object->buffer.is_borrowed = false;
  object->buffer.capacity_bytes = 0;
  object->buffer.data = object;
  object->buffer.destroy = [](Buffer* buffer) { delete static_cast<Handled*>(buffer->data); };
  tensor->data = object;
  tensor->buffer = &object->buffer;
  tensor->count = 1;
  tensor->dtype = DType::kResource;
  tensor->rank = 0;
}

// The object behind a handle; null if it is of another type, or no handle.
template <typename T>
T* HandledIn(const Tensor& tensor) {
  if (tensor.dtype != DType::kResource || tensor.buffer == nullptr) return nullptr;
  return dynamic_cast<T*>(static_cast<Handled*>(tensor.data));
}

}  // namespace stillflow
