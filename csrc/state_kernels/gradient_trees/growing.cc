// How ensembles of tf.contrib.boosted_trees grow.
//
//   center_gradient_trees  in[0] a handle; in[1], in[2] int64[]: its stamp, and the next one; in[3] float[k]: what
//   the
//                          bias changes by; attr centering_epsilon; out[0] bool[]: whether it still moves
//   grow_gradient_trees    in[0...2] the same; in[3] float[]: learning rate; in[4] int64[]: seed of dropout; in[5]
//                          int32[]: greatest depth; in[6] int32[]: weak learner; then lists of n: int32[k]
//                          partitions, float[k] gains, string[k] splits; attrs learner_config, num_handlers,
//                          center_bias
#include <cmath>
#include <map>

#include "state_kernels/gradient_trees/ensemble_resource.h"
#include "state_kernels/gradient_trees/learner_config.h"
#include "state_kernels/gradient_trees/node_stats.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

Status CenterBias(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const Tensor& changes = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(changes, 1, "delta_updates"));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  Ensemble& ensemble = resource->ensemble;
  const bool is_bias = ensemble.tree_count() == 1 && ensemble.trees[0].nodes.size() == 1 &&
                       ensemble.trees[0].nodes[0].kind == Node::kLeaf && ensemble.metadata.size() == 1;
  if (!ensemble.trees.empty() && !is_bias) {
    return STILLFLOW_INVALID_ARGUMENT("Unable to center bias on an already grown ensemble");
  }
  if (is_bias) {
    STILLFLOW_RETURN_IF_ERROR(
        CheckCount(changes, static_cast<int64_t>(ensemble.trees[0].nodes[0].leaf.value.size()), "delta_updates"));
  }
  STILLFLOW_RETURN_IF_ERROR(Restamp(call, 1, resource.get()));
  if (!is_bias) {
    ensemble.CountAttempt();
    Node& root = ensemble.AddTree(1)->nodes.emplace_back();
    root.kind = Node::kLeaf;
    root.leaf.kind = Leaf::kVector;
    root.leaf.value.resize(changes.count);
  }
  std::vector<float>& bias = ensemble.trees[0].nodes[0].leaf.value;
  float moved = 0;
  for (int64_t i = 0; i < changes.count; ++i) {
    const float change = Data<float>(changes)[i];
    bias[i] += change;
    moved += std::abs(change);
  }
  const bool is_moving = moved > static_cast<float>(call.attrs[0].f);
  if (!is_moving) ensemble.metadata.back().is_finalized = true;
  return SetScalar(call, 0, is_moving);
}

// ---- Choosing splits ----------------------------------------------------------------------------------------------

template <typename Info>
struct Candidate {
  int handler = 0;
  float gain = 0;
  Info info;
};

// Of equal gains that of the simpler kind of node is better, then that of the higher handler.
template <typename Info>
bool IsBetter(const Candidate<Info>& a, const Candidate<Info>& b) {
  if (a.gain != b.gain) return a.gain > b.gain;
  const Node::Kind kind = a.info.node.kind, other = b.info.node.kind;
  return kind == other ? a.handler > b.handler : kind < other;
}

// The lists of candidates among the inputs.
class Candidates {
 public:
  explicit Candidates(const KernelCall& call) : call_(call), handlers_(static_cast<int>(call.attrs[1].i)) {}

  int handlers() const { return handlers_; }
  const Tensor& partitions(int handler) const { return *call_.in[kFirst + handler]; }
  const Tensor& gains(int handler) const { return *call_.in[kFirst + handlers_ + handler]; }
  const Tensor& splits(int handler) const { return *call_.in[kFirst + 2 * handlers_ + handler]; }

 private:
  static constexpr int kFirst = 7;

  const KernelCall& call_;
  int handlers_;
};

using NormalCandidate = Candidate<SplitInfo>;
using LayerCandidate = Candidate<ObliviousSplitInfo>;

