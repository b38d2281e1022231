// stream.h: how random kernels take their part of a node's stream, and words of it one at a time.
#pragma once

#include <mutex>

#include "arithmetic/random/philox.h"
#include "kernel_api/kernel.h"

namespace stillflow {

// Blocks that a run reserves for each element that it makes, whatever it needs.
constexpr int64_t kBlocksPerElement = 256;

// The position at which this run begins. The next one begins `count` * `blocks_each` blocks later; both are
// sizes, and their product may exceed 64 bits.
inline sf_philox TakeBlocks(const KernelCall& call, int64_t count, int64_t blocks_each = kBlocksPerElement) {
  auto* state = static_cast<RandomState*>(call.state);
  const auto blocks = static_cast<unsigned __int128>(count) * static_cast<uint64_t>(blocks_each);
  MutexLock guard(state->mutex);
  const sf_philox begin = {state->key, state->counter_low, state->counter_high};
  const sf_philox end =
      sf_philox_skip_wide(begin, static_cast<uint64_t>(blocks), static_cast<uint64_t>(blocks >> 64));
  state->counter_low = end.low;
  state->counter_high = end.high;
  return begin;
}

// The stream of a stateless op: its seed is a counter, whose block under a fixed key gives key and counter.
inline Status StatelessStream(const Tensor& seed, sf_philox* base) {
  if (seed.rank != 1 || seed.dims[0] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("seed must have shape [2], not %s", ShapeText(seed).c_str());
  }
  const sf_philox scrambler = {uint64_t{0x02461E29u} << 32 | 0x3EC8F720u, static_cast<uint64_t>(IntAt(seed, 0)),
                               static_cast<uint64_t>(IntAt(seed, 1))};
  uint32_t words[SF_PHILOX_WORDS];
  sf_philox_fill(scrambler, 1, words);
  *base = {static_cast<uint64_t>(words[1]) << 32 | words[0], 0, static_cast<uint64_t>(words[3]) << 32 | words[2]};
  return Status();
}

// Single words from a position on, made a few blocks at a time.
class WordReader {
 public:
  explicit WordReader(sf_philox position) : position_(position) {}

  uint32_t Next() {
    if (next_ == kWords) Refill();
    return words_[next_++];
  }
  // The first word is the low part.
  uint64_t NextLowFirst() {
    const uint64_t low = Next();
    return static_cast<uint64_t>(Next()) << 32 | low;
  }

 private:
  static constexpr int kBlocks = 8;
  static constexpr int kWords = kBlocks * SF_PHILOX_WORDS;

  void Refill() {
    sf_philox_fill(position_, kBlocks, words_);
    position_ = sf_philox_skip(position_, kBlocks);
    next_ = 0;
  }

  sf_philox position_;
  int next_ = kWords;
  uint32_t words_[kWords];
};

}  // namespace stillflow
