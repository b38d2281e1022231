// What ensembles of boosted trees predict.
//
//   boosted_trees_predict           in[0] a handle; in[1...] int32[n] buckets of each feature; attr logits_dimension;
//                                   out[0] float[n, logits]
//   boosted_trees_training_predict  in[0] a handle; in[1], in[2] int32[n]: the trees and nodes where each example was
//                                   before, a node of -1 for nowhere; in[3...] buckets; out[0] float[n, logits]: what
//                                   has changed since; out[1], out[2] where each is now
//   boosted_trees_debug_outputs     the inputs of predict; out[0] string[n]: a DebugOutput of each, the features that
//                                   were asked and the logits after each answer
//
// Every example has one writer, so the bytes do not depend on the threads.
#include "state_kernels/boosted_trees/ensemble_resource.h"

namespace stillflow {
namespace {

using namespace boosted_trees;  // NOLINT: this file is that namespace's kernels

constexpr int64_t kExamplesPerChunk = 256;

// The buckets of a batch, and the way of each example through the trees.
class Batch {
 public:
  Status Set(const KernelCall& call, int first) {
    for (int i = first; i < call.in_count; ++i) {
      STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[i], 1, "bucketized_features"));
      STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[i], call.in[first]->count, "bucketized_features"));
      features_.push_back(Data<int32_t>(*call.in[i]));
    }
    count_ = features_.empty() ? 0 : call.in[first]->count;
    return Status();
  }
  int64_t count() const { return count_; }

  // The next node of an example on its way through a tree.
  Status Step(const Ensemble& ensemble, int64_t tree, int64_t example, int32_t* node) const {
    const Node* at = ensemble.At(tree, *node);
    const Split& split = at->split;
    if (!at->is_split() || split.feature < 0 || split.feature >= static_cast<int64_t>(features_.size())) {
      return STILLFLOW_INVALID_ARGUMENT("Node %d of tree %lld cannot be split by the %zu features", *node,
                                        static_cast<long long>(tree), features_.size());
    }
    const int32_t bucket = features_[split.feature][example];
    const bool is_left = at->kind == Node::kBucketized ? bucket <= split.threshold : bucket == split.threshold;
    const int32_t next = is_left ? split.left : split.right;
    // Children come after their parents, so that every way ends.
    if (next <= *node || ensemble.At(tree, next) == nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("Node %d of tree %lld has the child %d", *node, static_cast<long long>(tree),
                                        next);
    }
    *node = next;
    return Status();
  }

 private:
  int64_t count_ = 0;
  std::vector<const int32_t*> features_;
};

Status NodeMissing(int64_t tree, int64_t node) {
  return STILLFLOW_INVALID_ARGUMENT("There is no node %lld of tree %lld in the ensemble",
                                    static_cast<long long>(node), static_cast<long long>(tree));
}

// Calls with(values) of a node's values, which must be as many as there are logits.
template <typename With>
Status WithValues(const std::vector<float>& values, int64_t logits, const With& with) {
  if (static_cast<int64_t>(values.size()) != logits) {
    return STILLFLOW_INVALID_ARGUMENT("A node has %zu values, but there are %lld logits", values.size(),
                                      static_cast<long long>(logits));
  }
  with(values);
  return Status();
}

// Goes on from a node of a tree through all trees, and adds the weighted values of their leaves to `sums`; `start` is
// added to the value of the first.
Status Walk(const Ensemble& ensemble, const Batch& batch, int64_t example, int64_t tree, int32_t* node,
            std::vector<float>* start, float* sums) {
  const auto logits = static_cast<int64_t>(start->size());
  for (const int64_t last = ensemble.tree_count() - 1;;) {
    const Node* at = ensemble.At(tree, *node);
    if (at == nullptr) return NodeMissing(tree, *node);
    if (at->kind != Node::kLeaf) {
      STILLFLOW_RETURN_IF_ERROR(batch.Step(ensemble, tree, example, node));
      continue;
    }
    const float weight = ensemble.Weight(tree);
    STILLFLOW_RETURN_IF_ERROR(WithValues(at->leaf.Values(), logits, [&](const std::vector<float>& values) {
      for (int64_t j = 0; j < logits; ++j) {
        sums[j] += weight * ((*start)[j] + values[j]);
        (*start)[j] = 0;
      }
    }));
    if (tree == last) return Status();
    ++tree;
    *node = 0;
  }
}

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

Status CheckLogits(int64_t logits) {
  if (logits >= 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("logits_dimension must be at least 1, but is %lld",
                                    static_cast<long long>(logits));
}

Status Predict(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const int64_t logits = call.attrs[0].i;
  STILLFLOW_RETURN_IF_ERROR(CheckLogits(logits));
  Batch batch;
  STILLFLOW_RETURN_IF_ERROR(batch.Set(call, 1));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  const Ensemble& ensemble = resource->ensemble;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, MatrixOf(batch.count(), logits)));
  auto* out = MutableData<float>(*call.out[0]);
  std::fill_n(out, batch.count() * logits, 0.0F);
  if (ensemble.trees.empty()) return Status();
  return ForEachExample(call, batch.count(), [&](int64_t i) {
    std::vector<float> start(logits);
    int32_t node = 0;
    return Walk(ensemble, batch, i, 0, &node, &start, out + i * logits);
  });
}