// The best split of each partition. One that leaves a side without a weight splits nothing.
Status BestSplits(const Candidates& candidates, bool prunes_before, std::map<int32_t, NormalCandidate>* best) {
  for (int h = 0; h < candidates.handlers(); ++h) {
    const Tensor& partitions = candidates.partitions(h);
    const int64_t count = partitions.count;
    if (candidates.gains(h).count != count) {
      return STILLFLOW_INVALID_ARGUMENT("Inconsistent partition Ids and gains tensors: %lld != %lld",
                                        static_cast<long long>(count),
                                        static_cast<long long>(candidates.gains(h).count));
    }
    if (candidates.splits(h).count != count) {
      return STILLFLOW_INVALID_ARGUMENT("Inconsistent partition Ids and splits tensors: %lld != %lld",
                                        static_cast<long long>(count),
                                        static_cast<long long>(candidates.splits(h).count));
    }
    for (int64_t i = 0; i < count; ++i) {
      NormalCandidate candidate{h, Data<float>(candidates.gains(h))[i], {}};
      if (!candidate.info.Parse(StringAt(candidates.splits(h), i))) {
        return STILLFLOW_INVALID_ARGUMENT("Unable to parse split info.");
      }
      const SplitInfo& info = candidate.info;
      if (info.node.kind == Node::kNone || (prunes_before && candidate.gain < 0)) continue;
      if (info.left.kind == Leaf::kNone || info.right.kind == Leaf::kNone) continue;
      const auto [found, is_new] = best->try_emplace(Data<int32_t>(partitions)[i], candidate);
      if (!is_new && IsBetter(candidate, found->second)) found->second = std::move(candidate);
    }
  }
  return Status();
}

// The best split of a layer, if there is one: `is_found`.
Status BestLayerSplit(const Candidates& candidates, bool prunes_before, LayerCandidate* best, bool* is_found) {
  for (int h = 0; h < candidates.handlers(); ++h) {
    if (candidates.gains(h).count != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Gains size must be one for oblivious weak learner: %lld != 1",
                                        static_cast<long long>(candidates.gains(h).count));
    }
    if (candidates.splits(h).count != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Splits size must be one for oblivious weak learner: %lld != 1",
                                        static_cast<long long>(candidates.splits(h).count));
    }
    LayerCandidate candidate{h, Data<float>(candidates.gains(h))[0], {}};
    if (!candidate.info.Parse(StringAt(candidates.splits(h), 0))) {
      return STILLFLOW_INVALID_ARGUMENT("Unable to parse oblivious split info.");
    }
    const ObliviousSplitInfo& info = candidate.info;
    if (info.children.size() != 2 * info.parents.size() || (!info.children.empty() && !info.node.is_oblivious())) {
      return STILLFLOW_INVALID_ARGUMENT("The oblivious split should have two children of each of its %zu parents",
                                        info.parents.size());
    }
    bool splits_something = false;
    for (size_t i = 0; i < info.children.size(); i += 2) {
      splits_something |= info.children[i].kind != Leaf::kNone && info.children[i + 1].kind != Leaf::kNone;
    }
    if (!splits_something || (prunes_before && candidate.gain < 0)) continue;
    if (!*is_found || IsBetter(candidate, *best)) *best = std::move(candidate);
    *is_found = true;
  }
  return Status();
}

// ---- Growing ------------------------------------------------------------------------------------------------------

// Adds the weights of the leaf that is split to those of a child, unless whole trees grow at a time.
Status MergeLeaf(const LearnerConfig& config, const Leaf& source, Leaf* child) {
  if (config.growing == LearnerConfig::Growing::kWholeTree) return Status();
  if (child->kind == Leaf::kNone) {
    *child = source;
    return Status();
  }
  if (source.value.empty()) return Status();
  const bool is_vector = source.kind == Leaf::kVector;
  if (source.kind != child->kind || (is_vector && source.value.size() != child->value.size())) {
    return STILLFLOW_INVALID_ARGUMENT("A leaf of %zu weights cannot be split into leaves of %zu", source.value.size(),
                                      child->value.size());
  }
  if (is_vector) {
    for (size_t i = 0; i < source.value.size(); ++i) child->value[i] += source.value[i];
    return Status();
  }
  std::map<int32_t, float> sums;
  for (size_t i = 0; i < child->value.size(); ++i) sums[child->index[i]] = child->value[i];
  for (size_t i = 0; i < source.value.size(); ++i) sums[source.index[i]] += source.value[i];
  child->index.clear();
  child->value.clear();
  for (const auto& [index, value] : sums) {
    child->index.push_back(index);
    child->value.push_back(value);
  }
  return Status();
}

