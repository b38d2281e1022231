// run_context.h: one run under way, as the executor's own kernels see it.
#pragma once

#include <cstdint>

#include "kernel_api/abi.h"

namespace stillflow {

class Event;
class Session;
struct Lane;
struct RunOptions;

struct RunContext {
  Session* session;
  const RunOptions* options;
  int64_t deadline_nanos;  // 0: none
  int64_t next_poll_nanos;
  Code stop = Code::kOk;          // why the run is to end early
  uint8_t* cells = nullptr;       // of a program with branches or loops: 1 where live
  int32_t next_step = 0;          // of such a program: a step may say where the run goes on
  void* const* states = nullptr;  // of a function's body: the states of its steps for this caller
  Lane* lane = nullptr;           // of a program with steps that may be overtaken: see lanes.h
};

// Whether the run has been cancelled, interrupted, or is out of time, which `run->stop` says, or another of its lanes
// has failed.
bool ShouldStop(RunContext* run);

// The failure of a run that is to stop.
Status Stopped(const RunContext& run);

// Sleeps until the event is set or the run is to end. False for the latter.
bool WaitFor(RunContext* run, Event* event);

}  // namespace stillflow
