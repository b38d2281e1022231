// unigram.h: drawing integers exactly, and classes by weights that are given or learned.
#pragma once

#include <memory>

#include "arithmetic/random/stream.h"

namespace stillflow {

// Integers below a bound, all equally likely, from words of 32 or 64 bits.
template <typename Word>
class ExactUniform {
 public:
  explicit ExactUniform(Word bound) : bound_(bound), rejected_(static_cast<Word>((~Word{0} % bound + 1) % bound)) {}

  Word Draw(WordReader* words) const {
    Word word;
    do {
      word = sizeof(Word) == 8 ? static_cast<Word>(words->NextLowFirst()) : static_cast<Word>(words->Next());
    } while (word < rejected_);
    return word % bound_;
  }

 private:
  Word bound_;
  Word rejected_;  // words below this would make small results more likely
};

// Classes with given weights, drawn by the alias method.
class FixedUnigram {
 public:
  struct Options {
    int64_t range;
    const char* vocab_file;  // "" if weights are given
    float distortion;
    int64_t reserved_count;
    int64_t shard_count;
    int64_t shard;
    const double* unigrams;
    int64_t unigram_count;
  };
  static Status Make(const Options& options, FixedUnigram** unigrams);

  int64_t range() const { return range_; }
  // How many classes can be drawn at all.
  int64_t reachable() const { return reachable_; }
  int64_t Draw(WordReader* words) const;
  float Probability(int64_t value) const { return value < 0 || value >= range_ ? 0.0f : weights_[value] / total_; }

 private:
  explicit FixedUnigram(int64_t range) : range_(range), below_range_(static_cast<uint32_t>(range)) {}
  Status SetWeights(const Options& options, const float* given, int64_t given_count, int64_t zeros);
  Status BuildTable();

  int64_t range_;
  std::unique_ptr<float[]> weights_;
  std::unique_ptr<float[]> probabilities_;  // of keeping a slot's own class
  std::unique_ptr<int32_t[]> aliases_;      // the class that a slot gives otherwise
  float total_ = 0;
  int64_t reachable_ = 0;
  ExactUniform<uint32_t> below_range_;
};

// Classes with integer weights that begin at 1 and grow; the state of a node in a session.
class LearnedUnigram {
 public:
  static Status Make(int64_t range, int64_t seed, int64_t seed2, LearnedUnigram** unigrams);

  Mutex& mutex() { return mutex_; }
  int64_t range() const { return range_; }
  // For the functions below the mutex is held.
  uint32_t total() const { return total_; }
  sf_philox TakeBlocks(uint64_t blocks);
  // The class at which the running total of weights exceeds `rank`.
  int64_t Pick(uint32_t rank) const;
  float Probability(int64_t value) const { return static_cast<float>(weights_[value]) / static_cast<float>(total_); }
  void Increment(int64_t value);

  // Writes position and weights to `bytes`, unless that is null, and returns their size.
  int64_t Save(void* bytes) const;
  // False for bytes that are not of a node with this range.
  bool Restore(const void* bytes, int64_t size);

 private:
  LearnedUnigram() = default;
  void SumWeights();

  Mutex mutex_;
  sf_philox position_;
  int64_t range_ = 0;
  uint32_t total_ = 0;
  std::unique_ptr<int32_t[]> weights_;
  std::unique_ptr<int32_t[]> sums_;  // a binary indexed tree; sums_[i] covers the i & -i weights before i
};

}  // namespace stillflow