Status SplitNode(const LearnerConfig& config, int32_t id, NormalCandidate* split, Tree* tree) {
  if (id < 0 || id >= static_cast<int64_t>(tree->nodes.size()) || tree->nodes[id].kind != Node::kLeaf) {
    return STILLFLOW_INVALID_ARGUMENT("Node %d is not a leaf of the tree that grows, which has %zu nodes", id,
                                      tree->nodes.size());
  }
  if (!split->info.node.is_binary_split()) {
    return STILLFLOW_INVALID_ARGUMENT("Node %d cannot be split by a node of kind %d", id, split->info.node.kind);
  }
  const Leaf leaf = tree->nodes[id].leaf;
  STILLFLOW_RETURN_IF_ERROR(MergeLeaf(config, leaf, &split->info.left));
  STILLFLOW_RETURN_IF_ERROR(MergeLeaf(config, leaf, &split->info.right));
  const auto left = static_cast<int32_t>(tree->nodes.size());
  tree->nodes.resize(left + 2);
  Node& node = tree->nodes[id] = std::move(split->info.node);
  node.left = left;
  node.right = left + 1;
  node.has_metadata = true;
  node.gain = split->gain;
  if (config.pruning == LearnerConfig::Pruning::kAfter) {
    node.has_original_leaf = true;
    node.original_leaf = leaf;
  }
  tree->nodes[left].kind = tree->nodes[left + 1].kind = Node::kLeaf;
  tree->nodes[left].leaf = std::move(split->info.left);
  tree->nodes[left + 1].leaf = std::move(split->info.right);
  return Status();
}

// An oblivious tree is a list of splits, one of each layer, and then the leaves of the last layer, in the order of
// the answers.
Status SplitLayerOf(const LearnerConfig& config, LayerCandidate* split, Tree* tree) {
  ObliviousSplitInfo& info = split->info;
  size_t depth = 0;
  while (depth < tree->nodes.size() && tree->nodes[depth].kind != Node::kLeaf) ++depth;
  const size_t leaves = tree->nodes.size() - depth;
  if (depth > 30 || leaves != size_t{1} << depth || info.parents.size() > leaves) {
    return STILLFLOW_INVALID_ARGUMENT("%zu splits do not fit an oblivious tree of depth %zu with %zu leaves",
                                      info.parents.size(), depth, leaves);
  }
  std::vector<Leaf> children;
  size_t next = 0;
  for (size_t i = 0; i < leaves; ++i) {
    const Leaf& leaf = tree->nodes[depth + i].leaf;
    const bool is_split = next < info.parents.size() && info.parents[next] == static_cast<int64_t>(depth + i);
    for (int side = 0; side < 2; ++side) {
      Leaf child = is_split ? std::move(info.children[2 * next + side]) : leaf;
      if (is_split) STILLFLOW_RETURN_IF_ERROR(MergeLeaf(config, leaf, &child));
      children.push_back(std::move(child));
    }
    next += is_split;
  }
  if (next != info.parents.size()) {
    return STILLFLOW_INVALID_ARGUMENT("%d is not the next leaf of the layer to split", info.parents[next]);
  }
  Node node = std::move(info.node);
  node.has_metadata = true;
  node.gain = split->gain;
  for (size_t i = depth; i < tree->nodes.size(); ++i) {
    node.original_oblivious_leaves.push_back(std::move(tree->nodes[i].leaf));
  }
  tree->nodes.resize(depth);
  tree->nodes.push_back(std::move(node));
  for (Leaf& child : children) {
    tree->nodes.emplace_back().kind = Node::kLeaf;
    tree->nodes.back().leaf = std::move(child);
  }
  return Status();
}

