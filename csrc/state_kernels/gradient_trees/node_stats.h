// node_stats.h: sums of gradients and hessians of a node, and the weight and the gain that they give it.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "state_kernels/boosted_trees/leaf_weight.h"
#include "state_kernels/gradient_trees/ensemble_resource.h"

namespace stillflow::gradient_trees {

// How classes are told apart: LearnerConfig.MultiClassStrategy.
enum class Strategy { kTreePerClass = 1, kFullHessian = 2, kDiagonalHessian = 3 };

enum class WeakLearner { kNormal = 0, kOblivious = 1 };

struct GradientStats {
  void Add(const GradientStats& other);
  void Subtract(const GradientStats& other);
  void Scale(float factor);
  // Whether both are as good as zero: their squares add up to less than 1e-12.
  bool IsAlmostZero() const;

  std::vector<float> gradient;  // empty before something is added
  std::vector<float> hessian;
};

inline GradientStats operator-(GradientStats a, const GradientStats& b) {
  a.Subtract(b);
  return a;
}

struct NodeStats {
  std::vector<float> weight;  // none where a leaf of several classes would be too light
  float gain = 0;
};

// What all ops that look for splits read: the rows of an accumulator, and how nodes are weighed.
class SplitInputs {
 public:
  // Reads num_minibatches, partition_ids, ids, gradients and hessians from in[0] on, and from in[at] on class_id,
  // feature_column_group_id, a bias_feature_id if `has_bias`, l1, l2, tree complexity, the least weight of a node and
  // the strategy. Partitions must be sorted.
  Status Set(const KernelCall& call, int at, bool has_bias);

  int64_t rows() const { return partitions_->count; }
  int32_t partition(int64_t row) const { return Data<int32_t>(*partitions_)[row]; }
  int64_t id(int64_t row) const { return Data<int64_t>(*ids_)[2 * row]; }
  int64_t dimension(int64_t row) const { return Data<int64_t>(*ids_)[2 * row + 1]; }
  // The row's sums, divided by the number of batches.
  GradientStats At(int64_t row) const;
  // What the rows [begin, end) add up to, divided by it.
  GradientStats Total(int64_t begin, int64_t end) const;
  NodeStats Weigh(const GradientStats& stats) const;
  Leaf LeafOf(const NodeStats& stats) const;
  // Where partitions begin, and the end of the last.
  std::vector<int64_t> PartitionBounds() const;

  int32_t column() const { return column_; }
  int64_t bias_id() const { return bias_id_; }
  float complexity() const { return complexity_; }

 private:
  Status CheckShapes() const;
  GradientStats Raw(int64_t row) const;

  const Tensor* partitions_ = nullptr;
  const Tensor* ids_ = nullptr;
  const Tensor* gradients_ = nullptr;
  const Tensor* hessians_ = nullptr;
  int64_t width_ = 1;
  int64_t hessian_width_ = 1;
  float ratio_ = 1;
  int32_t class_id_ = -1;
  int32_t column_ = 0;
  int64_t bias_id_ = 0;
  float l1_ = 0;
  float l2_ = 0;
  float complexity_ = 0;
  float least_weight_ = 0;
  Strategy strategy_ = Strategy::kTreePerClass;
};

// The weak learner that in[in] names.
Status ReadWeakLearner(const KernelCall& call, int in, WeakLearner* learner);

// One split of a partition; those of oblivious trees belong to the whole layer.
struct FoundSplit {
  float gain = 0;
  std::string info;
};

// Outputs int32[p] partitions, float[s] gains and string[s] splits.
Status PutSplits(const KernelCall& call, const std::vector<int32_t>& partitions,
                 const std::vector<FoundSplit>& splits);

// The best split of a node, or of a layer, so far.
struct BestSplit {
  // Takes the split if it gains more.
  bool Offer(const NodeStats& left, const NodeStats& right) {
    const float gain = left.gain + right.gain;
    if (!(gain > this->gain)) return false;
    this->gain = gain;
    this->left = left;
    this->right = right;
    return true;
  }

  float gain = std::numeric_limits<float>::lowest();
  NodeStats left;
  NodeStats right;
};

// Looks for the one id by which all nodes of a layer are split best. Of each partition the rows [begin, end) have
// ascending ids; to the left goes what has the id, or, if sums are cumulative, what has none above it.
FoundSplit SplitLayer(const SplitInputs& inputs, const std::vector<std::pair<int64_t, int64_t>>& rows,
                      const std::vector<GradientStats>& totals, const std::vector<int32_t>& partitions,
                      bool is_cumulative, ObliviousSplitInfo* info, int64_t* best_id);

}  // namespace stillflow::gradient_trees
