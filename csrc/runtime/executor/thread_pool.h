// thread_pool.h: one pool of threads for the whole process; every session borrows from it.
#pragma once

#include <cstdint>

#include "kernel_api/abi.h"

namespace stillflow {

// Called now and then on the thread that asked for the work; returns true to stop it early.
struct Interrupt {
  bool (*is_due)(void* arg);
  void* arg;
};

// Calls body(arg, chunk) once for every chunk in [0, count) on the calling thread and up to `threads` - 1
// others. Each has a part of the chunks of its own, the same every time, and helps with the others' when it is done.
// After a failure no higher chunk starts, and the failure of the lowest chunk that fails is returned, which does not
// depend on the threads. Code::kCancelled when `interrupt` said so.
Status ParallelFor(int threads, int64_t count, Status (*body)(void* arg, int64_t chunk), void* arg,
                   const Interrupt& interrupt);

// Forgets the threads of the parent process, which do not exist in a child made by fork.
void ForgetThreadsAfterFork();

}  // namespace stillflow
