// examples.h: the features of a batch of examples, and the way of each through a tree.
#pragma once

#include "state_kernels/gradient_trees/ensemble_resource.h"

namespace stillflow::gradient_trees {

// A sparse matrix whose entries are in the order of their rows.
struct SparseColumn {
  // Reads indices, values and a shape; keeps where the entries of each example begin.
  Status Set(const Tensor& indices, const Tensor& values, const Tensor& shape, int64_t batch_size, const char* kind);

  const Tensor* indices = nullptr;
  const Tensor* values = nullptr;
  bool has_one_dimension = true;
  std::vector<int64_t> starts;
};

class Examples {
 public:
  // Reads from in[first] on lists of `dense` matrices, of `sparse_floats` and of `sparse_ints` indices, values and
  // shapes.
  Status Set(const KernelCall& call, int first, int64_t dense, int64_t sparse_floats, int64_t sparse_ints);

  int64_t count() const { return count_; }
  // The leaf of the tree where an example ends.
  Status Traverse(const Tree& tree, int64_t example, int32_t* leaf) const;

 private:
  Status Answer(const Node& node, int64_t example, bool* is_left) const;
  // The value of a dimension, or null.
  const float* SparseValue(const Node& node, int64_t example) const;

  int64_t count_ = 0;
  std::vector<const float*> dense_;
  std::vector<SparseColumn> floats_;
  std::vector<SparseColumn> ints_;
};

}  // namespace stillflow::gradient_trees
