// line_writer.h: bytes of any places, written one after another past the caches.
//
// Only whole lines can be streamed. Where runs end within lines, what is left of a run waits for the start of the
// next.
#pragma once

#include <algorithm>

#include "math/scalar.h"
#include "movement/strided_copy.h"

namespace stillflow {

class LineWriter {
 public:
  explicit LineWriter(char* to)
      : skipped_(static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes)),
        filled_(skipped_),
        line_(to - skipped_) {}

  // What has been asked for before.
  void Append(const char* from, int64_t bytes) { AppendWith<false>(from, bytes); }

  // From where what is appended next will be read soon, too: that is asked for meanwhile.
  void AppendNext(const char* from, int64_t bytes) { AppendWith<true>(from, bytes); }

  // Bytes that are missing in a line that has been begun.
  int64_t missing() const { return filled_ > 0 ? kLineBytes - filled_ : 0; }

  // A whole line, when none has been begun.
  STILLFLOW_INLINE void AppendLine(const char* from) {
    StreamLine(line_, from);
    line_ += kLineBytes;
  }

  // Bytes that do not go beyond a line, written by make(to) where they wait for the rest of it.
  template <typename Make>
  STILLFLOW_INLINE void AppendMade(int64_t bytes, const Make& make) {
    make(pending_ + filled_);
    filled_ += bytes;
    if (filled_ == kLineBytes) WriteLine();
  }

  // Belongs at the end of each chunk, in the place of EndStream.
  void Finish() {
    std::memcpy(line_ + skipped_, pending_ + skipped_, filled_ - skipped_);
    EndStream();
  }

 private:
  static constexpr int64_t kBytesAhead = 2048;

  template <bool kFetches>
  void AppendWith(const char* from, int64_t bytes) {
    if (filled_ > 0) {
      if (kFetches) __builtin_prefetch(from + kBytesAhead + bytes - 1);
      const int64_t part = std::min(kLineBytes - filled_, bytes);
      AppendMade(part, [&](char* to) __attribute__((always_inline)) { CopySmall(to, from, part); });
      if (filled_ > 0) return;
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
    CopySmall(pending_, from + whole, filled_);
  }

  void WriteLine() {
    if (skipped_ == 0) {
      StreamLine(line_, pending_);
    } else {
      std::memcpy(line_ + skipped_, pending_ + skipped_, kLineBytes - skipped_);
    }
    line_ += kLineBytes;
    skipped_ = filled_ = 0;
  }

  int64_t skipped_;  // bytes of the first line that are another's
  int64_t filled_;   // bytes of the line, with these
  char* line_;
  alignas(kLineBytes) char pending_[kLineBytes];
};

}  // namespace stillflow
