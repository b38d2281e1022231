// input.h: the examples of a batch: a dense matrix, a sparse one, or both.
#pragma once

#include <string>
#include <vector>

#include "kernel_api/kernel.h"

namespace stillflow::forest {

// "dense_features_size: 3 dense: [{name: a original_type: 0 size: 3}] sparse: []", as data_ops.py writes it.
struct InputSpec {
  enum ColumnType { kFloat = 0, kCategorical = 1 };
  int64_t dense_size = 0;
  std::vector<int> dense_types;  // of each feature
  int sparse_type = kCategorical;

  Status Parse(const Attr& attr);
};

class Input {
 public:
  // The kernel's inputs from in[first] on: dense, sparse indices, values and shape.
  Status Set(const KernelCall& call, int first, const InputSpec& spec);

  int64_t count() const { return count_; }
  // Of a feature that a sparse example has not: 0.
  float ValueAt(int64_t example, int64_t feature) const;
  // Where the sparse entries of an example begin, and how many there are.
  void SparseEntries(int64_t example, int64_t* first, int64_t* count) const;
  int64_t SparseColumn(int64_t entry) const { return Data<int64_t>(*indices_)[2 * entry + 1]; }
  const InputSpec& spec() const { return *spec_; }

 private:
  const InputSpec* spec_ = nullptr;
  const Tensor* dense_ = nullptr;
  const Tensor* indices_ = nullptr;
  const Tensor* values_ = nullptr;
  int64_t count_ = 0;
};

// Labels and weights.
class Target {
 public:
  Status Set(const Tensor& labels, const Tensor& weights, bool is_regression, int64_t count, int64_t outputs);

  int64_t count() const { return count_; }
  int64_t ClassOf(int64_t example) const { return static_cast<int64_t>(Data<float>(*labels_)[example]); }
  float OutputOf(int64_t example, int64_t output) const { return Data<float>(*labels_)[example * stride_ + output]; }
  float WeightOf(int64_t example) const { return example < weights_->count ? Data<float>(*weights_)[example] : 1.0f; }

 private:
  const Tensor* labels_ = nullptr;
  const Tensor* weights_ = nullptr;
  int64_t count_ = 0, stride_ = 1;
};

}  // namespace stillflow::forest
