// allocator_statistics.h: how much memory tensors have.
#pragma once

#include <cstdint>

namespace stillflow {

// Bytes handed out and not yet returned, bytes kept for reuse, and the most that were handed out at one time.
struct AllocatorStatistics {
  int64_t used_bytes;
  int64_t cached_bytes;
  int64_t peak_bytes;
};
AllocatorStatistics GetAllocatorStatistics();

}  // namespace stillflow
