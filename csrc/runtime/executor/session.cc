#include "runtime/executor/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/executor/buffer.h"

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

Session::~Session() { Close(); }

// ---- Containers ---------------------------------------------------------------------------------------------------

Container::~Container() {
  for (auto& entry : variables_) {
    if (entry.second->value.buffer != nullptr) Release(entry.second->value.buffer);
  }
}

Variable* Container::GetVariable(const std::string& place, const std::string& name, DType dtype, int rank,
                                 const int64_t* dims) {
  std::lock_guard<std::mutex> guard(mutex_);
  const std::string key = place + name;
  auto found = variables_.find(key);
  if (found == variables_.end()) {
    found = variables_.emplace(key, std::make_unique<Variable>()).first;
    Variable* variable = found->second.get();
    variable->value.buffer = nullptr;
    variable->dtype = dtype;
    variable->rank = rank;
    std::copy_n(dims, std::max(rank, 0), variable->dims);
    variable->name = found->first.c_str() + place.size();
  }
  return found->second->dtype == dtype ? found->second.get() : nullptr;
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
    MutexLock guard(variable->mutex);
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
      MutexLock guard(variables_[i]->mutex);
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
