// lanes.h: a run that goes on where one of its steps waits.
//
// The steps of a program run in order, on the thread that asked for the run. A step may wait: for a queue, for a
// lock, for a function of the program that uses the engine. Where it waits for long, another thread, a lane,
// overtakes it and runs what does not depend on it. So a step that fails ends a dequeue of the same run that nobody
// would have served, an enqueue serves it, and two functions of one run can wait for each other.
//
// Only one lane works at a time; the others wait, each in a step of its own. What is overtaken is decided by the
// plan: see plan/units.py. Nothing of this costs anything where no step waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/executor/event.h"
#include "runtime/executor/program.h"
#include "runtime/executor/run_context.h"

namespace stillflow {

class Lanes;

// A thread of a run.
struct Lane {
  Lanes* lanes;
  Lane* outer;            // of the run that called the function whose body this run is
  int32_t unit = -1;      // where it is
  bool is_loose = false;  // see Unit::loosely_after
};

class Lanes {
 public:
  Lanes(Program* program, Program::Frame* frame, RunContext* run)
      : program_(program), frame_(frame), run_(run), fresh_(*run), first_lane_{this, run->lane} {}
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // Runs every unit, and returns when no lane is left.
  RunResult Run();

  // Lets others go on, as the step that `lane` is at waits. `is_late` if it has waited for so long that the order in
  // which variables and the world outside are used matters less than that the run ends.
  static void Overtake(Lane* lane, bool is_late);

  // Whether a step of the run has failed, or of one that called it.
  static bool HasFailed(const Lane* lane);

  // For its lifetime, a failure in the run of `lane` stops the event.
  class WaitScope {
   public:
    WaitScope(Lane* lane, Event* event);
    ~WaitScope();
    WaitScope(const WaitScope&) = delete;
    WaitScope& operator=(const WaitScope&) = delete;

   private:
    Lane* lane_;
    Event* event_;
  };

 private:
  enum class State : uint8_t { kToDo, kUnderWay, kDone };

  RunResult RunUnit(size_t unit, bool is_in_order, RunContext* run);
  RunResult Finish();
  bool Yield(Lane* lane, bool is_late);
  void Work(Lane* lane, RunContext* run, std::unique_lock<std::mutex>* lock);
  void Help(Lane* lane);
  void Settle(size_t unit, RunResult result);
  void Fail(RunResult result);
  int32_t Next(bool is_loose) const;
  bool IsDone(const std::vector<int32_t>& units) const;
  bool IsOver() const { return has_failed_ || first_undone_ == states_.size(); }

  Program* const program_;
  Program::Frame* const frame_;
  RunContext* const run_;
  const RunContext fresh_;  // as runs of further lanes begin
  Lane first_lane_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_overtaken_ = false;
  std::vector<State> states_;  // of the units, once one was overtaken
  size_t first_undone_ = 0;
  Lane* worker_ = nullptr;  // the lane that works
  std::list<Lane> lanes_;   // of further threads
  std::list<std::thread> threads_;
  int lane_count_ = 0;          // of those that have not ended
  std::vector<Event*> events_;  // that lanes wait for
  std::atomic<bool> has_failed_{false};
  RunResult failure_;
};

}  // namespace stillflow
