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

  // What has been asked for before.
  void Append(const char* from, int64_t bytes) { AppendWith<false>(from, bytes); }

  // From where what is appended next will be read soon, too: that is asked for meanwhile.
  void AppendNext(const char* from, int64_t bytes) { AppendWith<true>(from, bytes); }

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
      CopySmall(pending_ + filled_, from, part);
      filled_ += part;
      if (filled_ < kLineBytes) return;
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
