// prefetch.h: rows that are asked for before they are read or written.
//
// Those to be written are asked for in the same way; that they are asked for as such makes them slower.
#pragma once

#include <algorithm>

#include "arithmetic/math/scalar.h"
#include "memory/processor.h"
#include "memory/stream.h"

namespace stillflow {

// How far ahead rows are asked for that lie at a fixed distance from each other: they may drive each other out of a
// cache. For those at random places the processor tells.
constexpr int64_t kStridedBytesAhead = 4 << 10;

// Into the second-level cache every other line first: gathers of rows of seven lines take 0.9 of the time so (Zen 4),
// those of one line no longer. GCC takes a function that only prefetches for one without effect, and leaves out calls
// that are not inlined early.
STILLFLOW_INLINE void PrefetchRow(const void* row, int64_t bytes) {
  const char* const begin = static_cast<const char*>(row);
  if (kProcessor.fetches_to_first_cache) {
    for (int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(begin + i, 0, 3);
    return;
  }
  __builtin_prefetch(begin, 0, 2);
  if (bytes <= kLineBytes) return;
  for (int64_t i = 2 * kLineBytes; i < bytes; i += 2 * kLineBytes) __builtin_prefetch(begin + i, 0, 2);
  for (int64_t i = kLineBytes; i < bytes; i += 2 * kLineBytes) __builtin_prefetch(begin + i, 0, 2);
}

// Rows of whole lines, into the first-level cache from their last one on: none behind it is foreseen then, which
// nobody wants (Zen 5: gathers of rows of eight lines take 0.9 of the time, scatters no less).
STILLFLOW_INLINE void PrefetchLines(const void* row, int64_t bytes) {
  if (!kProcessor.fetches_to_first_cache) return PrefetchRow(row, bytes);
  const char* const begin = static_cast<const char*>(row);
  const char* line = begin + bytes;
  do {
    line -= kLineBytes;
    __builtin_prefetch(line, 0, 3);
  } while (line != begin);
}

// How many rows that is.
inline int64_t RowsAhead(int64_t row_bytes, int64_t bytes_ahead) {
  return std::clamp<int64_t>(bytes_ahead / std::max<int64_t>(row_bytes, 1), 2, 256);
}

// Items begin, ..., end - 1, which are asked for `ahead` items before they are used: by fetch(i), which like
// PrefetchRow must always be inlined.
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
