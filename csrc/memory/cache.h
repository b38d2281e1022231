// cache.h: the caches as far as arrays are treated differently by size.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

constexpr int64_t kLineBytes = 64;            // of a cache
constexpr int64_t kStreamedBytes = 32 << 20;  // of arrays that are streamed: more than a last-level cache

#if defined(__x86_64__)
constexpr bool kCanStream = true;
#else
constexpr bool kCanStream = false;
#endif

inline bool IsStreamed(int64_t bytes) { return kCanStream && bytes >= kStreamedBytes; }
inline bool IsStreamed(const Tensor& tensor) { return IsStreamed(tensor.count * ElementBytes(tensor.dtype)); }

}  // namespace stillflow
