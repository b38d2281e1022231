// Where categories split nodes best: one of them goes to the left.
//
//   categorical_equality_splits   in[0...4] as inequality_splits.cc has them, int64[n, 2] categories and dimensions;
//                                 in[5], in[6] int32[]: class, or -1, and column; in[7] int64[]: the category that
//                                 comes first in a partition, with all of its examples; in[8...11] float[]: l1, l2,
//                                 tree complexity, least weight of a node; in[12] int32[]: strategy; in[13] int32[]:
//                                 weak learner; out[0] int32[p]: partitions; out[1] float[s]: gains; out[2]
//                                 string[s]: a SplitInfo of each, or one ObliviousSplitInfo
#include "state_kernels/gradient_trees/node_stats.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

FoundSplit SplitNode(const SplitInputs& inputs, const GradientStats& root, int64_t begin, int64_t end) {
  BestSplit best;
  int64_t best_row = begin;
  for (int64_t i = begin; i < end; ++i) {
    const GradientStats left = inputs.At(i);
    if (best.Offer(inputs.Weigh(left), inputs.Weigh(root - left))) best_row = i;
  }
  SplitInfo info;
  info.node.kind = Node::kCategorical;
  info.node.column = inputs.column();
  info.node.ids.push_back(inputs.id(best_row));
  info.left = inputs.LeafOf(best.left);
  info.right = inputs.LeafOf(best.right);
  return {best.gain - inputs.Weigh(root).gain - inputs.complexity(), info.Serialize()};
}

Status EqualitySplits(const KernelCall& call) {
  WeakLearner learner = WeakLearner::kNormal;
  STILLFLOW_RETURN_IF_ERROR(ReadWeakLearner(call, 13, &learner));
  SplitInputs inputs;
  STILLFLOW_RETURN_IF_ERROR(inputs.Set(call, 5, true));
  const std::vector<int64_t> bounds = inputs.PartitionBounds();
  std::vector<int32_t> partitions;
  std::vector<std::pair<int64_t, int64_t>> rows;
  std::vector<GradientStats> totals;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    if (bounds[i + 1] - bounds[i] < 2) continue;  // no example there has a category
    if (inputs.id(bounds[i]) != inputs.bias_id()) return STILLFLOW_INVALID_ARGUMENT("Bias feature ID missing.");
    partitions.push_back(inputs.partition(bounds[i]));
    rows.emplace_back(bounds[i] + 1, bounds[i + 1]);
    totals.push_back(inputs.At(bounds[i]));
  }
  std::vector<FoundSplit> found;
  if (learner == WeakLearner::kNormal) {
    for (size_t i = 0; i < rows.size(); ++i) {
      found.push_back(SplitNode(inputs, totals[i], rows[i].first, rows[i].second));
    }
  } else if (!rows.empty()) {
    ObliviousSplitInfo info;
    int64_t category = 0;
    found.push_back(SplitLayer(inputs, rows, totals, partitions, false, &info, &category));
    info.node.kind = Node::kObliviousCategorical;
    info.node.column = inputs.column();
    info.node.ids.push_back(category);
    found[0].info = info.Serialize();
  }
  return PutSplits(call, partitions, found);
}

}  // namespace

STILLFLOW_KERNELS(gradient_trees, equality_splits){
    {"categorical_equality_splits",
     "num_minibatches, partition_ids, feature_ids, gradients, hessians, class_id, feature_column_group_id, "
     "bias_feature_id, l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight, "
     "multiclass_strategy, weak_learner_type",
     Guarded<EqualitySplits>},
    {}};

}  // namespace stillflow
