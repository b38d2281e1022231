// line_writer.h: bytes of any places, written one after another past the caches.
//
// Only whole lines can be streamed. Where runs end within lines, what is left of a run waits for the start of the
// next: in a register if there is one that holds a line. What is stored and loaded again within a few cycles by other
// widths waits until all that was streamed before has left the core.
#pragma once

#include <algorithm>

#include "arithmetic/math/scalar.h"
#include "memory/stream.h"
#include "memory/strided_copy.h"

namespace stillflow {

// A line that is put together.
class PendingLine {
 public:
#if defined(__AVX512BW__)
  // Fewer bytes than a line has.
  STILLFLOW_INLINE void Put(int64_t at, const char* from, int64_t bytes) {
    line_ = _mm512_mask_loadu_epi8(line_, ((uint64_t{1} << bytes) - 1) << at, from - at);
  }
  // The first or last bytes of a run of a line or more, the last at the line's begin. Of whole words, nothing beside
  // the run is touched: its lines may not have been asked for.
  STILLFLOW_INLINE void PutFirst(int64_t at, const char* run, int64_t bytes) {
    if ((at | bytes) % kWord != 0) return Put(at, run, bytes);
    const __m512i places = _mm512_sub_epi32(Lanes(), _mm512_set1_epi32(static_cast<int>(at / kWord)));
    const auto mask = static_cast<__mmask16>(((1u << (bytes / kWord)) - 1) << (at / kWord));
    line_ = _mm512_mask_permutexvar_epi32(line_, mask, places, _mm512_loadu_si512(run));
  }
  STILLFLOW_INLINE void PutLast(const char* run_end, int64_t bytes) {
    if (bytes % kWord != 0) return Put(0, run_end - bytes, bytes);
    const __m512i places = _mm512_sub_epi32(Lanes(), _mm512_set1_epi32(static_cast<int>(bytes / kWord)));
    line_ =
        _mm512_maskz_permutexvar_epi32(0xFFFF, places, _mm512_loadu_si512(run_end - kLineBytes));  // modulo the lanes
  }
  STILLFLOW_INLINE void Stream(char* to) const { _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line_); }
  // A part of it.
  void Store(int64_t at, int64_t bytes, char* to) const {
    alignas(kLineBytes) char line[kLineBytes];
    _mm512_store_si512(line, line_);
    std::memcpy(to, line + at, bytes);
  }

 private:
  static constexpr int64_t kWord = 4;
  static __m512i Lanes() { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }

  __m512i line_ = _mm512_setzero_si512();
#else
  STILLFLOW_INLINE void Put(int64_t at, const char* from, int64_t bytes) { CopySmall(line_ + at, from, bytes); }
  STILLFLOW_INLINE void PutFirst(int64_t at, const char* run, int64_t bytes) { Put(at, run, bytes); }
  STILLFLOW_INLINE void PutLast(const char* run_end, int64_t bytes) { Put(0, run_end - bytes, bytes); }
  STILLFLOW_INLINE void Stream(char* to) const { StreamLine(to, line_); }
  void Store(int64_t at, int64_t bytes, char* to) const { std::memcpy(to, line_ + at, bytes); }

 private:
  alignas(kLineBytes) char line_[kLineBytes];
#endif
};

class LineWriter {
 public:
  explicit LineWriter(char* to)
      : skipped_(static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes)),
        filled_(skipped_),
        line_(to - skipped_) {}

  // What has been asked for before.
  STILLFLOW_INLINE void Append(const char* from, int64_t bytes) { AppendWith<false>(from, bytes); }

  // From where what is appended next will be read soon, too: that is asked for meanwhile.
  void AppendNext(const char* from, int64_t bytes) { AppendWith<true>(from, bytes); }

  // Bytes that are missing in a line that has been begun.
  int64_t missing() const { return filled_ > 0 ? kLineBytes - filled_ : 0; }

  // A whole line, when none has been begun.
  STILLFLOW_INLINE void AppendLine(const char* from) {
    StreamLine(line_, from);
    line_ += kLineBytes;
  }

  // Fewer bytes than a line has, none of which go beyond it.
  STILLFLOW_INLINE void AppendPart(const char* from, int64_t bytes) {
    pending_.Put(filled_, from, bytes);
    filled_ += bytes;
    if (filled_ == kLineBytes) WriteLine();
  }

  // Belongs at the end of each chunk, in the place of EndStream.
  void Finish() {
    pending_.Store(skipped_, filled_ - skipped_, line_ + skipped_);
    EndStream();
  }

 private:
  static constexpr int64_t kBytesAhead = 2048;

  template <bool kFetches>
  STILLFLOW_INLINE void AppendWith(const char* from, int64_t bytes) {
    const bool is_long = bytes >= kLineBytes;
    if (filled_ > 0) {
      if (kFetches) __builtin_prefetch(from + kBytesAhead + bytes - 1);
      if (!is_long) {
        const int64_t part = std::min(kLineBytes - filled_, bytes);
        AppendPart(from, part);
        if (filled_ == 0 && bytes > part) {
          filled_ = bytes - part;
          pending_.Put(0, from + part, filled_);
        }
        return;
      }
      const int64_t part = kLineBytes - filled_;
      pending_.PutFirst(filled_, from, part);
      WriteLine();
      from += part;
      bytes -= part;
    }
    filled_ = bytes % kLineBytes;
    const int64_t whole = bytes - filled_;
    if (kFetches) {
      StreamLines(line_, from, whole, from + kBytesAhead);
    } else {
      StreamLines(line_, from, whole);
    }
    line_ += whole;
    if (filled_ == 0) return;
    if (kFetches) __builtin_prefetch(from + kBytesAhead + whole);
    if (is_long) {
      pending_.PutLast(from + bytes, filled_);
    } else {
      pending_.Put(0, from + whole, filled_);
    }
  }

  void WriteLine() {
    if (skipped_ == 0) {
      pending_.Stream(line_);
    } else {
      pending_.Store(skipped_, kLineBytes - skipped_, line_ + skipped_);
    }
    line_ += kLineBytes;
    skipped_ = filled_ = 0;
  }

  int64_t skipped_;  // bytes of the first line that are another's
  int64_t filled_;   // bytes of the line, with these
  char* line_;
  PendingLine pending_;
};

}  // namespace stillflow
