// grow_stats.h: what is counted at a leaf that may be split: how its examples would divide by each candidate.
//
// A leaf's first examples each propose a candidate: a feature at random, split at the example's value. Those after
// them are counted on the side they would fall. When there are enough, the candidate of the least impurity wins.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "state_kernels/forest/slot_message.h"
#include "state_kernels/forest/tree.h"

namespace stillflow::forest {

// A split, and the leaves that it makes.
struct BestSplit {
  Split split;
  Leaf left, right;
};

class GrowStats {
 public:
  GrowStats(const Params& params, int depth)
      : params_(params),
        depth_(depth),
        outputs_(params.num_outputs),
        split_after_(static_cast<int64_t>(params.split_after_samples.At(depth))),
        most_candidates_(static_cast<int64_t>(params.num_splits_to_consider.At(depth))) {}
  virtual ~GrowStats() = default;
  GrowStats(const GrowStats&) = delete;
  GrowStats& operator=(const GrowStats&) = delete;

  int depth() const { return depth_; }
  virtual bool HasCandidates() const {
    return weight_sum_ > 0 || static_cast<int64_t>(splits_.size()) == most_candidates_;
  }
  // Proposes a split, which an example gave.
  void AddSplit(const Split& split, const Input* input, const Target* target, int64_t example) {
    if (static_cast<int64_t>(splits_.size()) < most_candidates_) {
      splits_.push_back(split);
      AddCounts(target, example);
    }
    if (input != nullptr && params_.initialize_average_splits) Average(*input, *target, example);
  }
  virtual void AddExample(const Input& input, const Target& target, int64_t example) = 0;
  virtual bool IsFinished() const = 0;
  // False if no candidate divides the examples.
  virtual bool FindBest(BestSplit* best) const = 0;

  // What a checkpoint keeps of it.
  virtual Slot Pack() const = 0;
  virtual SlotKind kind() const = 0;
  virtual void Unpack(const Slot& slot) = 0;

 protected:
  virtual void AddCounts(const Target* target, int64_t example) = 0;
  virtual void Average(const Input&, const Target&, int64_t) {}

  const Params& params_;
  const int depth_;
  const int64_t outputs_, split_after_, most_candidates_;
  float weight_sum_ = 0;
  std::vector<Split> splits_;
};

std::unique_ptr<GrowStats> NewGrowStats(const Params& params, int depth);

}  // namespace stillflow::forest
