#include "runtime/executor/lanes.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "runtime/executor/cpu.h"

namespace stillflow {
namespace {

constexpr std::chrono::milliseconds kPollPeriod(50);

}  // namespace

RunResult Lanes::Run() {
  Lane* const outer = run_->lane;
  run_->lane = &first_lane_;
  worker_ = &first_lane_;
  RunResult result;
  const std::vector<Unit>& units = program_->units_;
  for (size_t i = 0; i < units.size() && result.status.ok(); ++i) {
    first_lane_.unit = static_cast<int32_t>(i);
    result = RunUnit(i, true, run_);
    if (!units[i].waits) continue;
    std::unique_lock<std::mutex> lock(mutex_);
    if (!is_overtaken_) continue;
    Settle(i, std::move(result));
    lock.unlock();
    result = Finish();
    break;
  }
  run_->lane = outer;
  return result;
}

// Threads of the engine's own must not end the process, and the first one must not leave them behind.
RunResult Lanes::RunUnit(size_t unit, bool is_in_order, RunContext* run) {
  const Unit& range = program_->units_[unit];
  try {
    return program_->RunRange(frame_, run, range.first, range.end, is_in_order);
  } catch (const std::bad_alloc&) {
    return {Status(Code::kResourceExhausted, strdup("Out of memory")), range.first};
  } catch (const std::exception& error) {
    return {Status(Code::kInternal, strdup(error.what())), range.first};
  }
}

// Goes on where a step of the first lane was overtaken, and waits for the others.
RunResult Lanes::Finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (worker_ == nullptr && !IsOver() && Next(false) >= 0) {
      worker_ = &first_lane_;
      Work(&first_lane_, run_, &lock);
    }
    if (lane_count_ == 0 && IsOver()) break;
    changed_.wait_for(lock, kPollPeriod);
    lock.unlock();
    const bool should_stop = ShouldStop(run_);
    lock.lock();
    if (should_stop) Fail({Stopped(*run_), -1});
  }
  lock.unlock();
  for (std::thread& thread : threads_) thread.join();
  return std::move(failure_);
}

// What the lane does as long as it is the one that works.
void Lanes::Work(Lane* lane, RunContext* run, std::unique_lock<std::mutex>* lock) {
  while (worker_ == lane && !has_failed_) {
    const int32_t next = Next(lane->is_loose);
    if (next < 0) break;
    const auto unit = static_cast<size_t>(next);
    const bool is_in_order = unit == first_undone_;
    states_[unit] = State::kUnderWay;
    lane->unit = next;
    lock->unlock();
    RunResult result = RunUnit(unit, is_in_order, run);
    lock->lock();
    Settle(unit, std::move(result));
    if (worker_ == nullptr) worker_ = lane;  // it was overtaken, and now nobody works
  }
  if (worker_ == lane) worker_ = nullptr;
  changed_.notify_all();
}

void Lanes::Help(Lane* lane) {
  const FloatMode float_mode;
  RunContext run = fresh_;
  run.lane = lane;
  std::unique_lock<std::mutex> lock(mutex_);
  Work(lane, &run, &lock);
  --lane_count_;
  changed_.notify_all();
}

void Lanes::Settle(size_t unit, RunResult result) {
  states_[unit] = State::kDone;
  while (first_undone_ < states_.size() && states_[first_undone_] == State::kDone) ++first_undone_;
  if (!result.status.ok()) Fail(std::move(result));
}

void Lanes::Fail(RunResult result) {
  if (has_failed_) return;  // what fails next was only told to stop
  failure_ = std::move(result);
  has_failed_ = true;
  for (Event* event : events_) event->Set(Event::State::kStopped);
}

// The unit that can run, or -1.
int32_t Lanes::Next(bool is_loose) const {
  const std::vector<Unit>& units = program_->units_;
  for (size_t i = first_undone_; i < states_.size(); ++i) {
    if (states_[i] != State::kToDo || !IsDone(units[i].after)) continue;
    if (is_loose || IsDone(units[i].loosely_after)) return static_cast<int32_t>(i);
  }
  return -1;
}

bool Lanes::IsDone(const std::vector<int32_t>& units) const {
  return std::all_of(units.begin(), units.end(), [this](int32_t unit) { return states_[unit] == State::kDone; });
}

// ---- Waiting ------------------------------------------------------------------------------------------------------

void Lanes::Overtake(Lane* lane, bool is_late) {
  while (lane != nullptr && !lane->lanes->Yield(lane, is_late)) lane = lane->outer;
}

// Whether somebody of this run works now.
bool Lanes::Yield(Lane* lane, bool is_late) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const std::vector<Unit>& units = program_->units_;
  if (has_failed_) return true;
  if (!units[lane->unit].waits) return false;
  if (!is_overtaken_) {
    states_.assign(units.size(), State::kToDo);
    std::fill_n(states_.begin(), lane->unit, State::kDone);
    states_[lane->unit] = State::kUnderWay;
    first_undone_ = static_cast<size_t>(lane->unit);
  }
  if (worker_ != nullptr && worker_ != lane) return true;
  if (is_overtaken_) worker_ = nullptr;  // the first lane that need not wait any more goes on
  if (Next(is_late) < 0) return false;
  try {
    lanes_.push_back({this, lane->outer, -1, is_late});
    threads_.emplace_back(&Lanes::Help, this, &lanes_.back());
  } catch (const std::exception&) {
    return false;  // no more threads to be had: the step waits as long as it takes
  }
  ++lane_count_;
  worker_ = &lanes_.back();
  is_overtaken_ = true;
  return true;
}

bool Lanes::HasFailed(const Lane* lane) {
  for (; lane != nullptr; lane = lane->outer) {
    if (lane->lanes->has_failed_.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

Lanes::WaitScope::WaitScope(Lane* lane, Event* event) : lane_(lane), event_(event) {
  for (; lane != nullptr; lane = lane->outer) {
    const std::lock_guard<std::mutex> guard(lane->lanes->mutex_);
    lane->lanes->events_.push_back(event);
    if (lane->lanes->has_failed_) event->Set(Event::State::kStopped);
  }
}

Lanes::WaitScope::~WaitScope() {
  for (Lane* lane = lane_; lane != nullptr; lane = lane->outer) {
    const std::lock_guard<std::mutex> guard(lane->lanes->mutex_);
    std::vector<Event*>& events = lane->lanes->events_;
    events.erase(std::find(events.begin(), events.end(), event_));
  }
}

}  // namespace stillflow
