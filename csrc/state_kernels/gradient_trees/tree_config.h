// tree_config.h: trees of tf.contrib.boosted_trees in memory, and as bytes of the messages of its tree_config.proto
// and split_info.proto.
#pragma once

#include <string>
#include <vector>

#include "io/wire.h"
#include "kernel_api/kernel.h"

namespace stillflow::gradient_trees {

// What a leaf adds to the logits: to all, or to those of some classes.
struct Leaf {
  enum Kind { kNone = 0, kVector = 1, kSparse = 2 };

  Kind kind = kNone;
  std::vector<int32_t> index;
  std::vector<float> value;
};

struct Node {
  enum Kind {
    kNone = 0,
    kLeaf = 1,
    kDense = 2,
    kSparseDefaultLeft = 3,
    kSparseDefaultRight = 4,
    kCategorical = 5,
    kCategoricalSet = 6,
    kObliviousDense = 7,
    kObliviousCategorical = 8,
  };

  bool is_binary_split() const { return kind >= kDense && kind <= kCategoricalSet; }
  bool is_oblivious() const { return kind == kObliviousDense || kind == kObliviousCategorical; }

  Kind kind = kNone;
  Leaf leaf;
  int32_t column = 0;
  int32_t dimension = 0;
  float threshold = 0;
  std::vector<int64_t> ids;  // one, but of kCategoricalSet sorted ones
  int32_t left = 0;
  int32_t right = 0;
  bool has_metadata = false;
  float gain = 0;
  bool has_original_leaf = false;
  Leaf original_leaf;
  std::vector<Leaf> original_oblivious_leaves;
};

struct Tree {
  std::vector<Node> nodes;
};

struct TreeMetadata {
  int32_t weight_updates = 0;
  int32_t layers_grown = 0;
  bool is_finalized = false;
};

struct GrowingMetadata {
  bool is_set = false;
  int64_t trees_attempted = 0;
  int64_t layers_attempted = 0;
  std::vector<int64_t> used_handlers;  // in ascending order
};

struct Ensemble {
  // Whether the bytes are a DecisionTreeEnsembleConfig.
  bool Parse(io::Bytes bytes);
  std::string Serialize() const;

  int32_t tree_count() const { return static_cast<int32_t>(trees.size()); }
  bool is_last_finalized() const { return !metadata.empty() && metadata.back().is_finalized; }
  // Counts a layer that is tried to grow.
  void CountAttempt();
  Tree* AddTree(float weight);
  void RemoveLastTree();

  std::vector<Tree> trees;
  std::vector<float> weights;
  std::vector<TreeMetadata> metadata;
  GrowingMetadata growing;
};

// A split that a leaf may get: one without children yet, and what these would be.
struct SplitInfo {
  bool Parse(io::Bytes bytes);
  std::string Serialize() const;

  Node node;
  Leaf left;
  Leaf right;
};

// A split of a whole layer: children in pairs, and the leaf that each pair would replace.
struct ObliviousSplitInfo {
  bool Parse(io::Bytes bytes);
  std::string Serialize() const;

  Node node;
  std::vector<Leaf> children;
  std::vector<int32_t> parents;
};

bool ParseTree(io::Bytes bytes, Tree* tree);

}  // namespace stillflow::gradient_trees
