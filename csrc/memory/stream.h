// stream.h: writing past the caches.
//
// An ordinary store reads its line first and drives another out of the caches. Both are wasted on an array that no
// cache will hold, and cost a third of the memory's bandwidth. What is written must have been computed just before,
// some kilobyte at a time, and what is computed next be read by the way (ReadAhead): memory then never waits for
// arithmetic, nor arithmetic for memory.
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

// Calls line(i) for offsets i of whole lines. In long runs four places take turns, which keeps more of memory's banks
// busy.
template <typename Line>
inline void ForLines(int64_t bytes, const Line& line) {
  constexpr int64_t kLongRun = 32 << 10;
  constexpr int kPlaces = 4;
  int64_t done = 0;
  if (bytes >= kLongRun) {
    const int64_t part = bytes / (64 * kPlaces) * 64;
    for (int64_t i = 0; i < part; i += 64) {
      for (int place = 0; place < kPlaces; ++place) line(place * part + i);
    }
    done = kPlaces * part;
  }
  for (int64_t i = done; i < bytes; i += 64) line(i);
}

// Whole lines, to multiples of 64 bytes.
inline void StreamLines(char* to, const char* from, int64_t bytes) {
  ForLines(bytes, [=](int64_t i) { StreamLine(to + i, from + i); });
}
// As many from `ahead` on are fetched meanwhile. That may lie behind an array.
inline void StreamLines(char* to, const char* from, int64_t bytes, const char* ahead) {
  ForLines(bytes, [=](int64_t i) {
    __builtin_prefetch(ahead + i);
    StreamLine(to + i, from + i);
  });
}

// Arrays that are read soon. Their lines are brought into the first-level cache one by one while others are streamed:
// all at once they would fill the buffers that memory is read through, and block what is computed meanwhile.
class ReadAhead {
 public:
  static constexpr int kMostArrays = 4;

  // For line i that is streamed, `bytes_per_line` are read from `base` + i * bytes_per_line on, which may lie behind
  // the array's end.
  void Add(const char* base, int64_t bytes_per_line) {
    if (count_ < kMostArrays) arrays_[count_++] = {base, bytes_per_line};
    is_even_ &= bytes_per_line == 64;
  }

  // Calls stream(i) for `count` lines from `begin` on.
  template <typename Stream>
  void ForLines(int64_t begin, int64_t count, const Stream& stream) const {
    if (is_even_ && count_ == 1) return ForEvenLines<1>(begin, count, stream);
    if (is_even_ && count_ == 2) return ForEvenLines<2>(begin, count, stream);
    for (int64_t i = begin; i < begin + count; ++i) {
      for (int k = 0; k < count_; ++k) {
        const int64_t bytes = arrays_[k].bytes_per_line;
        for (int64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(arrays_[k].base + i * bytes + byte);
      }
      stream(i);
    }
  }

 private:
  struct Array {
    const char* base;
    int64_t bytes_per_line;
  };

  template <int kCount, typename Stream>
  void ForEvenLines(int64_t begin, int64_t count, const Stream& stream) const {
    const char* const first = arrays_[0].base;
    const char* const second = arrays_[kCount - 1].base;
    for (int64_t i = begin; i < begin + count; ++i) {
      __builtin_prefetch(first + i * 64);
      if (kCount == 2) __builtin_prefetch(second + i * 64);
      stream(i);
    }
  }

  Array arrays_[kMostArrays] = {};
  int count_ = 0;
  bool is_even_ = true;
};

inline constexpr ReadAhead kNothingAhead = {};

// Writes to + offset. Whole lines are streamed, what is left of the first and the last is stored. Line i of `ahead`
// is that at to + 64 i.
template <typename Ahead = const ReadAhead>
inline void StreamBytes(char* to, const char* from, int64_t bytes, int64_t offset = 0, Ahead& ahead = kNothingAhead) {
  to += offset;
  const auto misfit = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) & 63);
  if (misfit >= bytes) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (misfit > 0) std::memcpy(to, from, misfit);
  const int64_t lines = (bytes - misfit) / 64;
  const int64_t first_line = (offset + misfit) / 64;
  ahead.ForLines(first_line, lines, [=](int64_t i) {
    const int64_t at = misfit + (i - first_line) * 64;
    StreamLine(to + at, from + at);
  });
  const int64_t done = misfit + lines * 64;
  if (done < bytes) std::memcpy(to + done, from + done, bytes - done);
}

// Streamed bytes are not ordered with what the thread stores later. Belongs at the end of each chunk that streams.
inline void EndStream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace stillflow
