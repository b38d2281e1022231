// Where numbers split nodes best: at boundaries of their buckets.
//
//   dense_inequality_splits   in[0] int64[]: how many batches were summed; in[1] int32[n] partitions, in ascending
//                             order; in[2] int64[n, 2] buckets and dimensions, in ascending order within a partition;
//                             in[3], in[4] float[n, ...] gradients and hessians; in[5] float[k] boundaries;
//                             in[6], in[7] int32[]: class, or -1, and column; in[8...11] float[]: l1, l2, tree
//                             complexity, least weight of a node; in[12] int32[]: strategy; in[13] int32[]: weak
//                             learner; out[0] int32[p]: partitions; out[1] float[s]: gains; out[2] string[s]: a
//                             SplitInfo of each, or one ObliviousSplitInfo
//   sparse_inequality_splits  the same, with in[8] int64[]: the bucket of dimension 0 that comes first in a
//   partition,
//                             with all of its examples; a split also says where examples without a value go
#include "state_kernels/gradient_trees/node_stats.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

// The boundary of a bucket.
Status BoundaryOf(const Tensor& boundaries, int64_t bucket, float* value) {
  if (bucket < 0 || bucket >= boundaries.count) {
    return STILLFLOW_INVALID_ARGUMENT("bucket %lld is not among %lld buckets", static_cast<long long>(bucket),
                                      static_cast<long long>(boundaries.count));
  }
  *value = Data<float>(boundaries)[bucket];
  return Status();
}

// ---- Dense features -----------------------------------------------------------------------------------------------

Status SplitDense(const SplitInputs& inputs, const Tensor& boundaries, int64_t begin, int64_t end,
                  FoundSplit* found) {
  const GradientStats total = inputs.Total(begin, end);
  BestSplit best;
  int64_t best_row = 0;
  GradientStats left;
  for (int64_t i = begin; i < end; ++i) {
    left.Add(inputs.At(i));
    if (best.Offer(inputs.Weigh(left), inputs.Weigh(total - left))) best_row = i;
  }
  SplitInfo info;
  info.node.kind = Node::kDense;
  info.node.column = inputs.column();
  STILLFLOW_RETURN_IF_ERROR(BoundaryOf(boundaries, inputs.id(best_row), &info.node.threshold));
  info.left = inputs.LeafOf(best.left);
  info.right = inputs.LeafOf(best.right);
  *found = {best.gain - inputs.Weigh(total).gain - inputs.complexity(), info.Serialize()};
  return Status();
}

Status SplitDenseLayer(const SplitInputs& inputs, const Tensor& boundaries, const std::vector<int64_t>& bounds,
                       const std::vector<int32_t>& partitions, FoundSplit* found) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  std::vector<GradientStats> totals;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    rows.emplace_back(bounds[i], bounds[i + 1]);
    totals.push_back(inputs.Total(bounds[i], bounds[i + 1]));
  }
  ObliviousSplitInfo info;
  int64_t bucket = 0;
  *found = SplitLayer(inputs, rows, totals, partitions, true, &info, &bucket);
  info.node.kind = Node::kObliviousDense;
  info.node.column = inputs.column();
  STILLFLOW_RETURN_IF_ERROR(BoundaryOf(boundaries, bucket, &info.node.threshold));
  found->info = info.Serialize();
  return Status();
}

Status DenseSplits(const KernelCall& call) {
  const Tensor& boundaries = *call.in[5];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(boundaries, 1, "bucket_boundaries"));
  WeakLearner learner = WeakLearner::kNormal;
  STILLFLOW_RETURN_IF_ERROR(ReadWeakLearner(call, 13, &learner));
  SplitInputs inputs;
  STILLFLOW_RETURN_IF_ERROR(inputs.Set(call, 6, false));
  // A handler that is not active has no boundaries.
  if (boundaries.count == 0 || inputs.rows() == 0) return PutSplits(call, {}, {});
  const std::vector<int64_t> bounds = inputs.PartitionBounds();
  std::vector<int32_t> partitions;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) partitions.push_back(inputs.partition(bounds[i]));
  std::vector<FoundSplit> found(learner == WeakLearner::kOblivious ? 1 : partitions.size());
  if (learner == WeakLearner::kOblivious) {
    STILLFLOW_RETURN_IF_ERROR(SplitDenseLayer(inputs, boundaries, bounds, partitions, found.data()));
  } else {
    for (size_t i = 0; i < partitions.size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(SplitDense(inputs, boundaries, bounds[i], bounds[i + 1], &found[i]));
    }
  }
  return PutSplits(call, partitions, found);
}

