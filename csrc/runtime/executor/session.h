// session.h: what outlives a run: variables, the state of stateful ops, resources, and the number of threads.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernel_api/abi.h"
#include "runtime/executor/event.h"
#include "runtime/executor/resource.h"
#include "runtime/executor/state_table.h"

namespace stillflow {

// Variables and resources with shared names: of one session, or of all that are connected to a server. Pointers stay
// valid as long as the container.
class Container {
 public:
  Container() = default;
  ~Container();
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  // Finds or makes it; null if it is there with another type. Names are those of a place, which is a task's.
  Variable* GetVariable(const std::string& place, const std::string& name, DType dtype, int rank,
                        const int64_t* dims);
  ResourceTable* resources() { return &resources_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Variable>> variables_;
  ResourceTable resources_;
};

// Everything is found by the name of its node, so that all programs of a session share it. Pointers stay
// valid as long as the session.
class Session {
 public:
  // Without a container the session has one of its own.
  explicit Session(int threads, std::shared_ptr<Container> container = nullptr)
      : threads_(threads),
        container_(container != nullptr ? std::move(container) : std::make_shared<Container>()),
        resources_(container_->resources()) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int threads() const { return threads_; }

  Variable* GetVariable(const std::string& place, const std::string& name, DType dtype, int rank,
                        const int64_t* dims) {
    return container_->GetVariable(place, name, dtype, rank, dims);
  }

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
  const std::shared_ptr<Container> container_;
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
