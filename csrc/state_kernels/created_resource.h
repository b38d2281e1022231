// created_resource.h: resources whose handle exists before an op creates them, as the trees of forests do.
#pragma once

#include "kernels/guarded.h"
#include "state_kernels/handle.h"

namespace stillflow {

// What a handle names before and after it is created. T has kKind and TensorFlow's kTypeName.
class CreatedResource : public Resource {
 public:
  std::mutex mutex;
  bool is_created = false;
};

template <typename T>
Status CreatedHandle(const KernelCall& call) {
  return OutputHandle<T>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<T>();
        return Status();
      },
      [](const T&) { return Status(); });
}

template <typename T>
Status FindCreated(const KernelCall& call, int in, std::shared_ptr<T>* found) {
  STILLFLOW_RETURN_IF_ERROR(FindResource<T>(call, in, found));
  if ((*found)->is_created) return Status();
  return Error(Code::kNotFound, "Resource of type %s does not exist: it is not initialized.", T::kTypeName);
}

template <typename T>
Status IsCreated(const KernelCall& call) {
  std::shared_ptr<T> resource;
  STILLFLOW_RETURN_IF_ERROR(FindResource<T>(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape()));
  *MutableData<bool>(*call.out[0]) = resource->is_created;
  return Status();
}

// The entry of a kernel that makes the handle.
#define STILLFLOW_CREATED_HANDLE(name, type) \
  {name,                                     \
   "| " STILLFLOW_HANDLE_ATTRS,              \
   Guarded<CreatedHandle<type>>,             \
   nullptr,                                  \
   nullptr,                                  \
   HandleState::New,                         \
   HandleState::Free}

}  // namespace stillflow
