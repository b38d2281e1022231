// cache.h: the sizes that decide how arrays are read and written.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

constexpr int64_t kLineBytes = 64;            // a cache line
constexpr int64_t kStreamedBytes = 32 << 20;  // outputs from here on are streamed: more than a last-level cache holds

#if defined(__x86_64__)
constexpr bool kCanStream = true;
#else
constexpr bool kCanStream = false;
#endif

inline bool IsStreamed(int64_t bytes) { return kCanStream && bytes >= kStreamedBytes; }
inline bool IsStreamed(const Tensor& tensor) { return IsStreamed(tensor.count * ElementBytes(tensor.dtype)); }

}  // namespace stillflow
