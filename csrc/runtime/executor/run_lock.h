// run_lock.h: a lock for work that may wait: who waits for the lock can be cancelled like who waits for the work.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>

#include "runtime/executor/event.h"
#include "runtime/executor/run_context.h"

namespace stillflow {

// Handed on in the order in which it was asked for.
class RunLock {
 public:
  // False if the run is to end first; then the lock is not held.
  bool Acquire(RunContext* run) {
    Event turn;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (!is_held_) {
        is_held_ = true;
        return true;
      }
      waiting_.push_back(&turn);
    }
    if (WaitFor(run, &turn)) return true;
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto place = std::find(waiting_.begin(), waiting_.end(), &turn);
    if (place == waiting_.end()) return true;  // its turn came all the same
    waiting_.erase(place);
    return false;
  }

  void Release() {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (waiting_.empty()) {
      is_held_ = false;
      return;
    }
    Event* next = waiting_.front();
    waiting_.pop_front();
    next->Set(Event::State::kDone);
  }

 private:
  std::mutex mutex_;
  bool is_held_ = false;
  std::deque<Event*> waiting_;
};

// Holds the lock for its lifetime, if `is_held()`.
class RunLockScope {
 public:
  RunLockScope(RunContext* run, RunLock* lock) : lock_(lock), is_held_(lock->Acquire(run)) {}
  ~RunLockScope() {
    if (is_held_) lock_->Release();
  }
  RunLockScope(const RunLockScope&) = delete;
  RunLockScope& operator=(const RunLockScope&) = delete;
  bool is_held() const { return is_held_; }

 private:
  RunLock* lock_;
  bool is_held_;
};

}  // namespace stillflow
