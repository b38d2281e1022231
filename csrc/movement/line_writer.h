// line_writer.h: bytes of any places, written one after another past the caches.
//
// Only whole lines can be streamed. Where runs end within lines, what is left of a run waits for the start of the
// next.
#pragma once

#include <algorithm>

#include "movement/strided_copy.h"

namespace stillflow {

class LineWriter {
 public:
  explicit LineWriter(char* to)
      : skipped_(static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes)),
        filled_(skipped_),
        line_(to - skipped_) {}

  // As many bytes from `ahead` on are fetched meanwhile. That may lie behind an array.
  void Append(const char* from, int64_t bytes, const char* ahead) {
    if (filled_ > 0) {
      __builtin_prefetch(ahead + bytes - 1);
      const int64_t part = std::min(kLineBytes - filled_, bytes);
      CopySmall(pending_ + filled_, from, part);
      filled_ += part;
      if (filled_ < kLineBytes) return;
      WriteLine();
      from += part;
      bytes -= part;
    }
    filled_ = bytes % kLineBytes;
    const int64_t whole = bytes - filled_;
    StreamLines(line_, from, whole, ahead);
    line_ += whole;
    if (filled_ == 0) return;
    __builtin_prefetch(ahead + whole);
    CopySmall(pending_, from + whole, filled_);
  }

  // From where what is appended next will be read soon, too.
  void Append(const char* from, int64_t bytes) { Append(from, bytes, from + kBytesAhead); }

  // Belongs at the end of each chunk, in the place of EndStream.
  void Finish() {
    std::memcpy(line_ + skipped_, pending_ + skipped_, filled_ - skipped_);
    EndStream();
  }

 private:
  static constexpr int64_t kBytesAhead = 2048;

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
