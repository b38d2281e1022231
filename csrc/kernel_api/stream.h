// stream.h: writing past the caches.
//
// An ordinary store reads its line first and drives another out of the caches. Both are wasted on an array that no
// cache will hold, and cost a third of the memory's bandwidth. What is written must have been computed just before:
// reads and writes then overlap, which they do not when a tile of more than some 2 KiB is filled and then written.
#pragma once

#include <cstring>

#include "kernel_api/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stillflow {

constexpr int64_t kStreamedBytes = 32 << 20;  // of arrays that are streamed: more than a last-level cache

#if defined(__x86_64__)
constexpr bool kCanStream = true;
#else
constexpr bool kCanStream = false;
#endif

inline bool IsStreamed(int64_t bytes) { return kCanStream && bytes >= kStreamedBytes; }
inline bool IsStreamed(const Tensor& tensor) { return IsStreamed(tensor.count * ElementBytes(tensor.dtype)); }

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

// Whole lines are streamed; what is left of the first and the last is stored.
inline void StreamBytes(char* to, const char* from, int64_t bytes) {
  const auto misfit = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) & 63);
  if (misfit >= bytes) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (misfit > 0) std::memcpy(to, from, misfit);
  int64_t i = misfit;
  for (; i + 64 <= bytes; i += 64) StreamLine(to + i, from + i);
  if (i < bytes) std::memcpy(to + i, from + i, bytes - i);
}

// Streamed bytes are not ordered with what the thread stores later. Belongs at the end of each chunk that streams.
inline void EndStream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace stillflow
