// What ensembles of tf.contrib.boosted_trees predict.
//
//   gradient_trees_predict            in[0] a handle; in[1] int64[]: seed of dropout; then lists: float[n, 1] dense
//                                     features; int64[k, 2], float[k], int64[2] sparse ones; int64[k, 2], int64[k],
//                                     int64[2] categories; attrs learner_config, num_dense_float_features,
//                                     num_sparse_float_features, num_sparse_int_features, apply_dropout,
//                                     apply_averaging, center_bias, reduce_dim; out[0] float[n, classes]: logits;
//                                     out[1] float[2, d]: the trees that were dropped and their weights
//   gradient_trees_predict_verbose    out[2] int32[n, trees] as well: the leaf of each tree
//   gradient_trees_partition          in[0] a handle; in[1...] the features; out[0] int32[n]: the leaf of the tree
//   that
//                                     grows, or 0
//
// Every example has one writer, so the bytes do not depend on the threads.
#include <algorithm>

#include "state_kernels/gradient_trees/examples.h"
#include "state_kernels/gradient_trees/learner_config.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

constexpr int64_t kExamplesPerChunk = 64;

// Chunks of examples, each guarded against running out of memory.
template <typename Body>
Status ForEachExample(const KernelCall& call, int64_t count, const Body& body) {
  return ForEachChunk(call, count, kExamplesPerChunk, [&](Range range) {
    return CatchingOutOfMemory([&] {
      for (int64_t i = range.begin; i < range.end; ++i) STILLFLOW_RETURN_IF_ERROR(body(i));
      return Status();
    });
  });
}

enum PredictAttr {
  kLearnerConfig,
  kDense,
  kSparseFloats,
  kSparseInts,
  kApplyDropout,
  kApplyAveraging,
  kCenterBias,
  kReduceDim
};

Status ReadConfig(const KernelCall& call, LearnerConfig* config) {
  const Attr& bytes = call.attrs[kLearnerConfig];
  if (!config->Parse(io::Bytes(static_cast<const char*>(bytes.data), bytes.size))) {
    return STILLFLOW_INVALID_ARGUMENT("Unable to parse learner config config.");
  }
  if (config->num_classes < 2) return STILLFLOW_INVALID_ARGUMENT("Number of classes must be >=2");
  if (call.attrs[kApplyAveraging].i == 0) config->averaging = LearnerConfig::Averaging::kNone;
  if (config->averaging == LearnerConfig::Averaging::kLastTrees && !(config->averaged > 0)) {
    return STILLFLOW_INVALID_ARGUMENT("Average last n trees must be a positive number");
  }
  if (config->averaging == LearnerConfig::Averaging::kLastShare && !(config->averaged > 0 && config->averaged <= 1)) {
    return STILLFLOW_INVALID_ARGUMENT("Average last percent must be in (0,1] interval.");
  }
  return Status();
}

// The trees that count, and their weights.
struct Included {
  std::vector<int32_t> trees;
  std::vector<float> weights;
  std::vector<int32_t> dropped;
};

Status DropTrees(const KernelCall& call, const LearnerConfig& config, const Ensemble& ensemble, Included* included) {
  if (call.attrs[kApplyDropout].i == 0 || !config.has_dropout) return Status();
  int64_t seed = 0;
  if (call.in[1]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("Seed must be a scalar.");
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "seed", &seed));
  std::vector<int32_t> kept;
  if (call.attrs[kCenterBias].i != 0) kept.push_back(0);
  // While trees are trained in batches, the last one is that which grows.
  if (ensemble.growing.is_set) kept.push_back(ensemble.tree_count() - 1);
  return DroppedTrees(static_cast<uint64_t>(seed), config.dropout, kept, ensemble.tree_count(), &included->dropped);
}

// The average of the ensembles that end with each of the last trees: later ones are in fewer of them.
void AverageWeights(const LearnerConfig& config, std::vector<float>* weights) {
  if (config.averaging == LearnerConfig::Averaging::kNone) return;
  const auto count = static_cast<int>(weights->size());
  const double first = config.averaging == LearnerConfig::Averaging::kLastTrees
                           ? static_cast<double>(static_cast<float>(count) - config.averaged)
                           : count * (1.0 - static_cast<double>(config.averaged));
  const int start = static_cast<int>(std::max(0.0, first));
  const int ensembles = count - start;
  for (int i = start; i < count; ++i) {
    float& weight = (*weights)[i];
    weight = weight * static_cast<float>(ensembles - i + start) / static_cast<float>(ensembles);
  }
}

Status Include(const KernelCall& call, const LearnerConfig& config, const Ensemble& ensemble, Included* included) {
  const int32_t count = ensemble.tree_count();
  if (ensemble.weights.size() != ensemble.trees.size()) {
    return STILLFLOW_INVALID_ARGUMENT("The ensemble has %d trees, but weights of %zu", count,
                                      ensemble.weights.size());
  }
  STILLFLOW_RETURN_IF_ERROR(DropTrees(call, config, ensemble, included));
  included->weights = ensemble.weights;
  AverageWeights(config, &included->weights);
  const bool only_finalized = config.growing == LearnerConfig::Growing::kWholeTree;
  for (int32_t i = 0; i < count; ++i) {
    if (std::binary_search(included->dropped.begin(), included->dropped.end(), i)) continue;
    const bool is_bias = call.attrs[kCenterBias].i != 0 && i == 0;
    const bool is_known = i < static_cast<int64_t>(ensemble.metadata.size());
    const bool is_unfinished = is_known && !ensemble.metadata[i].is_finalized;
    if (!only_finalized || is_bias || !is_unfinished) included->trees.push_back(i);
  }
  return Status();
}

