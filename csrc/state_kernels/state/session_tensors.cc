// get_session_handle, get_session_tensor, delete_session_tensor: tensors that a session keeps from run to run.
//
//   get_session_handle     in[0] any tensor; out[0] a string scalar, "node;number;device"; attr node_name
//   get_session_tensor     in[0] such a string; out[0] the tensor; attr dtype
//   delete_session_tensor  in[0] such a string: the tensor is forgotten
#include <map>
#include <string>

#include "collections/tuple.h"
#include "kernels/guarded.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

class SessionTensors final : public Resource {
 public:
  static constexpr char kKind[] = "session tensors";
  const char* kind() const override { return kKind; }

  std::string Keep(Tuple tensor, const std::string& node) {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::string handle = node + ";" + std::to_string(next_++) + ";/job:localhost/replica:0/task:0/device:CPU:0";
    tensors_[handle] = std::move(tensor);
    return handle;
  }
  bool Find(const std::string& handle, Tuple* tensor) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = tensors_.find(handle);
    if (found == tensors_.end()) return false;
    *tensor = SharesOf(found->second);
    return true;
  }
  bool Forget(const std::string& handle) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return tensors_.erase(handle) > 0;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Tuple> tensors_;
  int64_t next_ = 0;
};

Status FindKept(const KernelCall& call, std::shared_ptr<SessionTensors>* kept) {
  std::shared_ptr<Resource> found;
  int64_t number = 0;
  STILLFLOW_RETURN_IF_ERROR(call.run->session->resources()->FindOrMake(
      SessionTensors::kKind, ResourceTable::NameOf("", SessionTensors::kKind, ""),
      [](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<SessionTensors>();
        return Status();
      },
      &found, &number));
  *kept = std::static_pointer_cast<SessionTensors>(found);
  return Status();
}

Status ReadHandle(const Tensor& tensor, std::string* handle) {
  if (tensor.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("The handle of a session's tensor must be a scalar, but has shape %s",
                                      ShapeText(tensor).c_str());
  }
  *handle = StringOf(Data<StringCell*>(tensor)[0]);
  return Status();
}

Status GetHandle(const KernelCall& call) {
  std::shared_ptr<SessionTensors> kept;
  STILLFLOW_RETURN_IF_ERROR(FindKept(call, &kept));
  const TupleSpec spec{{call.in[0]->dtype}, {}};
  Tuple tensor;
  STILLFLOW_RETURN_IF_ERROR(MakeTuple(*call.services, spec, call.in, &tensor));
  const std::string handle = kept->Keep(std::move(tensor), StringOf(call.attrs[0]));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape()));
  const bool is_set = SetString(call, call.out[0], 0, handle.data(), static_cast<int64_t>(handle.size()));
  return is_set ? Status() : OutOfScratch();
}

Status GetTensor(const KernelCall& call) {
  std::string handle;
  STILLFLOW_RETURN_IF_ERROR(ReadHandle(*call.in[0], &handle));
  std::shared_ptr<SessionTensors> kept;
  STILLFLOW_RETURN_IF_ERROR(FindKept(call, &kept));
  Tuple tensor;
  if (!kept->Find(handle, &tensor)) {
    return STILLFLOW_INVALID_ARGUMENT("The tensor with handle '%s' is not in the session store.", handle.c_str());
  }
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  if (tensor[0].dtype != dtype) {
    return STILLFLOW_INVALID_ARGUMENT("The tensor with handle '%s' is of type %s, not %s", handle.c_str(),
                                      Name(tensor[0].dtype), Name(dtype));
  }
  std::swap(*call.out[0], tensor[0]);
  return Status();
}

Status DeleteTensor(const KernelCall& call) {
  std::string handle;
  STILLFLOW_RETURN_IF_ERROR(ReadHandle(*call.in[0], &handle));
  std::shared_ptr<SessionTensors> kept;
  STILLFLOW_RETURN_IF_ERROR(FindKept(call, &kept));
  if (!kept->Forget(handle)) {
    return STILLFLOW_INVALID_ARGUMENT("Failed to delete a tensor with handle '%s' in the session store.",
                                      handle.c_str());
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(state, session_tensors){{"get_session_handle", "value | node_name", Guarded<GetHandle>},
                                          {"get_session_tensor", "handle | dtype", Guarded<GetTensor>},
                                          {"delete_session_tensor", "handle", Guarded<DeleteTensor>},
                                          {}};

}  // namespace stillflow
