// host_watch.h: tells when a function of the program that uses the engine waits for something, so that its run can go
// on without it (see lanes.h).
#pragma once

#include "runtime/executor/run_context.h"

namespace stillflow {

// For its lifetime the calling thread is in such a function, for a run.
//
// A function that computes is not overtaken, however long it takes: then two functions of one run are called one
// after the other, and what they share is used in one order. A thread waits that sleeps whenever it is looked at and
// has used next to no time of a processor in between.
class HostWatch {
 public:
  explicit HostWatch(const RunContext* run);
  ~HostWatch();
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

 private:
  Lane* const lane_;
};

// Forgets the thread of the parent process that watches.
void ForgetHostWatchAfterFork();

}  // namespace stillflow
