#include "executor/session.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "executor/buffer.h"

namespace stillflow {
namespace {

thread_local std::vector<const Session*> host_calls;  // the sessions whose runs this thread has left for a call

}  // namespace

Session::HostScope::HostScope(const Session* session) { host_calls.push_back(session); }
Session::HostScope::~HostScope() { host_calls.pop_back(); }

Session::WaitScope::WaitScope(Session* session, Event* event) : session_(session), event_(event) {
  const std::lock_guard<std::mutex> guard(session->waits_mutex_);
  event->next_ = session->first_wait_;
  if (event->next_ != nullptr) event->next_->previous_ = event;
  session->first_wait_ = event;
  // Close marks the session before it looks at the list: whoever comes later sees the mark.
  if (session->is_closed()) event->Set(Event::State::kStopped);
}

Session::WaitScope::~WaitScope() {
  const std::lock_guard<std::mutex> guard(session_->waits_mutex_);
  if (event_->next_ != nullptr) event_->next_->previous_ = event_->previous_;
  (event_->previous_ == nullptr ? session_->first_wait_ : event_->previous_->next_) = event_->next_;
}

Session::~Session() {
  Close();
  for (auto& entry : variables_) {
    if (entry.second->value.buffer != nullptr) Release(entry.second->value.buffer);
  }
}

Variable* Session::GetVariable(const std::string& name, DType dtype, int rank, const int64_t* dims) {
  std::lock_guard<std::mutex> guard(mutex_);
  auto found = variables_.find(name);
  if (found == variables_.end()) {
    found = variables_.emplace(name, std::make_unique<Variable>()).first;
    Variable* variable = found->second.get();
    variable->value.buffer = nullptr;
    variable->dtype = dtype;
    variable->rank = rank;
    std::copy_n(dims, std::max(rank, 0), variable->dims);
    variable->name = found->first.c_str();
  }
  return found->second.get();
}

RandomState* Session::GetRandomState(const std::string& name, int64_t seed, int64_t seed2) {
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

void Session::SetRandomState(const std::string& name, uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  std::lock_guard<std::mutex> guard(mutex_);
  std::unique_ptr<RandomState>& state = random_states_[name];
  if (state == nullptr) state = std::make_unique<RandomState>();
  std::lock_guard<std::mutex> state_guard(state->mutex);
  state->key = key;
  state->counter_low = counter_low;
  state->counter_high = counter_high;
}

void* Session::GetOpState(const std::string& name, const KernelDef& kernel, const Attr* attrs, Status* status) {
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

std::map<std::string, std::string> Session::SaveOpStates() {
  std::lock_guard<std::mutex> guard(mutex_);
  std::map<std::string, std::string> saved = awaited_states_;
  for (const auto& entry : op_states_) {
    std::string bytes;
    if (entry.second->Save(&bytes)) saved[entry.first] = std::move(bytes);
  }
  return saved;
}

bool Session::RestoreOpState(const std::string& name, std::string bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  const auto found = op_states_.find(name);
  if (found != op_states_.end()) return found->second->Restore(bytes);
  awaited_states_[name] = std::move(bytes);
  return true;
}

// ---- Notes for checkpoints ----------------------------------------------------------------------------------------

void Session::SetNote(const std::string& prefix, const std::string& key, std::string value) {
  std::lock_guard<std::mutex> guard(mutex_);
  notes_[prefix][key] = std::move(value);
}

void Session::ClearNotes(const std::string& prefix) {
  std::lock_guard<std::mutex> guard(mutex_);
  notes_.erase(prefix);
}

std::map<std::string, std::string> Session::TakeNotes(const std::string& file) {
  constexpr char kShards[] = "_temp_";  // the folder of the shards of `prefix` is called so and so
  std::lock_guard<std::mutex> guard(mutex_);
  for (auto entry = notes_.begin(); entry != notes_.end(); ++entry) {
    const std::string& prefix = entry->first;
    if (file != prefix && file.compare(0, prefix.size() + sizeof kShards - 1, prefix + kShards) != 0) continue;
    std::map<std::string, std::string> taken = std::move(entry->second);
    notes_.erase(entry);
    return taken;
  }
  return {};
}

// ---- Snapshots ----------------------------------------------------------------------------------------------------

Snapshot::Snapshot(std::vector<Variable*> variables) : variables_(std::move(variables)) {
  values_.reserve(variables_.size());
  for (Variable* variable : variables_) {
    std::lock_guard<std::mutex> guard(variable->mutex);
    values_.push_back(variable->value);
    if (values_.back().buffer != nullptr) Retain(values_.back().buffer);
  }
}

Snapshot::~Snapshot() {
  for (const Tensor& value : values_) {
    if (value.buffer != nullptr) Release(value.buffer);
  }
}

void Snapshot::Restore() const {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Tensor& value = values_[i];
    Buffer* previous = nullptr;
    if (value.buffer != nullptr) Retain(value.buffer);
    {
      std::lock_guard<std::mutex> guard(variables_[i]->mutex);
      previous = variables_[i]->value.buffer;
      variables_[i]->value = value;
    }
    if (previous != nullptr) Release(previous);
  }
}

// ---- Runs ---------------------------------------------------------------------------------------------------------

bool Session::BeginRun() {
  std::lock_guard<std::mutex> guard(runs_mutex_);
  if (is_closed()) return false;
  ++runs_;
  return true;
}

void Session::EndRun() {
  std::lock_guard<std::mutex> guard(runs_mutex_);
  if (--runs_ == 0 && is_closed()) runs_ended_.notify_all();
}

void Session::Close() {
  std::unique_lock<std::mutex> lock(runs_mutex_);
  is_closed_.store(true);
  {
    const std::lock_guard<std::mutex> guard(waits_mutex_);
    for (Event* event = first_wait_; event != nullptr; event = event->next_) event->Set(Event::State::kStopped);
  }
  if (std::find(host_calls.begin(), host_calls.end(), this) != host_calls.end()) return;
  runs_ended_.wait(lock, [this] { return runs_ == 0; });
}

}  // namespace stillflow
