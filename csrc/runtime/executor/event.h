// event.h: a condition that a step blocks on until another thread signals it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace stillflow {

// Set once, by whoever has done what is waited for, or by the session when it closes. Nothing is locked while an
// event's own mutex is held, so it may be set under any lock.
class Event {
 public:
  enum class State { kUnset, kDone, kStopped };

  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // The first call counts.
  void Set(State state) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (state_ != State::kUnset) return;
    state_ = state;
    changed_.notify_one();  // under the lock: the waiter may destroy the event as soon as it can look at it
  }

  // Waits until the event is set, or at most so long if `nanos` is not negative.
  State Wait(int64_t nanos) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_set = [this] { return state_ != State::kUnset; };
    if (nanos < 0) {
      changed_.wait(lock, is_set);
    } else {
      changed_.wait_for(lock, std::chrono::nanoseconds(nanos), is_set);
    }
    return state_;
  }

 private:
  friend class Session;  // keeps the events that its runs wait for in a list

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kUnset;
  Event* next_ = nullptr;
  Event* previous_ = nullptr;
};

}  // namespace stillflow
