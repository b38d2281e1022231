// How trees grow layer by layer, and are pruned once they have all their layers.
#include "state_kernels/boosted_trees/ensemble.h"

#include <algorithm>

namespace stillflow::boosted_trees {

const Node* Ensemble::At(int64_t tree, int64_t node) const {
  if (tree < 0 || tree >= tree_count()) return nullptr;
  const std::vector<Node>& nodes = trees[tree].nodes;
  return node < 0 || node >= static_cast<int64_t>(nodes.size()) ? nullptr : &nodes[node];
}

int32_t Ensemble::AddTree(float value) {
  trees.emplace_back();
  trees.back().nodes.resize(1);
  trees.back().nodes[0].kind = Node::kLeaf;
  trees.back().nodes[0].leaf.scalar = value;
  weights.push_back(1);
  metadata.emplace_back();
  return tree_count() - 1;
}

void Ensemble::CountAttempt() {
  growing.is_set = true;
  ++growing.layers_attempted;
  const int32_t count = tree_count();
  const bool is_new =
      count == 0 || ((count == 1 || metadata[count - 2].is_finalized) && trees.back().nodes.size() == 1);
  if (is_new) ++growing.trees_attempted;
}

Status Ensemble::CheckLeaves(const std::vector<Candidate>& best) const {
  const int64_t nodes = trees.empty() ? 1 : static_cast<int64_t>(trees.back().nodes.size());
  for (const Candidate& each : best) {
    if (each.node < 0 || each.node >= nodes ||
        (!trees.empty() && trees.back().nodes[each.node].kind != Node::kLeaf)) {
      return STILLFLOW_INVALID_ARGUMENT("Node %d is not a leaf of the tree that grows, which has %lld nodes",
                                        each.node, static_cast<long long>(nodes));
    }
  }
  return Status();
}

void Ensemble::SplitLeaf(const Candidate& candidate, Tree* tree) {
  const auto left = static_cast<int32_t>(tree->nodes.size());
  tree->nodes.resize(left + 2);
  Node& node = tree->nodes[candidate.node];
  const float before = node.leaf.scalar;
  // The first leaf of a tree is not worth keeping, unless it is a bias.
  if (candidate.node != 0 || before != 0) {
    node.has_original_leaf = true;
    node.original_leaf = std::move(node.leaf);
  }
  node.leaf = Leaf();
  node.has_metadata = true;
  node.gain = candidate.gain;
  node.kind = candidate.kind;
  node.split = candidate.split;
  node.split.left = left;
  node.split.right = left + 1;
  tree->nodes[left].kind = tree->nodes[left + 1].kind = Node::kLeaf;
  tree->nodes[left].leaf.scalar = before + candidate.left_change;
  tree->nodes[left + 1].leaf.scalar = before + candidate.right_change;
}

Status Ensemble::Grow(const std::vector<Candidate>& best, int32_t max_depth, Pruning pruning) {
  if (metadata.size() != trees.size()) {
    return STILLFLOW_INVALID_ARGUMENT("The ensemble has %zu trees, but metadata of %zu", trees.size(),
                                      metadata.size());
  }
  STILLFLOW_RETURN_IF_ERROR(CheckLeaves(best));
  CountAttempt();
  if (trees.empty()) AddTree(0);
  if (best.empty()) return Status();
  const int32_t id = tree_count() - 1;
  auto begin = static_cast<int32_t>(trees[id].nodes.size());
  bool is_grown = false;
  for (const Candidate& each : best) {
    if (pruning == Pruning::kBefore && each.gain < 0) continue;
    SplitLeaf(each, &trees[id]);
    is_grown = true;
  }
  // What could not be split is tried again with other examples.
  if (!is_grown) return Status();
  auto end = static_cast<int32_t>(trees[id].nodes.size());
  if (++metadata[id].layers_grown >= max_depth) {
    begin = 0;
    end = 1;
    metadata[id].is_finalized = true;
    if (pruning == Pruning::kAfter) STILLFLOW_RETURN_IF_ERROR(Prune(id));
    AddTree(0);
  }
  growing.last_layer_begin = begin;
  growing.last_layer_end = end;
  return Status();
}

// A split with a negative gain whose children are leaves becomes a leaf again; children come after their parents, so
// that one pass from the end does what recursion would.
Status Ensemble::Prune(int32_t tree_id) {
  std::vector<Node>& nodes = trees[tree_id].nodes;
  const auto count = static_cast<int32_t>(nodes.size());
  struct Fate {
    int32_t parent;
    float change;
  };
  std::vector<Fate> fates(count);
  for (int32_t i = 0; i < count; ++i) fates[i] = {i, 0};
  bool is_pruned = false;
  for (int32_t i = count - 1; i >= 0; --i) {
    Node& node = nodes[i];
    if (!node.is_split()) continue;
    for (const int32_t child : {node.split.left, node.split.right}) {
      if (child <= i || child >= count) {
        return STILLFLOW_INVALID_ARGUMENT("Node %d of a tree of %d nodes has the child %d", i, count, child);
      }
    }
    const Node& left = nodes[node.split.left];
    const Node& right = nodes[node.split.right];
    if (!(node.gain < 0) || left.kind != Node::kLeaf || right.kind != Node::kLeaf) continue;
    is_pruned = true;
    const float value = node.original_leaf.scalar;
    fates[node.split.left] = {i, value - left.leaf.scalar};
    fates[node.split.right] = {i, value - right.leaf.scalar};
    Node leaf;
    leaf.kind = Node::kLeaf;
    leaf.leaf = node.original_leaf;
    node = leaf;
  }
  if (!is_pruned) return Status();
  std::vector<int32_t> places(count);
  std::vector<Node> kept;
  for (int32_t i = 0; i < count; ++i) {
    float change = 0;
    int32_t last = i;
    for (; fates[last].parent != last; last = fates[last].parent) change += fates[last].change;
    if (last == i) {
      places[i] = static_cast<int32_t>(kept.size());
      kept.push_back(nodes[i]);
    }
    metadata[tree_id].pruned.push_back({places[last], {change}});
  }
  for (Node& node : kept) {
    if (!node.is_split()) continue;
    node.split.left = places[node.split.left];
    node.split.right = places[node.split.right];
  }
  nodes = std::move(kept);
  return Status();
}

}  // namespace stillflow::boosted_trees