// A split with a negative gain whose children are leaves becomes a leaf again; then nodes are renumbered by layers. A
// tree of which nothing is left has no nodes. Children come after their parents, so that one pass from the end does
// what recursion would.
Status Prune(Tree* tree) {
  std::vector<Node>& nodes = tree->nodes;
  const auto count = static_cast<int32_t>(nodes.size());
  for (int32_t i = count - 1; i >= 0; --i) {
    Node& node = nodes[i];
    if (!node.is_binary_split()) continue;
    if (std::min(node.left, node.right) <= i || std::max(node.left, node.right) >= count) {
      return STILLFLOW_INVALID_ARGUMENT("Node %d of a tree of %d nodes has the children %d and %d", i, count,
                                        node.left, node.right);
    }
    const bool is_last = nodes[node.left].kind == Node::kLeaf && nodes[node.right].kind == Node::kLeaf;
    if (!(node.gain < 0) || !is_last) {
      node.has_metadata = true;
      node.has_original_leaf = false;
      continue;
    }
    Node leaf;
    leaf.kind = Node::kLeaf;
    leaf.leaf = std::move(node.original_leaf);
    node = std::move(leaf);
  }
  if (nodes[0].kind == Node::kLeaf) {
    nodes.clear();
    return Status();
  }
  // Parents are visited in the order of their old numbers.
  std::vector<int32_t> places(count, -1);
  std::vector<Node> kept{nodes[0]};
  places[0] = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (places[i] < 0 || !nodes[i].is_binary_split()) continue;
    for (const bool is_left : {true, false}) {
      const int32_t child = is_left ? nodes[i].left : nodes[i].right;
      places[child] = static_cast<int32_t>(kept.size());
      kept.push_back(nodes[child]);
      (is_left ? kept[places[i]].left : kept[places[i]].right) = places[child];
    }
  }
  nodes = std::move(kept);
  return Status();
}

// What does not change while a tree grows.
struct Growth {
  const LearnerConfig& config;
  float rate;
  int32_t depth;
  uint64_t seed;
  bool centers_bias;
};

// Once a tree is finished that grew while others were dropped, it shares their weight.
Status ShareWeights(const Growth& growth, Ensemble* ensemble) {
  if (!growth.config.has_dropout || !ensemble->is_last_finalized()) return Status();
  const int32_t last = ensemble->tree_count() - 1;
  std::vector<int32_t> kept{last}, dropped;
  if (growth.centers_bias) kept.push_back(0);
  STILLFLOW_RETURN_IF_ERROR(DroppedTrees(growth.seed, growth.config.dropout, kept, last + 1, &dropped));
  if (dropped.empty()) return Status();
  const auto count = static_cast<int>(dropped.size());
  double sum = 0;
  for (const int32_t tree : dropped) sum += static_cast<double>(ensemble->weights[tree]);
  ensemble->weights[last] = static_cast<float>(sum) / static_cast<float>(count + 1);
  ++ensemble->metadata[last].weight_updates;
  for (const int32_t tree : dropped) {
    ensemble->weights[tree] = ensemble->weights[tree] * static_cast<float>(count) / static_cast<float>(count + 1);
    ++ensemble->metadata[tree].weight_updates;
  }
  return Status();
}

// The last tree with one layer more, or a new one.
Status NextLayer(const Growth& growth, Ensemble* ensemble) {
  if (ensemble->trees.empty() || ensemble->is_last_finalized()) {
    ensemble->AddTree(growth.rate)->nodes.emplace_back().kind = Node::kLeaf;
    ensemble->metadata.back().is_finalized = growth.depth <= 1;
    ensemble->metadata.back().weight_updates = 1;
  } else {
    TreeMetadata& metadata = ensemble->metadata.back();
    ++metadata.layers_grown;
    metadata.is_finalized = metadata.layers_grown >= growth.depth;
  }
  return ShareWeights(growth, ensemble);
}

// Prunes the finished tree, and begins the next with the splits that each has to have.
Status PruneFinished(const Growth& growth, Ensemble* ensemble) {
  STILLFLOW_RETURN_IF_ERROR(Prune(&ensemble->trees.back()));
  if (ensemble->trees.back().nodes.empty()) ensemble->RemoveLastTree();
  const bool begins = ensemble->trees.empty() || ensemble->is_last_finalized();
  if (!begins || growth.config.each_tree_start.nodes.empty()) return Status();
  *ensemble->AddTree(growth.rate) = growth.config.each_tree_start;
  TreeMetadata& metadata = ensemble->metadata.back();
  metadata.is_finalized = growth.depth <= 1;
  metadata.weight_updates = 1;
  metadata.layers_grown = growth.config.each_tree_start_layers;
  return Status();
}

