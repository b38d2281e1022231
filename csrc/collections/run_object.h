// run_object.h: tensors that are handles to objects of a run, counted: an object lives as long as its last handle.
//
// A handle is a resource or, for the first versions of ops, two strings. These say what it is to whoever fetches
// them; the object is found by the buffer, so that only the tensor itself is a handle and no other of the same text.
#pragma once

#include <new>
#include <string>
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

struct NamedHandle {
  Buffer buffer;  // first, so that it is found by its address
  Buffer* cells;
  Handled* object;

  static void Destroy(Buffer* buffer) {
    auto* handle = reinterpret_cast<NamedHandle*>(buffer);
    Release(handle->cells);
    Release(&handle->object->buffer);
    delete handle;
  }
};

// Makes `tensor` a handle of two strings of an object, whose reference it takes over.
inline Status MakeNamedHandle(const Services& services, Handled* object, const std::string& container,
                              const std::string& name, Tensor* tensor) {
  auto* handle = new (std::nothrow) NamedHandle;
  Buffer* const cells = services.allocate_strings(2);
  auto release = [&] {
    delete handle;
    if (cells != nullptr) Release(cells);
    Release(&object->buffer);
    return OutOfScratch();
  };
  if (handle == nullptr || cells == nullptr) return release();
  auto** strings = static_cast<StringCell**>(cells->data);
  strings[0] = services.new_string(container.data(), static_cast<int64_t>(container.size()));
  strings[1] = services.new_string(name.data(), static_cast<int64_t>(name.size()));
  if (strings[0] == nullptr || strings[1] == nullptr) return release();
  handle->buffer.references.store(1, std::memory_order_relaxed);
  handle->buffer.is_borrowed = false;
  handle->buffer.capacity_bytes = 0;
  handle->buffer.data = cells->data;
  handle->buffer.destroy = NamedHandle::Destroy;
  handle->cells = cells;
  handle->object = object;
  tensor->data = cells->data;
  tensor->buffer = &handle->buffer;
  tensor->count = 2;
  tensor->dtype = DType::kString;
  tensor->rank = 1;
  tensor->dims[0] = 2;
  return Status();
}

// The object behind a handle; null if it is of another type, or no handle.
template <typename T>
T* HandledIn(const Tensor& tensor) {
  if (tensor.dtype == DType::kString && tensor.buffer != nullptr && tensor.buffer->destroy == NamedHandle::Destroy) {
    return dynamic_cast<T*>(reinterpret_cast<NamedHandle*>(tensor.buffer)->object);
  }
  if (tensor.dtype != DType::kResource || tensor.buffer == nullptr) return nullptr;
  return dynamic_cast<T*>(static_cast<Handled*>(tensor.data));
}

// The failure of a kernel whose handle is of nothing, or of something else than `what`.
inline Status NoHandle(const Tensor& tensor, const char* what) {
  if (tensor.dtype != DType::kString || tensor.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("The handle is not one of a %s", what);
  }
  const auto* const* cells = Data<StringCell*>(tensor);
  const auto text = [](const StringCell* cell) { return cell == nullptr ? "" : cell->bytes; };
  return Error(Code::kNotFound, "Could not find resource: %s/%s, a %s", text(cells[0]), text(cells[1]), what);
}

}  // namespace stillflow
