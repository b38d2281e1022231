// buffer.h: memory for tensors, cached by size so that a step of a running program does not reach malloc.
#pragma once

#include "kernel_api/abi.h"
#include "runtime/executor/allocator_statistics.h"

namespace stillflow {

// Returns 64-byte aligned memory with one reference, or null when there is none to be had.
Buffer* AllocateBuffer(int64_t bytes);

// Wraps memory of the caller's that outlives every reference; `buffer` is the caller's too.
void BorrowBuffer(Buffer* buffer, const void* data, int64_t bytes);

inline void Retain(Buffer* buffer) { buffer->references.fetch_add(1, std::memory_order_relaxed); }

inline void Release(Buffer* buffer) {
  if (buffer->references.fetch_sub(1, std::memory_order_acq_rel) == 1) buffer->destroy(buffer);
}

// A buffer of `count` string cells, all null, which releases its cells with itself; or null.
Buffer* AllocateStrings(int64_t count);

// The same of variants.
Buffer* AllocateVariants(int64_t count);

// A cell with one reference, or null.
StringCell* NewString(const char* bytes, int64_t size);

}  // namespace stillflow
