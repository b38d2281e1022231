// words.h: a sequential random stream whose position can be saved.
#pragma once

#include "arithmetic/random/philox.h"
#include "datasets/position.h"

namespace stillflow {

class Words {
 public:
  Words(uint64_t key, uint64_t high) : start_{key, 0, high} {}

  uint32_t Next() {
    const auto at = static_cast<int>(drawn_ % kWords);
    if (at == 0 || !is_filled_) {
      sf_philox_fill(sf_philox_skip(start_, drawn_ / kWords * kBlocks), kBlocks, words_);
      is_filled_ = true;
    }
    ++drawn_;
    return words_[at];
  }

  void Save(PositionWriter* writer) const {
    writer->Word(start_.key);
    writer->Word(start_.high);
    writer->Word(drawn_);
  }
  void Restore(PositionReader* reader) {
    start_.key = reader->Word();
    start_.high = reader->Word();
    drawn_ = reader->Word();
    is_filled_ = false;
  }

 private:
  static constexpr int kBlocks = 8;
  static constexpr int kWords = kBlocks * SF_PHILOX_WORDS;

  sf_philox start_;
  uint64_t drawn_ = 0;
  bool is_filled_ = false;
  uint32_t words_[kWords];
};

}  // namespace stillflow