// ---- Sparse features ----------------------------------------------------------------------------------------------

struct SparseBest {
  BestSplit split;
  int64_t row = 0;
  bool is_default_right = false;
};

// Tries the buckets of one dimension, the rows [begin, end). Examples without a value go to the left, and, unless all
// have one, also to the right.
Status TryDimension(const SplitInputs& inputs, const GradientStats& root, int64_t begin, int64_t end,
                    SparseBest* best) {
  const GradientStats present = inputs.Total(begin, end);
  const bool is_full = (root - present).IsAlmostZero();
  GradientStats left;
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin && inputs.id(i - 1) >= inputs.id(i))
      return STILLFLOW_INVALID_ARGUMENT("Bucket ids must be sorted.");
    left.Add(inputs.At(i));
    const GradientStats right = present - left;
    if (best->split.Offer(inputs.Weigh(root - right), inputs.Weigh(right))) {
      best->row = i;
      best->is_default_right = false;
    }
    if (!is_full && best->split.Offer(inputs.Weigh(left), inputs.Weigh(root - left))) {
      best->row = i;
      best->is_default_right = true;
    }
  }
  return Status();
}

Status SplitSparse(const SplitInputs& inputs, const Tensor& boundaries, int64_t begin, int64_t end,
                   FoundSplit* found) {
  if (inputs.id(begin) != inputs.bias_id()) return STILLFLOW_INVALID_ARGUMENT("Bias feature ID missing.");
  if (inputs.dimension(begin) != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Bias feature ID must be with dimension 0.");
  }
  const GradientStats root = inputs.At(begin);
  SparseBest best;
  for (int64_t first = begin + 1, last; first < end; first = last) {
    for (last = first + 1; last < end && inputs.dimension(last) == inputs.dimension(first);) ++last;
    STILLFLOW_RETURN_IF_ERROR(TryDimension(inputs, root, first, last, &best));
  }
  SplitInfo info;
  info.node.kind = best.is_default_right ? Node::kSparseDefaultRight : Node::kSparseDefaultLeft;
  info.node.column = inputs.column();
  info.node.dimension = static_cast<int32_t>(inputs.dimension(best.row));
  STILLFLOW_RETURN_IF_ERROR(BoundaryOf(boundaries, inputs.id(best.row), &info.node.threshold));
  info.left = inputs.LeafOf(best.split.left);
  info.right = inputs.LeafOf(best.split.right);
  *found = {best.split.gain - inputs.Weigh(root).gain - inputs.complexity(), info.Serialize()};
  return Status();
}

Status SparseSplits(const KernelCall& call) {
  const Tensor& boundaries = *call.in[5];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(boundaries, 1, "bucket_boundaries"));
  SplitInputs inputs;
  STILLFLOW_RETURN_IF_ERROR(inputs.Set(call, 6, true));
  const std::vector<int64_t> bounds = inputs.PartitionBounds();
  std::vector<int32_t> partitions;
  std::vector<FoundSplit> found;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    if (bounds[i + 1] - bounds[i] < 2) continue;  // no example there has a value
    partitions.push_back(inputs.partition(bounds[i]));
    STILLFLOW_RETURN_IF_ERROR(SplitSparse(inputs, boundaries, bounds[i], bounds[i + 1], &found.emplace_back()));
  }
  return PutSplits(call, partitions, found);
}

}  // namespace

STILLFLOW_KERNELS(gradient_trees, inequality_splits){
    {"dense_inequality_splits",
     "num_minibatches, partition_ids, bucket_ids, gradients, hessians, bucket_boundaries, class_id, "
     "feature_column_group_id, l1_regularization, l2_regularization, tree_complexity_regularization, "
     "min_node_weight, multiclass_strategy, weak_learner_type",
     Guarded<DenseSplits>},
    {"sparse_inequality_splits",
     "num_minibatches, partition_ids, bucket_ids, gradients, hessians, bucket_boundaries, class_id, "
     "feature_column_group_id, bias_feature_id, l1_regularization, l2_regularization, "
     "tree_complexity_regularization, min_node_weight, multiclass_strategy",
     Guarded<SparseSplits>},
    {}};

}  // namespace stillflow