void UseHandler(int64_t handler, std::vector<int64_t>* used) {
  const auto place = std::lower_bound(used->begin(), used->end(), handler);
  if (place == used->end() || *place != handler) used->insert(place, handler);
}

Status GrowNormal(const Growth& growth, const Candidates& candidates, Ensemble* ensemble) {
  const bool prunes_before = growth.config.pruning == LearnerConfig::Pruning::kBefore;
  std::map<int32_t, NormalCandidate> best;
  STILLFLOW_RETURN_IF_ERROR(BestSplits(candidates, prunes_before, &best));
  if (best.empty()) return Status();
  STILLFLOW_RETURN_IF_ERROR(NextLayer(growth, ensemble));
  for (auto& [partition, split] : best) {
    STILLFLOW_RETURN_IF_ERROR(SplitNode(growth.config, partition, &split, &ensemble->trees.back()));
    if (growth.config.max_columns != 0) {
      ensemble->growing.is_set = true;
      UseHandler(split.handler, &ensemble->growing.used_handlers);
    }
  }
  if (growth.config.pruning != LearnerConfig::Pruning::kAfter || !ensemble->is_last_finalized()) return Status();
  return PruneFinished(growth, ensemble);
}

Status GrowOblivious(const Growth& growth, const Candidates& candidates, Ensemble* ensemble) {
  const bool prunes_before = growth.config.pruning == LearnerConfig::Pruning::kBefore;
  LayerCandidate best;
  bool is_found = false;
  STILLFLOW_RETURN_IF_ERROR(BestLayerSplit(candidates, prunes_before, &best, &is_found));
  if (!is_found) return Status();
  STILLFLOW_RETURN_IF_ERROR(NextLayer(growth, ensemble));
  return SplitLayerOf(growth.config, &best, &ensemble->trees.back());
}

Status Grow(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  LearnerConfig config;
  if (!config.Parse(io::Bytes(static_cast<const char*>(call.attrs[0].data), call.attrs[0].size))) {
    return STILLFLOW_INVALID_ARGUMENT("Unable to parse learner config.");
  }
  int64_t seed = 0;
  Growth growth{config, 0, 0, 0, call.attrs[2].i != 0};
  WeakLearner learner = WeakLearner::kNormal;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 3, "learning_rate", &growth.rate));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 4, "dropout_seed", &seed));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 5, "max_tree_depth", &growth.depth));
  STILLFLOW_RETURN_IF_ERROR(ReadWeakLearner(call, 6, &learner));
  growth.seed = static_cast<uint64_t>(seed);
  const bool is_oblivious = learner == WeakLearner::kOblivious;
  if (is_oblivious && config.pruning == LearnerConfig::Pruning::kAfter) {
    return STILLFLOW_INVALID_ARGUMENT("Post-prunning is not implemented for Oblivious trees.");
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  Ensemble& ensemble = resource->ensemble;
  if (ensemble.metadata.size() != ensemble.trees.size() || ensemble.weights.size() != ensemble.trees.size()) {
    return STILLFLOW_INVALID_ARGUMENT("The ensemble has %zu trees, but weights of %zu and metadata of %zu",
                                      ensemble.trees.size(), ensemble.weights.size(), ensemble.metadata.size());
  }
  STILLFLOW_RETURN_IF_ERROR(Restamp(call, 1, resource.get()));
  ensemble.CountAttempt();
  const Candidates candidates(call);
  return is_oblivious ? GrowOblivious(growth, candidates, &ensemble) : GrowNormal(growth, candidates, &ensemble);
}

}  // namespace

STILLFLOW_KERNELS(gradient_trees, growing){
    {"center_gradient_trees", "handle, stamp_token, next_stamp_token, delta_updates | centering_epsilon",
     Guarded<CenterBias>},
    {"grow_gradient_trees",
     "handle, stamp_token, next_stamp_token, learning_rate, dropout_seed, max_tree_depth, weak_learner_type, "
     "partition_ids..., gains..., splits... | learner_config, num_handlers, center_bias",
     Guarded<Grow>},
    {}};

}  // namespace stillflow