Status AddLeaf(const Leaf& leaf, float weight, int64_t logits, float* sums) {
  if (leaf.kind == Leaf::kNone) return STILLFLOW_INVALID_ARGUMENT("Unknown leaf type");
  for (size_t i = 0; i < leaf.value.size(); ++i) {
    const int64_t place = leaf.kind == Leaf::kSparse ? leaf.index[i] : static_cast<int64_t>(i);
    if (place < 0 || place >= logits) {
      return STILLFLOW_INVALID_ARGUMENT("A leaf has a weight of logit %lld, but there are %lld",
                                        static_cast<long long>(place), static_cast<long long>(logits));
    }
    sums[place] += weight * leaf.value[i];
  }
  return Status();
}

Status PutDropped(const KernelCall& call, const Ensemble& ensemble, const std::vector<int32_t>& dropped) {
  const auto count = static_cast<int64_t>(dropped.size());
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, MatrixOf(2, count)));
  auto* out = MutableData<float>(*call.out[1]);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(dropped[i]);
    out[count + i] = ensemble.weights[dropped[i]];
  }
  return Status();
}

template <bool kIsVerbose>
Status Predict(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  LearnerConfig config;
  STILLFLOW_RETURN_IF_ERROR(ReadConfig(call, &config));
  const int64_t logits = int64_t{config.num_classes} - (call.attrs[kReduceDim].i != 0 ? 1 : 0);
  Examples examples;
  STILLFLOW_RETURN_IF_ERROR(
      examples.Set(call, 2, call.attrs[kDense].i, call.attrs[kSparseFloats].i, call.attrs[kSparseInts].i));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  const Ensemble& ensemble = resource->ensemble;
  const int64_t count = examples.count(), trees = ensemble.tree_count();
  Included included;
  STILLFLOW_RETURN_IF_ERROR(Include(call, config, ensemble, &included));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, MatrixOf(count, logits)));
  STILLFLOW_RETURN_IF_ERROR(PutDropped(call, ensemble, included.dropped));
  auto* out = MutableData<float>(*call.out[0]);
  std::fill_n(out, count * logits, 0.0F);
  int32_t* leaves = nullptr;
  if constexpr (kIsVerbose) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt32, MatrixOf(count, trees)));
    leaves = MutableData<int32_t>(*call.out[2]);
    std::fill_n(leaves, count * trees, 0);
  }
  return ForEachExample(call, count, [&](int64_t i) {
    for (const int32_t tree : included.trees) {
      int32_t leaf = 0;
      STILLFLOW_RETURN_IF_ERROR(examples.Traverse(ensemble.trees[tree], i, &leaf));
      if (leaves != nullptr) leaves[i * trees + tree] = leaf;
      STILLFLOW_RETURN_IF_ERROR(
          AddLeaf(ensemble.trees[tree].nodes[leaf].leaf, included.weights[tree], logits, out + i * logits));
    }
    return Status();
  });
}

Status Partition(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  Examples examples;
  STILLFLOW_RETURN_IF_ERROR(examples.Set(call, 1, call.attrs[0].i, call.attrs[1].i, call.attrs[2].i));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  const Ensemble& ensemble = resource->ensemble;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, VectorOf(examples.count())));
  auto* out = MutableData<int32_t>(*call.out[0]);
  const bool grows = !ensemble.trees.empty() && !ensemble.is_last_finalized() && !ensemble.trees.back().nodes.empty();
  if (!grows) {
    std::fill_n(out, examples.count(), 0);
    return Status();
  }
  return ForEachExample(call, examples.count(),
                        [&](int64_t i) { return examples.Traverse(ensemble.trees.back(), i, out + i); });
}

}  // namespace

#define STILLFLOW_FEATURES                                                                        \
  "dense_float_features..., sparse_float_feature_indices..., sparse_float_feature_values..., "    \
  "sparse_float_feature_shapes..., sparse_int_feature_indices..., sparse_int_feature_values..., " \
  "sparse_int_feature_shapes..."
#define STILLFLOW_FEATURE_COUNTS "num_dense_float_features, num_sparse_float_features, num_sparse_int_features"
#define STILLFLOW_PREDICT_ARGUMENTS                                                  \
  "handle, seed, " STILLFLOW_FEATURES " | learner_config, " STILLFLOW_FEATURE_COUNTS \
  ", apply_dropout, apply_averaging, center_bias, reduce_dim"

STILLFLOW_KERNELS(gradient_trees, prediction){
    {"gradient_trees_predict", STILLFLOW_PREDICT_ARGUMENTS, Guarded<Predict<false>>},
    {"gradient_trees_predict_verbose", STILLFLOW_PREDICT_ARGUMENTS, Guarded<Predict<true>>},
    {"gradient_trees_partition", "handle, " STILLFLOW_FEATURES " | " STILLFLOW_FEATURE_COUNTS, Guarded<Partition>},
    {}};

}  // namespace stillflow
