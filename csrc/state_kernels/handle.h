// handle.h: how a node makes the handle of a resource, and how kernels find the resource by it.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "kernel_api/kernel.h"
#include "runtime/executor/run_context.h"
#include "runtime/executor/session.h"

namespace stillflow {

// The first attributes of every kernel that makes a handle; what follows describes the resource. A handle is a
// reference to two strings, or a resource.
#define STILLFLOW_HANDLE_ATTRS "handle: ref resource, container, shared_name, node_name"
enum HandleAttr { kHandleKind, kHandleContainer, kHandleSharedName, kHandleNodeName, kHandleAttrs };

inline std::string StringOf(const Attr& attr) { return std::string(static_cast<const char*>(attr.data), attr.size); }
inline std::string StringOf(const StringCell* cell) {
  return cell == nullptr ? std::string() : std::string(cell->bytes, cell->size);
}

// The `state` of such a kernel's node: what its handle is, once it has run.
struct HandleState {
  std::mutex mutex;
  int64_t number = 0;
  ResourceTable::Name name;

  static Status New(const Attr*, void** state) {
    *state = new (std::nothrow) HandleState;
    return *state == nullptr ? OutOfScratch() : Status();
  }
  static void Free(void* state) { delete static_cast<HandleState*>(state); }
};

// Finds or makes the node's resource and puts its handle into out[0]. `make(name, &resource)` makes it;
// `check(resource)` says whether one that was there already is what the node means.
template <typename T, typename Make, typename Check>
Status OutputHandle(const KernelCall& call, const Make& make, const Check& check) {
  auto* state = static_cast<HandleState*>(call.state);
  {
    const std::lock_guard<std::mutex> guard(state->mutex);
    if (state->number == 0) {
      const Attr* attrs = call.attrs;
      const std::string shared_name = StringOf(attrs[kHandleSharedName]);
      const auto name =
          ResourceTable::NameOf(StringOf(attrs[kHandleContainer]), shared_name, StringOf(attrs[kHandleNodeName]));
      std::shared_ptr<Resource> resource;
      int64_t number = 0;
      STILLFLOW_RETURN_IF_ERROR(call.run->session->resources()->FindOrMake(T::kKind, name, make, &resource, &number));
      STILLFLOW_RETURN_IF_ERROR(check(static_cast<const T&>(*resource)));
      state->number = number;
      state->name = name;
    }
  }
  if (call.attrs[kHandleKind].i == 1) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kResource, Shape()));
    *MutableData<int64_t>(*call.out[0]) = state->number;
    return Status();
  }
  Shape pair;
  pair.Add(2);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, pair));
  const std::string& container = state->name.container;
  const std::string& name = state->name.name;
  const bool is_set = SetString(call, call.out[0], 0, container.data(), static_cast<int64_t>(container.size())) &&
                      SetString(call, call.out[0], 1, name.data(), static_cast<int64_t>(name.size()));
  return is_set ? Status() : OutOfScratch();
}

// The resource that in[in] is a handle of.
template <typename T>
Status FindResource(const KernelCall& call, int in, std::shared_ptr<T>* found) {
  const Tensor& handle = *call.in[in];
  ResourceTable* const table = call.run->session->resources();
  std::shared_ptr<Resource> resource;
  std::string name;
  if (handle.dtype == DType::kResource && handle.count == 1) {
    const int64_t number = *Data<int64_t>(handle);
    resource = table->Find(number);
    name = std::to_string(number);
  } else if (handle.dtype == DType::kString && handle.count == 2) {
    const StringCell* const* cells = Data<StringCell*>(handle);
    const ResourceTable::Name pair{StringOf(cells[0]), StringOf(cells[1])};
    resource = table->Find(T::kKind, pair);
    name = pair.container + "/" + pair.name;
  } else if (handle.dtype == DType::kRef) {
    return STILLFLOW_INVALID_ARGUMENT("Trying to access resource using the wrong type. Expected %s got variable",
                                      T::kKind);
  } else {
    return STILLFLOW_INVALID_ARGUMENT("A handle is one resource or two strings, not a %s of shape %s",
                                      Name(handle.dtype), ShapeText(handle).c_str());
  }
  if (resource == nullptr) {
    return Error(Code::kNotFound, "Resource %s of kind %s does not exist in this session", name.c_str(), T::kKind);
  }
  if (std::strcmp(resource->kind(), T::kKind) != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Trying to access resource using the wrong type. Expected %s got %s", T::kKind,
                                      resource->kind());
  }
  *found = std::static_pointer_cast<T>(std::move(resource));
  return Status();
}

}  // namespace stillflow
