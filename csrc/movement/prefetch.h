// prefetch.h: rows that are asked for before they are read or written.
#pragma once

#include <algorithm>

#include "kernel_api/stream.h"

namespace stillflow {

constexpr int64_t kPrefetchBytes = 4096;  // how far ahead rows are asked for: memory answers after some 100 ns

inline void PrefetchRow(const void* row, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(static_cast<const char*>(row) + i);
}
inline void PrefetchRowToWrite(void* row, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(static_cast<char*>(row) + i, 1);
}

// How many rows of that size lie within kPrefetchBytes.
inline int64_t RowsAhead(int64_t row_bytes) {
  return std::clamp<int64_t>(kPrefetchBytes / std::max<int64_t>(row_bytes, 1), 2, 32);
}

}  // namespace stillflow