// An example that was at a node before: where that node is now that its tree was pruned, and by what its cached value
// differs from the ensemble's.
Status Resume(const Ensemble& ensemble, int64_t tree, int32_t* node, std::vector<float>* start) {
  if (ensemble.At(tree, 0) == nullptr) return NodeMissing(tree, *node);
  const auto logits = static_cast<int64_t>(start->size());
  if (tree < static_cast<int64_t>(ensemble.metadata.size())) {
    const TreeMetadata& metadata = ensemble.metadata[tree];
    if (metadata.is_finalized && !metadata.pruned.empty()) {
      if (*node >= static_cast<int64_t>(metadata.pruned.size())) return NodeMissing(tree, *node);
      const PrunedNode& pruned = metadata.pruned[*node];
      *node = pruned.new_node;
      STILLFLOW_RETURN_IF_ERROR(
          WithValues(pruned.change, logits, [&](const std::vector<float>& change) { *start = change; }));
    }
  }
  const Node* at = ensemble.At(tree, *node);
  if (at == nullptr) return NodeMissing(tree, *node);
  const std::vector<float> values = at->Values();
  if (values.empty()) return Status();
  return WithValues(values, logits, [&](const std::vector<float>&) {
    for (int64_t j = 0; j < logits; ++j) (*start)[j] -= values[j];
  });
}

Status TrainingPredict(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const int64_t logits = call.attrs[0].i;
  STILLFLOW_RETURN_IF_ERROR(CheckLogits(logits));
  Batch batch;
  STILLFLOW_RETURN_IF_ERROR(batch.Set(call, 3));
  const int64_t count = batch.count();
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[1], count, "cached_tree_ids"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[2], count, "cached_node_ids"));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  const Ensemble& ensemble = resource->ensemble;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, MatrixOf(count, logits)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt32, VectorOf(count)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt32, VectorOf(count)));
  auto* out = MutableData<float>(*call.out[0]);
  auto* trees = MutableData<int32_t>(*call.out[1]);
  auto* nodes = MutableData<int32_t>(*call.out[2]);
  const auto* cached_trees = Data<int32_t>(*call.in[1]);
  const auto* cached_nodes = Data<int32_t>(*call.in[2]);
  std::fill_n(out, count * logits, 0.0F);
  if (ensemble.trees.empty()) {
    std::fill_n(nodes, count, 0);
    std::copy_n(cached_trees, count, trees);
    return Status();
  }
  std::fill_n(trees, count, ensemble.tree_count() - 1);
  return ForEachExample(call, count, [&](int64_t i) {
    std::vector<float> start(logits);
    int32_t node = cached_nodes[i];
    if (node >= 0) {
      STILLFLOW_RETURN_IF_ERROR(Resume(ensemble, cached_trees[i], &node, &start));
    } else {
      node = 0;
    }
    STILLFLOW_RETURN_IF_ERROR(Walk(ensemble, batch, i, cached_trees[i], &node, &start, out + i * logits));
    nodes[i] = node;
    return Status();
  });
}

// One DebugOutput: the features that were asked on the way, and the logit before and after each answer.
Status Explain(const Ensemble& ensemble, const Batch& batch, int64_t example, std::string* bytes) {
  std::string features, path;
  const auto logit_of = [&](int64_t tree, int32_t node, float* logit) {
    const Node* at = ensemble.At(tree, node);
    if (at == nullptr) return NodeMissing(tree, node);
    if (at->is_split() && !at->has_original_leaf) {  // a bias of 0 is not kept
      *logit = 0;
      return Status();
    }
    return WithValues(at->Values(), 1,
                      [&](const std::vector<float>& values) { *logit = ensemble.Weight(tree) * values[0]; });
  };
  const auto add = [&](float logit) { path.append(reinterpret_cast<const char*>(&logit), sizeof logit); };
  float logit = 0, past = 0;
  STILLFLOW_RETURN_IF_ERROR(logit_of(0, 0, &logit));
  add(logit);
  int32_t node = 0;
  for (int64_t tree = 0; tree < ensemble.tree_count();) {
    const Node* at = ensemble.At(tree, node);
    if (at == nullptr) return NodeMissing(tree, node);
    if (at->kind == Node::kLeaf) {
      if (tree == 0 || node > 0) past += logit;
      ++tree;
      node = 0;
      continue;
    }
    const int32_t feature = at->split.feature;
    STILLFLOW_RETURN_IF_ERROR(batch.Step(ensemble, tree, example, &node));
    io::AppendVarint(static_cast<uint64_t>(static_cast<int64_t>(feature)), &features);
    STILLFLOW_RETURN_IF_ERROR(logit_of(tree, node, &logit));
    add(logit + past);
  }
  io::MessageWriter writer(bytes);
  writer.FieldUnlessEmpty(1, features);
  writer.FieldUnlessEmpty(2, path);
  return Status();
}

Status DebugOutputs(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  if (call.attrs[0].i != 1)
    return STILLFLOW_INVALID_ARGUMENT("Currently only one dimensional outputs are supported.");
  Batch batch;
  STILLFLOW_RETURN_IF_ERROR(batch.Set(call, 1));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, VectorOf(batch.count())));
  return ForEachExample(call, batch.count(), [&](int64_t i) {
    std::string bytes;
    STILLFLOW_RETURN_IF_ERROR(Explain(resource->ensemble, batch, i, &bytes));
    const bool is_set = SetString(call, call.out[0], i, bytes.data(), static_cast<int64_t>(bytes.size()));
    return is_set ? Status() : OutOfScratch();
  });
}

}  // namespace

STILLFLOW_KERNELS(boosted_trees, prediction){
    {"boosted_trees_predict", "handle, bucketized_features... | logits_dimension", Guarded<Predict>},
    {"boosted_trees_training_predict",
     "handle, cached_tree_ids, cached_node_ids, bucketized_features... | logits_dimension", Guarded<TrainingPredict>},
    {"boosted_trees_debug_outputs", "handle, bucketized_features... | logits_dimension", Guarded<DebugOutputs>},
    {}};

}  // namespace stillflow
