// condition.h: waiting, within a run, until what a resource guards has changed.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>

#include "runtime/executor/event.h"
#include "runtime/executor/run_context.h"

namespace stillflow {

class Condition {
 public:
  // Waits until `is_met()`, which is asked under `lock`, as everything else is that the condition speaks of. False,
  // and not met, if the run is to end before.
  template <typename IsMet>
  bool Wait(RunContext* run, std::unique_lock<std::mutex>* lock, const IsMet& is_met) {
    while (!is_met()) {
      Event event;
      waiting_.push_back(&event);
      lock->unlock();
      const bool has_changed = WaitFor(run, &event);
      lock->lock();
      const auto place = std::find(waiting_.begin(), waiting_.end(), &event);
      if (place != waiting_.end()) waiting_.erase(place);
      if (!has_changed) return is_met();
    }
    return true;
  }

  // Has all who wait look again, the first first. Called under the lock.
  void Change() {
    for (Event* event : waiting_) event->Set(Event::State::kDone);
    waiting_.clear();
  }

 private:
  std::deque<Event*> waiting_;
};

}  // namespace stillflow
