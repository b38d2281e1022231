// session.h: what outlives a run: variables, the state of stateful ops, resources, and the number of threads.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/event.h"
#include "executor/resource.h"
#include "kernel_api/abi.h"

namespace stillflow {

// A state made by a kernel's `new_state`, freed with the session.
class OpState {
 public:
  OpState(const KernelDef& kernel, void* state) : kernel_(kernel), state_(state) {}
  ~OpState() { kernel_.free_state(state_); }
  OpState(const OpState&) = delete;
  OpState& operator=(const OpState&) = delete;

  const KernelDef& kernel() const { return kernel_; }
  void* get() const { return state_; }
  // False for states that kernels do not save.
  bool Save(std::string* bytes) const {
    if (kernel_.save_state == nullptr) return false;
    bytes->resize(kernel_.save_state(state_, nullptr));
    kernel_.save_state(state_, bytes->data());
    return true;
  }
  bool Restore(const std::string& bytes) {
    return kernel_.restore_state != nullptr &&
           kernel_.restore_state(state_, bytes.data(), static_cast<int64_t>(bytes.size()));
  }

 private:
  const KernelDef& kernel_;
  void* state_;
};

// Everything is found by the name of its node, so that all programs of a session share it. Pointers stay
// valid as long as the session.
class Session {
 public:
  explicit Session(int threads) : threads_(threads) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int threads() const { return threads_; }

  Variable* GetVariable(const std::string& name, DType dtype, int rank, const int64_t* dims);

  // Starts at the counter that `seed2` says; (0, 0) takes both seeds from the operating system.
  RandomState* GetRandomState(const std::string& name, int64_t seed, int64_t seed2);

  // Null with a failed `status` when the kernel cannot make its state from `attrs`.
  void* GetOpState(const std::string& name, const KernelDef& kernel, const Attr* attrs, Status* status);

  ResourceTable* resources() { return &resources_; }

  // Moves a random op to another position, also one that this session does not know yet.
  void SetRandomState(const std::string& name, uint64_t key, uint64_t counter_low, uint64_t counter_high);

  // Calls visit(name, state) for every random op that has run or is about to, in order of names.
  template <typename Visitor>
  void VisitRandomStates(Visitor visit) {
    std::lock_guard<std::mutex> guard(mutex_);
    for (auto& entry : random_states_) visit(entry.first, entry.second.get());
  }

  // The bytes of the states that kernels can save, by name.
  std::map<std::string, std::string> SaveOpStates();

  // Restores a state now, or when it is made. False if a state that is there is of another kind or size.
  bool RestoreOpState(const std::string& name, std::string bytes);

  // Strings by key, which the next checkpoint at `prefix` gets as further tensors.
  void SetNote(const std::string& prefix, const std::string& key, std::string value);
  void ClearNotes(const std::string& prefix);
  // Those for a file that is about to be written: the checkpoint itself, or the first of its shards.
  std::map<std::string, std::string> TakeNotes(const std::string& file);

  // A run holds the session open. BeginRun returns false once Close was called.
  bool BeginRun();
  void EndRun();
  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }

  // Cancels the runs under way and waits for them; not from inside a run's host call, which would be one of them.
  void Close();

  // For its lifetime the session stops the event when it closes.
  class WaitScope {
   public:
    WaitScope(Session* session, Event* event);
    ~WaitScope();
    WaitScope(const WaitScope&) = delete;
    WaitScope& operator=(const WaitScope&) = delete;

   private:
    Session* session_;
    Event* event_;
  };

  // For its lifetime this thread is in a host call of a run of the session.
  class HostScope {
   public:
    explicit HostScope(const Session* session);
    ~HostScope();
    HostScope(const HostScope&) = delete;
    HostScope& operator=(const HostScope&) = delete;
  };

 private:
  const int threads_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Variable>> variables_;
  std::map<std::string, std::unique_ptr<RandomState>> random_states_;
  std::map<std::string, std::unique_ptr<OpState>> op_states_;
  std::map<std::string, std::string> awaited_states_;  // saved ones, of ops that are not there yet
  std::map<std::string, std::map<std::string, std::string>> notes_;

  ResourceTable resources_;

  std::mutex waits_mutex_;
  Event* first_wait_ = nullptr;

  std::atomic<bool> is_closed_{false};
  std::mutex runs_mutex_;
  std::condition_variable runs_ended_;
  int runs_ = 0;
};

// The values of some variables at one instant. It shares their buffers, so that an update of one makes a copy.
class Snapshot {
 public:
  explicit Snapshot(std::vector<Variable*> variables);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Gives the variables those values again; those that had none have none.
  void Restore() const;

 private:
  const std::vector<Variable*> variables_;
  std::vector<Tensor> values_;
};

}  // namespace stillflow
