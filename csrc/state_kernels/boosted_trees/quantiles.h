// quantiles.h: approximate quantiles of weighted numbers that come one after the other, in little memory.
//
// Numbers are collected in a buffer; a full one becomes a summary, which is compressed and merged with those of its
// level, as digits of a binary counter are carried (Zhang and Wang, "A fast algorithm for approximate quantiles in
// high speed data streams", 2007; with weights: Chen and Guestrin, "XGBoost", 2016).
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace stillflow::boosted_trees {

struct WeightedValue {
  float value;
  float weight;
};

// A value, its weight, and bounds of the weight of all values below it, and of those up to it.
struct QuantileEntry {
  float value;
  float weight;
  float min_rank;
  float max_rank;

  float PreviousMaxRank() const { return max_rank - weight; }
  float NextMinRank() const { return min_rank + weight; }
};

class QuantileSummary {
 public:
  QuantileSummary() = default;
  explicit QuantileSummary(std::vector<QuantileEntry> entries) : entries_(std::move(entries)) {}
  // Of values in ascending order.
  static QuantileSummary Of(const std::vector<WeightedValue>& values);

  const std::vector<QuantileEntry>& entries() const { return entries_; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  void Clear() { entries_.clear(); }

  void Merge(const QuantileSummary& other);
  // Leaves some `size_hint` entries, whose ranks are wrong by no more than the greater of 1 / size_hint and
  // `epsilon`.
  void Compress(int64_t size_hint, double epsilon);
  double Error() const;
  // Values that cut the weight into some `count` parts.
  std::vector<float> Boundaries(int64_t count) const;
  // The least value, the greatest, and what lies between `count` equal parts.
  std::vector<float> Quantiles(int64_t count) const;

 private:
  float TotalWeight() const { return entries_.empty() ? 0 : entries_.back().max_rank; }

  std::vector<QuantileEntry> entries_;
};

class QuantileStream {
 public:
  // `epsilon` in (0, 1), `most` positive: how many values there may be.
  QuantileStream(double epsilon, int64_t most);

  void Push(float value, float weight);
  void Push(const QuantileSummary& summary);
  // The summary of all; nothing may be pushed after this.
  const QuantileSummary& Finish();

  // What has been pushed as summaries, level by level, by which a stream is saved and restored.
  const std::vector<QuantileSummary>& levels() const { return levels_; }
  void SetLevels(std::vector<QuantileSummary> levels) { levels_ = std::move(levels); }

 private:
  void FlushBuffer();
  void Carry();

  double epsilon_;
  int64_t block_size_ = 2;
  size_t buffer_size_;
  std::vector<WeightedValue> buffer_;
  QuantileSummary summary_;
  std::vector<QuantileSummary> levels_;
};

}  // namespace stillflow::boosted_trees
