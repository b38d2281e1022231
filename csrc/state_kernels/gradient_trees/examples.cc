// The features of examples, and their ways through trees.
#include "state_kernels/gradient_trees/examples.h"

#include <algorithm>

namespace stillflow::gradient_trees {

Status SparseColumn::Set(const Tensor& indices, const Tensor& values, const Tensor& shape, int64_t batch_size,
                         const char* kind) {
  if (indices.rank != 2) return STILLFLOW_INVALID_ARGUMENT("Sparse %s feature indices must be a matrix.", kind);
  if (values.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Sparse %s feature values must be a vector.", kind);
  if (shape.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Sparse %s feature shape must be a vector.", kind);
  if (shape.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Sparse %s feature column must be two-dimensional.", kind);
  }
  if (Data<int64_t>(shape)[0] != batch_size) {
    return STILLFLOW_INVALID_ARGUMENT("Sparse %s feature shape incompatible with batch size.", kind);
  }
  STILLFLOW_RETURN_IF_ERROR(CheckCount(indices, 2 * values.count, "sparse feature indices"));
  this->indices = &indices;
  this->values = &values;
  has_one_dimension = Data<int64_t>(shape)[1] <= 1;
  const auto* places = Data<int64_t>(indices);
  starts.reserve(batch_size + 1);
  for (int64_t i = 0; i < values.count; ++i) {
    const int64_t example = places[2 * i];
    if (example < 0 || example >= batch_size || (i > 0 && example < places[2 * i - 2])) {
      return STILLFLOW_INVALID_ARGUMENT("Sparse %s feature indices[%lld] = [%lld,%lld] is out of bounds or order",
                                        kind, static_cast<long long>(i), static_cast<long long>(example),
                                        static_cast<long long>(places[2 * i + 1]));
    }
    starts.resize(example + 1, i);
  }
  starts.resize(batch_size + 1, values.count);
  return Status();
}

Status Examples::Set(const KernelCall& call, int first, int64_t dense, int64_t sparse_floats, int64_t sparse_ints) {
  const auto at = [&](int64_t place) -> const Tensor& { return *call.in[first + place]; };
  const int64_t floats_at = dense, ints_at = dense + 3 * sparse_floats;
  if (dense > 0) {
    if (at(0).rank > 0) count_ = at(0).dims[0];
  } else if (sparse_floats + sparse_ints > 0) {
    const Tensor& shape = at(sparse_floats > 0 ? floats_at + 2 * sparse_floats : ints_at + 2 * sparse_ints);
    if (shape.count > 0) count_ = Data<int64_t>(shape)[0];
  } else {
    return STILLFLOW_INVALID_ARGUMENT("Must have at least one feature column.");
  }
  constexpr int64_t kMostExamples = int64_t{1} << 40;
  if (count_ < 0 || count_ > kMostExamples) {
    return STILLFLOW_INVALID_ARGUMENT("There cannot be %lld examples", static_cast<long long>(count_));
  }
  for (int64_t i = 0; i < dense; ++i) {
    if (at(i).rank != 2) return STILLFLOW_INVALID_ARGUMENT("Dense float feature must be a matrix.");
    if (at(i).dims[0] != count_) {
      return STILLFLOW_INVALID_ARGUMENT("Dense float vector must have batch_size rows: %lld vs. %lld",
                                        static_cast<long long>(count_), static_cast<long long>(at(i).dims[0]));
    }
    if (at(i).dims[1] != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Dense float features may not be multivalent: dim_size(1) = %lld",
                                        static_cast<long long>(at(i).dims[1]));
    }
    dense_.push_back(Data<float>(at(i)));
  }
  for (int64_t i = floats_at; i < floats_at + sparse_floats; ++i) {
    STILLFLOW_RETURN_IF_ERROR(
        floats_.emplace_back().Set(at(i), at(i + sparse_floats), at(i + 2 * sparse_floats), count_, "float"));
  }
  for (int64_t i = ints_at; i < ints_at + sparse_ints; ++i) {
    STILLFLOW_RETURN_IF_ERROR(
        ints_.emplace_back().Set(at(i), at(i + sparse_ints), at(i + 2 * sparse_ints), count_, "int"));
  }
  return Status();
}

const float* Examples::SparseValue(const Node& node, int64_t example) const {
  const SparseColumn& column = floats_[node.column];
  for (int64_t i = column.starts[example]; i < column.starts[example + 1]; ++i) {
    const bool is_it = column.has_one_dimension || Data<int64_t>(*column.indices)[2 * i + 1] == node.dimension;
    if (is_it) return Data<float>(*column.values) + i;
  }
  return nullptr;
}

Status Examples::Answer(const Node& node, int64_t example, bool* is_left) const {
  const bool is_dense = node.kind == Node::kDense || node.kind == Node::kObliviousDense;
  const bool is_sparse = node.kind == Node::kSparseDefaultLeft || node.kind == Node::kSparseDefaultRight;
  const size_t columns = is_dense ? dense_.size() : is_sparse ? floats_.size() : ints_.size();
  if (node.column < 0 || static_cast<size_t>(node.column) >= columns) {
    return STILLFLOW_INVALID_ARGUMENT("A tree asks for the feature column %d, but there are %zu of its kind",
                                      node.column, columns);
  }
  if (is_dense) {
    *is_left = dense_[node.column][example] <= node.threshold;
    // An oblivious tree asks what is greater, so that NaN goes the other way.
    if (node.kind == Node::kObliviousDense) *is_left = !(dense_[node.column][example] > node.threshold);
    return Status();
  }
  if (is_sparse) {
    const float* value = SparseValue(node, example);
    *is_left = value == nullptr ? node.kind == Node::kSparseDefaultLeft : *value <= node.threshold;
    return Status();
  }
  const SparseColumn& column = ints_[node.column];
  *is_left = false;
  for (int64_t i = column.starts[example]; i < column.starts[example + 1] && !*is_left; ++i) {
    const int64_t id = Data<int64_t>(*column.values)[i];
    *is_left = node.kind == Node::kCategoricalSet ? std::binary_search(node.ids.begin(), node.ids.end(), id)
                                                  : !node.ids.empty() && node.ids[0] == id;
  }
  return Status();
}

Status Examples::Traverse(const Tree& tree, int64_t example, int32_t* leaf) const {
  const auto count = static_cast<int64_t>(tree.nodes.size());
  int64_t place = 0, oblivious_leaf = 0;
  while (place < count && tree.nodes[place].kind != Node::kLeaf) {
    const Node& node = tree.nodes[place];
    if (node.kind == Node::kNone) return STILLFLOW_INVALID_ARGUMENT("Invalid node in tree: it is of no kind");
    bool is_left = false;
    STILLFLOW_RETURN_IF_ERROR(Answer(node, example, &is_left));
    // Children come after their parents, so that every way ends.
    int64_t next = place + 1;
    if (node.is_oblivious()) {
      oblivious_leaf = std::min<int64_t>(2 * oblivious_leaf + (is_left ? 0 : 1), count);
    } else {
      next = is_left ? node.left : node.right;
    }
    if (next <= place) {
      return STILLFLOW_INVALID_ARGUMENT("Malformed tree: node %lld has the child %lld", static_cast<long long>(place),
                                        static_cast<long long>(next));
    }
    place = next;
  }
  place += oblivious_leaf;
  if (place >= count || tree.nodes[place].kind != Node::kLeaf) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid tree: there is no leaf %lld among its %lld nodes",
                                      static_cast<long long>(place), static_cast<long long>(count));
  }
  *leaf = static_cast<int32_t>(place);
  return Status();
}

}  // namespace stillflow::gradient_trees
