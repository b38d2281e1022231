#include "runtime/executor/state_table.h"

#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace stillflow {

RandomState* StateTable::GetRandom(const std::string& name, int64_t seed, int64_t seed2) {
  std::lock_guard<std::mutex> guard(mutex_);
  auto found = random_states_.find(name);
  if (found == random_states_.end()) {
    if (seed == 0 && seed2 == 0) {
      std::random_device entropy;
      seed = static_cast<int64_t>(uint64_t{entropy()} << 32 | entropy());
      seed2 = static_cast<int64_t>(uint64_t{entropy()} << 32 | entropy());
    }
    found = random_states_.emplace(name, std::make_unique<RandomState>()).first;
    found->second->key = static_cast<uint64_t>(seed);
    found->second->counter_low = 0;
    found->second->counter_high = static_cast<uint64_t>(seed2);
  }
  return found->second.get();
}

void StateTable::SetRandom(const std::string& name, uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  std::lock_guard<std::mutex> guard(mutex_);
  std::unique_ptr<RandomState>& state = random_states_[name];
  if (state == nullptr) state = std::make_unique<RandomState>();
  MutexLock state_guard(state->mutex);
  state->key = key;
  state->counter_low = counter_low;
  state->counter_high = counter_high;
}

void* StateTable::GetOp(const std::string& name, const KernelDef& kernel, const Attr* attrs, Status* status) {
  std::lock_guard<std::mutex> guard(mutex_);
  auto found = op_states_.find(name);
  if (found == op_states_.end()) {
    void* state = nullptr;
    *status = kernel.new_state(attrs, &state);
    if (!status->ok()) return nullptr;
    found = op_states_.emplace(name, std::make_unique<OpState>(kernel, state)).first;
    const auto awaited = awaited_states_.find(name);
    if (awaited != awaited_states_.end()) {
      const bool is_restored = found->second->Restore(awaited->second);
      awaited_states_.erase(awaited);
      if (!is_restored) {
        op_states_.erase(found);
        *status = Status(Code::kFailedPrecondition, strdup("The saved state is not one of this op"));
        return nullptr;
      }
    }
  }
  return found->second->get();
}

void StateTable::Forget(const std::string& name) {
  std::unique_ptr<OpState> last;  // let go of outside the lock: its end may take long
  const std::lock_guard<std::mutex> guard(mutex_);
  awaited_states_.erase(name);
  const auto found = op_states_.find(name);
  if (found == op_states_.end()) return;
  last = std::move(found->second);
  op_states_.erase(found);
}

std::map<std::string, std::string> StateTable::SaveOps() {
  const std::lock_guard<std::mutex> saving(saving_mutex_);
  std::map<std::string, std::string> saved;
  std::vector<std::pair<std::string, OpState*>> states;  // they last as long as the table
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    saved = awaited_states_;
    for (const auto& entry : op_states_) states.emplace_back(entry.first, entry.second.get());
  }
  // Without the lock: to save one may mean to wait for a run.
  for (const auto& entry : states) {
    std::string bytes;
    if (entry.second->Save(&bytes)) saved[entry.first] = std::move(bytes);
  }
  return saved;
}

bool StateTable::RestoreOp(const std::string& name, std::string bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = op_states_.find(name);
  if (found != op_states_.end()) {
    OpState* const state = found->second.get();
    lock.unlock();
    return state->Restore(bytes);
  }
  awaited_states_[name] = std::move(bytes);
  return true;
}

}  // namespace stillflow
