// ensemble.h: an ensemble of boosted trees in memory, and as bytes of a boosted_trees.TreeEnsemble.
#pragma once

#include <string>
#include <vector>

#include "io/wire.h"
#include "kernel_api/kernel.h"

namespace stillflow::boosted_trees {

// The value of a leaf: one number, or a vector.
struct Leaf {
  bool is_vector = false;
  std::vector<float> vector;
  float scalar = 0;

  std::vector<float> Values() const { return is_vector ? vector : std::vector<float>{scalar}; }
};

struct Split {
  int32_t feature = 0;
  int32_t threshold = 0;  // the greatest bucket that goes to the left; of a categorical split, the only one
  int32_t dimension = 0;
  int32_t default_direction = 0;
  int32_t left = 0;
  int32_t right = 0;
};

struct Node {
  enum Kind { kEmpty = 0, kLeaf = 1, kBucketized = 2, kCategorical = 3, kDense = 4 };

  bool is_split() const { return kind == kBucketized || kind == kCategorical; }
  // A leaf's values, or those that a split had when it was one: none, if it never was.
  std::vector<float> Values() const {
    if (kind == kLeaf) return leaf.Values();
    return has_original_leaf ? original_leaf.Values() : std::vector<float>();
  }

  Kind kind = kEmpty;
  Leaf leaf;
  Split split;
  float dense_threshold = 0;
  bool has_metadata = false;
  float gain = 0;
  bool has_original_leaf = false;
  Leaf original_leaf;
};

// Where the nodes of before pruning went, and what that changed in their predictions.
struct PrunedNode {
  int32_t new_node = 0;
  std::vector<float> change;
};

struct Tree {
  std::vector<Node> nodes;
};

struct TreeMetadata {
  int32_t layers_grown = 0;
  bool is_finalized = false;
  std::vector<PrunedNode> pruned;
};

struct GrowingMetadata {
  bool is_set = false;
  int64_t trees_attempted = 0;
  int64_t layers_attempted = 0;
  int32_t last_layer_begin = 0;
  int32_t last_layer_end = 0;
};

// A split that a leaf may get.
struct Candidate {
  int32_t node = 0;
  Split split;
  Node::Kind kind = Node::kBucketized;
  float gain = 0;
  float left_change = 0;
  float right_change = 0;
};

enum class Pruning { kNone = 0, kBefore = 1, kAfter = 2 };

struct Ensemble {
  bool Parse(io::Bytes bytes);
  std::string Serialize() const;

  int32_t tree_count() const { return static_cast<int32_t>(trees.size()); }
  // The node of a tree, or null.
  const Node* At(int64_t tree, int64_t node) const;
  float Weight(int64_t tree) const { return tree < static_cast<int64_t>(weights.size()) ? weights[tree] : 0; }

  int32_t AddTree(float value);
  // Splits the leaves of the last tree, one layer more; `best` has one split per node, nodes in ascending order.
  Status Grow(const std::vector<Candidate>& best, int32_t max_depth, Pruning pruning);

  std::vector<Tree> trees;
  std::vector<float> weights;
  std::vector<TreeMetadata> metadata;
  GrowingMetadata growing;

 private:
  void CountAttempt();
  Status CheckLeaves(const std::vector<Candidate>& best) const;
  void SplitLeaf(const Candidate& candidate, Tree* tree);
  Status Prune(int32_t tree_id);
};

}  // namespace stillflow::boosted_trees
