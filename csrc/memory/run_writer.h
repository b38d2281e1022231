// run_writer.h: runs of bytes from anywhere, written one after another.
//
// Non-temporal stores write whole cache lines. Where a streamed run ends within a line, its tail waits in a buffer
// for the head of the next.
#pragma once

#include <algorithm>

#include "memory/stream.h"
#include "memory/strided_copy.h"

namespace stillflow {

class RunWriter {
 public:
  // Streams from `to` on, or stores there.
  RunWriter(char* to, bool streams)
      : streams_(streams),
        skipped_(static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes)),
        filled_(skipped_),
        to_(streams ? to - skipped_ : to) {}

  // A run that has been prefetched.
  STILLFLOW_INLINE void Append(const char* from, int64_t bytes) {
    if (streams_) {
      Stream<false>(from, bytes);
    } else {
      Store(from, bytes);
    }
  }

  // A run that continues an earlier one of the same array: what follows it is prefetched meanwhile.
  STILLFLOW_INLINE void AppendNext(const char* from, int64_t bytes) {
    if (streams_) {
      StreamNext(from, bytes);
    } else {
      Store(from, bytes);
    }
  }

  // Belongs at the end of each chunk, in place of EndStream.
  void Finish() {
    if (!streams_) return;
    std::memcpy(to_ + skipped_, line_ + skipped_, filled_ - skipped_);
    EndStream();
  }

 private:
  static constexpr int64_t kBytesAhead = 2048;

  STILLFLOW_INLINE void Store(const char* from, int64_t bytes) {
    CopyBytes(to_, from, bytes);
    to_ += bytes;
  }

  void StreamNext(const char* from, int64_t bytes) { Stream<true>(from, bytes); }

  template <bool kPrefetches>
  STILLFLOW_INLINE void Stream(const char* from, int64_t bytes) {
    if (filled_ > 0) {
      const int64_t head = std::min(kLineBytes - filled_, bytes);
      CopySmall(line_ + filled_, from, head);
      filled_ += head;
      from += head;
      bytes -= head;
      if (filled_ < kLineBytes) return;
      WriteLine();
    }
    for (; bytes >= kLineBytes; from += kLineBytes, to_ += kLineBytes, bytes -= kLineBytes) {
      if (kPrefetches) __builtin_prefetch(from + kBytesAhead);
      StreamLine(to_, from);
    }
    CopySmall(line_, from, bytes);
    filled_ = bytes;
    if (kPrefetches) __builtin_prefetch(from + kBytesAhead);
  }

  void WriteLine() {
    if (skipped_ == 0) {
      StreamLine(to_, line_);
    } else {
      std::memcpy(to_ + skipped_, line_ + skipped_, kLineBytes - skipped_);
    }
    to_ += kLineBytes;
    skipped_ = filled_ = 0;
  }

  const bool streams_;
  int64_t skipped_;  // bytes of the first line that are another writer's
  int64_t filled_;   // bytes of the line, with these
  char* to_;         // the line, or where the next run is stored
  alignas(kLineBytes) char line_[kLineBytes];
};

}  // namespace stillflow
