// make_mutex, mutex_lock, consume_mutex_lock: mutual exclusion of parts of graphs.
//
//   make_mutex          attrs: see handle.h; out[0] a handle
//   mutex_lock          in[0] a handle; out[0] a variant: the lock, for which it waits
//   consume_mutex_lock  in[0] a lock, which is given back
//
// A lock is given back when nothing holds it any more, too: a run that fails keeps none.
#include <memory>

#include "collections/condition.h"
#include "datasets/variant.h"
#include "kernels/guarded.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

class GraphMutex final : public Resource {
 public:
  static constexpr char kKind[] = "mutex";
  const char* kind() const override { return kKind; }

  bool Lock(RunContext* run) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!free_.Wait(run, &lock, [this] { return !is_locked_; })) return false;
    is_locked_ = true;
    return true;
  }
  void Unlock() {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_locked_ = false;
    free_.Change();
  }

 private:
  std::mutex mutex_;
  bool is_locked_ = false;
  Condition free_;
};

struct LockVariant final : VariantValue {
  explicit LockVariant(std::shared_ptr<GraphMutex> locked) : mutex(std::move(locked)) {}
  ~LockVariant() override { GiveBack(); }
  void GiveBack() const {
    if (!is_given_back.exchange(true)) mutex->Unlock();
  }
  const std::shared_ptr<GraphMutex> mutex;
  mutable std::atomic<bool> is_given_back{false};
};

Status MakeMutex(const KernelCall& call) {
  return OutputHandle<GraphMutex>(
      call,
      [](const ResourceTable::Name&, std::shared_ptr<Resource>* mutex) {
        *mutex = std::make_shared<GraphMutex>();
        return Status();
      },
      [](const GraphMutex&) { return Status(); });
}

Status LockMutex(const KernelCall& call) {
  std::shared_ptr<GraphMutex> mutex;
  STILLFLOW_RETURN_IF_ERROR(FindResource<GraphMutex>(call, 0, &mutex));
  if (!mutex->Lock(call.run)) return Stopped(*call.run);
  return MakeVariant(*call.services, new LockVariant(mutex), call.out[0]);
}

Status ConsumeLock(const KernelCall& call) {
  const auto* lock = call.in[0]->count == 1 ? VariantAt<LockVariant>(*call.in[0], 0) : nullptr;
  if (lock == nullptr) {
    return STILLFLOW_INVALID_ARGUMENT("Expected input to be a MutexLockTracker, but it is not.");
  }
  lock->GiveBack();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(state, mutex){{"make_mutex", "| " STILLFLOW_HANDLE_ATTRS, Guarded<MakeMutex>, nullptr, nullptr,
                                 HandleState::New, HandleState::Free},
                                {"mutex_lock", "mutex", Guarded<LockMutex>},
                                {"consume_mutex_lock", "mutex_lock", Guarded<ConsumeLock>},
                                {}};

}  // namespace stillflow
