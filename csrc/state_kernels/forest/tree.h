// tree.h: a decision tree, and its bytes as decision_trees.Model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "state_kernels/forest/input.h"
#include "state_kernels/forest/params.h"

namespace stillflow::forest {

// What sends an example to the left child.
struct Split {
  // Numbers as InequalityTest has them; kMatches is a MatchingValuesTest.
  enum Kind { kLessOrEqual, kLess, kGreaterOrEqual, kGreater, kMatches };
  int64_t feature = 0;
  float threshold = 0;
  int kind = kLessOrEqual;

  bool GoesLeft(float value) const {
    switch (kind) {
      case kLessOrEqual:
        return value <= threshold;
      case kLess:
        return value < threshold;
      case kGreaterOrEqual:
        return value >= threshold;
      case kGreater:
        return value > threshold;
      default:
        return value == threshold;
    }
  }
};

// The counts of classes, or the means of outputs.
struct Leaf {
  struct Value {
    float number = 0;
    bool is_set = false;
  };
  bool is_vector = false, is_sparse = false;
  std::vector<Value> vector;
  std::map<int64_t, Value> sparse;

  float At(int64_t output) const {
    if (is_vector) return output < static_cast<int64_t>(vector.size()) ? vector[output].number : 0.0f;
    const auto found = sparse.find(output);
    return found == sparse.end() ? 0.0f : found->second.number;
  }
};

struct TreeNode {
  bool has_id = false, is_leaf = true;
  Split split;
  int64_t left = 0, right = 0;
  Leaf leaf;
};

std::string SplitBytes(const Split& split, bool has_children, int64_t left, int64_t right);
bool ParseSplit(io::Bytes bytes, Split* split, int64_t* left, int64_t* right);
std::string NodeBytes(const TreeNode& node, int64_t id);
std::string ModelBytes(const std::vector<TreeNode>& nodes);
// False, unless these are a tree whose children follow their parents.
bool ParseModel(io::Bytes bytes, std::vector<TreeNode>* nodes);

// The leaf at which an example arrives; `visit` is told of each node on the way.
template <typename Visit>
int64_t Traverse(const std::vector<TreeNode>& nodes, const Input& input, int64_t example, const Visit& visit) {
  int64_t id = 0;
  while (true) {
    visit(id);
    const TreeNode& node = nodes[id];
    if (node.is_leaf) return id;
    id = node.split.GoesLeft(input.ValueAt(example, node.split.feature)) ? node.left : node.right;
  }
}

}  // namespace stillflow::forest
