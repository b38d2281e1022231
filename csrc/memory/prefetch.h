// prefetch.h: software prefetch of rows that hardware prefetchers cannot foresee.
//
// Rows that will be written are prefetched for reading: a prefetch for writing takes longer.
#pragma once

#include <algorithm>

#include "arithmetic/math/scalar.h"
#include "memory/cache.h"

namespace stillflow {

// Prefetch distances: of rows with a fixed stride, which compete for the same cache sets, and of rows at random.
constexpr int64_t kStridedBytesAhead = 4 << 10;
constexpr int64_t kRandomBytesAhead = 32 << 10;
// Arrays of at most so many bytes stay in the second-level cache, where prefetching gains nothing.
constexpr int64_t kNearBytes = 1 << 20;

// Into the second-level cache: a prefetch into the first occupies one of its few line buffers for as long as memory
// takes. Always inlined: GCC deems a function that only prefetches to have no effect, and removes calls to it.
STILLFLOW_INLINE void PrefetchRow(const void* row, int64_t bytes) {
  const char* const begin = static_cast<const char*>(row);
  for (int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(begin + i, 0, 2);
}

// The distance in rows.
inline int64_t RowsAhead(int64_t row_bytes, int64_t bytes_ahead) {
  return std::clamp<int64_t>(bytes_ahead / std::max<int64_t>(row_bytes, 1), 2, 256);
}

// Prefetches items begin, ..., end - 1, each `ahead` items before its use, by fetch(i), which like PrefetchRow must
// always be inlined.
template <typename Fetch>
class FetchAhead {
 public:
  STILLFLOW_INLINE FetchAhead(int64_t begin, int64_t end, int64_t ahead, const Fetch& fetch)
      : end_(end), ahead_(ahead), fetch_(fetch) {
    for (int64_t i = begin; i < std::min(begin + ahead, end); ++i) fetch_(i);
  }

  // Belongs before each item is used.
  STILLFLOW_INLINE void Before(int64_t i) {
    if (i + ahead_ < end_) fetch_(i + ahead_);
  }

 private:
  const int64_t end_;
  const int64_t ahead_;
  Fetch fetch_;
};

}  // namespace stillflow
