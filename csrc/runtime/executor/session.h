// session.h: what outlives a run: variables, the state of stateful ops, resources, and the number of threads.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernel_api/abi.h"
#include "runtime/executor/event.h"
#include "runtime/executor/resource.h"
#include "runtime/executor/state_table.h"

namespace stillflow {

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

  StateTable* states() { return &states_; }
  ResourceTable* resources() { return &resources_; }

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
  StateTable states_;
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
