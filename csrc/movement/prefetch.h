// prefetch.h: rows that are asked for before they are read or written.
//
// Into the second-level cache: what is on its way to the first occupies one of its few line buffers for as long as
// memory takes. For rows at random places that made gathers and updates a quarter faster. Those to be written are
// asked for in the same way; that they are asked for as such makes them slower.
#pragma once

#include <algorithm>

#include "kernel_api/stream.h"
#include "math/scalar.h"

namespace stillflow {

// How far ahead rows are asked for: those at random places, and those at a fixed distance from each other, which may
// drive each other out of a cache.
constexpr int64_t kRandomBytesAhead = 32 << 10;
constexpr int64_t kStridedBytesAhead = 4 << 10;

// Every other line first: gathers of rows of seven lines take 0.9 of the time so (Zen 4), those of one line no
// longer. GCC takes a function that only prefetches for one without effect, and leaves out calls that are not inlined
// early.
STILLFLOW_INLINE void PrefetchRow(const void* row, int64_t bytes) {
  const char* const begin = static_cast<const char*>(row);
  __builtin_prefetch(begin, 0, 2);
  if (bytes <= kLineBytes) return;
  for (int64_t i = 2 * kLineBytes; i < bytes; i += 2 * kLineBytes) __builtin_prefetch(begin + i, 0, 2);
  for (int64_t i = kLineBytes; i < bytes; i += 2 * kLineBytes) __builtin_prefetch(begin + i, 0, 2);
}

// How many rows that is.
inline int64_t RowsAhead(int64_t row_bytes, int64_t bytes_ahead) {
  return std::clamp<int64_t>(bytes_ahead / std::max<int64_t>(row_bytes, 1), 2, 256);
}

// Items begin, ..., end - 1, which are asked for `ahead` items before they are used.
class FetchAhead {
 public:
  FetchAhead(int64_t begin, int64_t end, int64_t ahead) : next_(begin), end_(end), ahead_(ahead) {}

  // Belongs before item i is used. Calls fetch(k) for each item that is now near enough; like PrefetchRow it must
  // always be inlined.
  template <typename Fetch>
  STILLFLOW_INLINE void Before(int64_t i, const Fetch& fetch) {
    for (; next_ < std::min(i + ahead_, end_); ++next_) fetch(next_);
  }

 private:
  int64_t next_;
  const int64_t end_;
  const int64_t ahead_;
};

}  // namespace stillflow
