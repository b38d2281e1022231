// stream.h: non-temporal stores, for outputs that no cache will hold.
//
// An ordinary store first reads its cache line and evicts another. On an array larger than the last-level cache both
// are wasted, and cost a third of the memory bandwidth. What is streamed should have been computed just before, a few
// hundred bytes at a time, while the operands of the next piece are prefetched (ReadAhead).
#pragma once

#include <cstring>

#include "memory/cache.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stillflow {

// One line; `to` is at a multiple of 64 bytes.
inline void StreamLine(char* to, const char* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  for (int i = 0; i < 64; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  }
#elif defined(__x86_64__)
  for (int i = 0; i < 64; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#else
  std::memcpy(to, from, 64);
#endif
}

// Whole lines, to multiples of 64 bytes, while as many from `ahead` on, which may lie behind an array, are
// prefetched.
inline void StreamLines(char* to, const char* from, int64_t bytes, const char* ahead) {
  for (int64_t i = 0; i < bytes; i += kLineBytes) {
    __builtin_prefetch(ahead + i);
    StreamLine(to + i, from + i);
  }
}

// Operands of what is computed next. Their lines are prefetched one by one, between the lines that are streamed: all
// at once they would occupy the line buffers of the first-level cache.
class ReadAhead {
 public:
  static constexpr int kMostArrays = 4;

  // With line i that is streamed, `bytes_per_line` from `base` + i * bytes_per_line on are prefetched, which may lie
  // behind the array's end.
  void Add(const char* base, int64_t bytes_per_line) {
    if (count_ < kMostArrays) arrays_[count_++] = {base, bytes_per_line};
  }

  void PrefetchLine(int64_t i) const {
    for (int k = 0; k < count_; ++k) {
      const char* const from = arrays_[k].base + i * arrays_[k].bytes_per_line;
      for (int64_t byte = 0; byte < arrays_[k].bytes_per_line; byte += kLineBytes) __builtin_prefetch(from + byte);
    }
  }

 private:
  struct Array {
    const char* base;
    int64_t bytes_per_line;
  };

  Array arrays_[kMostArrays] = {};
  int count_ = 0;
};

inline constexpr ReadAhead kNothingAhead = {};

// Writes to + offset. Whole lines are streamed; the rest of the first and the last is stored. Line i of `ahead` goes
// with the line at to + 64 i.
inline void StreamBytes(char* to, const char* from, int64_t bytes, int64_t offset = 0,
                        const ReadAhead& ahead = kNothingAhead) {
  to += offset;
  const auto unaligned = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) & (kLineBytes - 1));
  if (unaligned >= bytes) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (unaligned > 0) std::memcpy(to, from, unaligned);
  int64_t done = unaligned;
  for (int64_t line = (offset + unaligned) / kLineBytes; done + kLineBytes <= bytes; ++line, done += kLineBytes) {
    ahead.PrefetchLine(line);
    StreamLine(to + done, from + done);
  }
  if (done < bytes) std::memcpy(to + done, from + done, bytes - done);
}

// Orders streamed stores before those that follow. Belongs at the end of each chunk that streams.
inline void EndStream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace stillflow
