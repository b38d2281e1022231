// state_table.h: what stateful ops keep from run to run, found by the names of their nodes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kernel_api/abi.h"

namespace stillflow {

// A state made by a kernel's `new_state`, freed with the table.
class OpState {
 public:
  OpState(const KernelDef& kernel, void* state) : kernel_(kernel), state_(state) {}
  ~OpState() { kernel_.free_state(state_); }
  OpState(const OpState&) = delete;
  OpState& operator=(const OpState&) = delete;

  const KernelDef& kernel() const { return kernel_; }
  void* get() const { return state_; }
  // False for states that kernels do not save, or cannot save now.
  bool Save(std::string* bytes) const {
    if (kernel_.save_state == nullptr) return false;
    const int64_t size = kernel_.save_state(state_, nullptr);
    if (size < 0) return false;
    bytes->resize(size);
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

// Pointers to states stay valid as long as the table, unless they are forgotten.
class StateTable {
 public:
  // Starts at the counter that `seed2` says; (0, 0) takes both seeds from the operating system.
  RandomState* GetRandom(const std::string& name, int64_t seed, int64_t seed2);

  // Null with a failed `status` when the kernel cannot make its state from `attrs`.
  void* GetOp(const std::string& name, const KernelDef& kernel, const Attr* attrs, Status* status);

  // Frees the state of an op that will not run again; pointers to it are no longer valid.
  void Forget(const std::string& name);

  // Moves a random op to another position, also one that is not known yet.
  void SetRandom(const std::string& name, uint64_t key, uint64_t counter_low, uint64_t counter_high);

  // Calls visit(name, state) for every random op that has run or is about to, in order of names.
  template <typename Visitor>
  void VisitRandom(Visitor visit) {
    std::lock_guard<std::mutex> guard(mutex_);
    for (auto& entry : random_states_) visit(entry.first, entry.second.get());
  }

  // The bytes of the states that kernels can save, by name.
  std::map<std::string, std::string> SaveOps();

  // Restores a state now, or when it is made. False if a state that is there is of another kind or size.
  bool RestoreOp(const std::string& name, std::string bytes);

 private:
  std::mutex saving_mutex_;  // one at a time saves the states of ops; taken before the other
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<RandomState>> random_states_;
  std::map<std::string, std::unique_ptr<OpState>> op_states_;
  std::map<std::string, std::string> awaited_states_;  // saved ones, of ops that are not there yet
};

}  // namespace stillflow
