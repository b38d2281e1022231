// sdca_optimizer, sdca_fprint: a pass of stochastic dual coordinate ascent over a batch, for linear models.
//
//   sdca_optimizer  lists of n sparse columns: int64[k] examples in ascending order, int64[k] features, and of the
//   first
//                   m float[k] values, else 1; lists of d float[batch, width] dense columns; float[batch] weights and
//                   labels; lists of n int64[u] features and float[u] weights that the batch needs; d float[width]
//                   weights; float[batch, 4] the states of the examples; attrs loss_type, adaptive, n, m, d, l1, l2,
//                   num_loss_partitions; out[0] the new states: dual, primal loss, dual loss, weight; then by how
//                   much each weight changes
//   sdca_fprint     in[0] string[k]; out[0] int64[k, 2]: their fingerprints, whose first words are neither 0 nor 1
//
// TensorFlow takes the examples in an order that differs from run to run, several at a time. Here it depends on their
// states alone, and one follows the other.
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arithmetic/random/stream.h"
#include "arithmetic/random/unigram.h"
#include "io/fingerprint.h"
#include "kernels/guarded.h"
#include "state_kernels/linear/dual_loss.h"

namespace stillflow {
namespace {

using namespace linear;  // NOLINT: this file is that namespace's kernels

struct SparseColumn {
  std::vector<int64_t> begins;  // where each example's entries begin
  std::vector<int64_t> places;  // of each entry's feature among the weights
  const float* values = nullptr;
  const float* weights = nullptr;
  float* deltas = nullptr;

  double ValueAt(int64_t entry) const { return values == nullptr ? 1.0 : values[entry]; }
};

struct DenseColumn {
  int64_t width = 0;
  int64_t weight_count = 0;
  const float* values = nullptr;
  const float* weights = nullptr;
  float* deltas = nullptr;
};

class Problem {
 public:
  Status Set(const KernelCall& call);
  Status Run(const KernelCall& call);

 private:
  Status SetSparse(const KernelCall& call, int column, int at_weights);
  Status SetDense(const KernelCall& call, int column, int at_weights);
  Status SumNorms();
  double Shrunk(double weight) const {
    const double left = std::abs(weight) - shrinkage_;
    return left > 0 ? std::copysign(left, weight) : 0;
  }
  // The logits of an example with the weights of before, and with those of now.
  void Logits(int64_t example, double* before, double* now) const;
  void Move(int64_t example, double step);
  std::vector<int64_t> Order(const float* states) const;
  std::vector<double> Importance(const float* states) const;

  Loss loss_ = Loss::kLogistic;
  bool is_adaptive_ = false;
  int sparse_count_ = 0, values_count_ = 0, dense_count_ = 0;
  double l2_ = 1, shrinkage_ = 0;
  double partitions_ = 1;
  int64_t count_ = 0;
  const float* example_weights_ = nullptr;
  std::vector<float> labels_;
  std::vector<double> norms_;
  std::vector<SparseColumn> sparse_;
  std::vector<DenseColumn> dense_;
};

Status Problem::Set(const KernelCall& call) {
  const Attr* attrs = call.attrs;
  loss_ = static_cast<Loss>(attrs[0].i);
  is_adaptive_ = attrs[1].i != 0;
  sparse_count_ = static_cast<int>(attrs[2].i);
  values_count_ = static_cast<int>(attrs[3].i);
  dense_count_ = static_cast<int>(attrs[4].i);
  l2_ = static_cast<float>(attrs[6].f);
  shrinkage_ = static_cast<float>(attrs[5].f) / l2_;
  partitions_ = static_cast<double>(attrs[7].i);
  if (sparse_count_ + dense_count_ == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Requires at least one feature to train.");
  }
  if (values_count_ > sparse_count_) {
    return STILLFLOW_INVALID_ARGUMENT("There are values of %d sparse features, but only %d features", values_count_,
                                      sparse_count_);
  }
  const int at = 2 * sparse_count_ + values_count_ + dense_count_;
  const Tensor& weights = *call.in[at];
  const Tensor& labels = *call.in[at + 1];
  count_ = weights.count;
  example_weights_ = Data<float>(weights);
  if (labels.count != count_) {
    return STILLFLOW_INVALID_ARGUMENT("There are %lld labels for %lld examples", static_cast<long long>(labels.count),
                                      static_cast<long long>(count_));
  }
  labels_.assign(Data<float>(labels), Data<float>(labels) + count_);
  for (float& label : labels_) STILLFLOW_RETURN_IF_ERROR(ConvertLabel(loss_, &label));
  for (int j = 0; j < sparse_count_; ++j) STILLFLOW_RETURN_IF_ERROR(SetSparse(call, j, at + 2));
  for (int j = 0; j < dense_count_; ++j) STILLFLOW_RETURN_IF_ERROR(SetDense(call, j, at + 2 + 2 * sparse_count_));
  return SumNorms();
}

Status MakeDeltas(const KernelCall& call, int out, const Tensor& weights, float** deltas) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kFloat, Shape(weights)));
  *deltas = MutableData<float>(*call.out[out]);
  std::fill_n(*deltas, weights.count, 0.0F);
  return Status();
}

Status Problem::SetSparse(const KernelCall& call, int column, int at_weights) {
  const Tensor& examples = *call.in[column];
  const Tensor& features = *call.in[sparse_count_ + column];
  const Tensor& indices = *call.in[at_weights + column];
  const Tensor& weights = *call.in[at_weights + sparse_count_ + column];
  if (examples.count != features.count || indices.count != weights.count) {
    return STILLFLOW_INVALID_ARGUMENT("Sparse feature %d has lists of different lengths", column);
  }
  SparseColumn& sparse = sparse_.emplace_back();
  if (column < values_count_) {
    const Tensor& values = *call.in[2 * sparse_count_ + column];
    if (values.count != features.count) {
      return STILLFLOW_INVALID_ARGUMENT("Sparse feature %d has lists of different lengths", column);
    }
    sparse.values = Data<float>(values);
  }
  sparse.weights = Data<float>(weights);
  STILLFLOW_RETURN_IF_ERROR(MakeDeltas(call, 1 + column, weights, &sparse.deltas));
  std::unordered_map<int64_t, int64_t> place_of;
  for (int64_t i = 0; i < indices.count; ++i) place_of[Data<int64_t>(indices)[i]] = i;
  int64_t entry = 0;
  for (int64_t example = 0; example < count_; ++example) {
    sparse.begins.push_back(entry);
    while (entry < examples.count && Data<int64_t>(examples)[entry] == example) {
      const int64_t feature = Data<int64_t>(features)[entry++];
      const auto found = place_of.find(feature);
      if (found == place_of.end()) {
        return STILLFLOW_INVALID_ARGUMENT("Found sparse feature indices out of valid range: %lld",
                                          static_cast<long long>(feature));
      }
      sparse.places.push_back(found->second);
    }
  }
  sparse.begins.push_back(entry);
  return Status();
}

Status Problem::SetDense(const KernelCall& call, int column, int at_weights) {
  const Tensor& values = *call.in[2 * sparse_count_ + values_count_ + column];
  const Tensor& weights = *call.in[at_weights + column];
  if (values.rank != 2 || values.dims[0] < count_) {
    return STILLFLOW_INVALID_ARGUMENT("Dense feature %d of shape %s is not a matrix of %lld examples", column,
                                      ShapeText(values).c_str(), static_cast<long long>(count_));
  }
  if (values.dims[1] > weights.count) {
    return STILLFLOW_INVALID_ARGUMENT("More dense features than we have parameters for: %lld",
                                      static_cast<long long>(values.dims[1]));
  }
  DenseColumn& dense = dense_.emplace_back();
  dense.width = values.dims[1];
  dense.weight_count = weights.count;
  dense.values = Data<float>(values);
  dense.weights = Data<float>(weights);
  return MakeDeltas(call, 1 + sparse_count_ + column, weights, &dense.deltas);
}

Status Problem::SumNorms() {
  norms_.resize(count_);
  std::unordered_set<int64_t> seen;
  for (int64_t i = 0; i < count_; ++i) {
    double norm = 0;
    for (const SparseColumn& column : sparse_) {
      seen.clear();
      for (int64_t k = column.begins[i]; k < column.begins[i + 1]; ++k) {
        if (!seen.insert(column.places[k]).second) {
          return STILLFLOW_INVALID_ARGUMENT("Duplicate index in sparse vector.");
        }
        norm += column.ValueAt(k) * column.ValueAt(k);
      }
    }
    for (const DenseColumn& column : dense_) {
      const float* values = column.values + i * column.width;
      float sum = 0;
      for (int64_t k = 0; k < column.width; ++k) sum += values[k] * values[k];
      norm += sum;
    }
    norms_[i] = norm;
  }
  return Status();
}

void Problem::Logits(int64_t example, double* before, double* now) const {
  *before = *now = 0;
  const auto partitions = static_cast<float>(partitions_);
  for (const SparseColumn& column : sparse_) {
    for (int64_t k = column.begins[example]; k < column.begins[example + 1]; ++k) {
      const float weight = column.weights[column.places[k]];
      *before += column.ValueAt(k) * Shrunk(weight);
      *now += column.ValueAt(k) * Shrunk(weight + column.deltas[column.places[k]] * partitions);
    }
  }
  for (const DenseColumn& column : dense_) {
    const float* values = column.values + example * column.width;
    for (int64_t k = 0; k < column.width; ++k) {
      *before += values[k] * Shrunk(column.weights[k]);
      *now += values[k] * Shrunk(column.weights[k] + column.deltas[k] * partitions);
    }
  }
}

void Problem::Move(int64_t example, double step) {
  for (SparseColumn& column : sparse_) {
    for (int64_t k = column.begins[example]; k < column.begins[example + 1]; ++k) {
      float& delta = column.deltas[column.places[k]];
      delta = static_cast<float>(delta + column.ValueAt(k) * step);
    }
  }
  for (DenseColumn& column : dense_) {
    const float* values = column.values + example * column.width;
    for (int64_t k = 0; k < column.width; ++k) column.deltas[k] += values[k] * static_cast<float>(step);
  }
}

// How much each example may still gain (Csiba et al., 2015).
std::vector<double> Problem::Importance(const float* states) const {
  std::vector<double> found(count_);
  for (int64_t i = 0; i < count_; ++i) {
    double before = 0, now = 0;
    Logits(i, &before, &now);
    const double residue = states[4 * i] + PrimalLossSlope(loss_, now, labels_[i]);
    found[i] = example_weights_[i] * std::sqrt(norms_[i] + l2_ * Smoothness(loss_)) * std::abs(residue);
  }
  return found;
}

// The examples to take: all of them in a random order, or important ones first and more than once.
std::vector<int64_t> Problem::Order(const float* states) const {
  std::vector<int64_t> order(count_);
  std::iota(order.begin(), order.end(), 0);
  // The states differ from pass to pass, and with them the order.
  const io::Bytes bytes(reinterpret_cast<const char*>(states), 4 * count_ * sizeof(float));
  WordReader words({io::Hash64(bytes), 0, 0});
  for (int64_t i = count_ - 1; i > 0; --i) {
    std::swap(order[i], order[ExactUniform<uint32_t>(static_cast<uint32_t>(i + 1)).Draw(&words)]);
  }
  if (!is_adaptive_) return order;
  const std::vector<double> importance = Importance(states);
  std::vector<double> sums(count_);
  std::partial_sum(importance.begin(), importance.end(), sums.begin());
  if (count_ == 0 || !(sums.back() > 0) || std::isinf(sums.back())) return order;
  const auto share = [&] { return words.Next() * 0x1p-32; };
  std::vector<int64_t> taken;
  std::vector<int> counts(count_);
  for (int64_t tries = 0; tries < count_ && static_cast<int64_t>(taken.size()) < count_;) {
    const auto place = std::upper_bound(sums.begin(), sums.end(), share() * sums.back()) - sums.begin();
    const int64_t example = std::min<int64_t>(place, count_ - 1);
    double keep = 1;  // a tenth for each time that it was taken
    for (int i = 0; i < counts[example]; ++i) keep *= 0.1;
    if (share() > keep) {
      ++tries;
      continue;
    }
    ++counts[example];
    taken.push_back(example);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return importance[a] > importance[b]; });
  for (const int64_t example : order) {
    if (static_cast<int64_t>(taken.size()) < count_ && counts[example] == 0) taken.push_back(example);
  }
  return taken;
}

Status Problem::Run(const KernelCall& call) {
  const Tensor& given = *call.in[call.in_count - 1];
  if (given.rank != 2 || given.dims[0] != count_ || given.dims[1] != 4) {
    return STILLFLOW_INVALID_ARGUMENT("Expected shape [%lld,4] for example_state_data, got %s",
                                      static_cast<long long>(count_), ShapeText(given).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, Shape(given)));
  auto* states = MutableData<float>(*call.out[0]);
  std::copy_n(Data<float>(given), given.count, states);
  for (const int64_t example : Order(states)) {
    float* state = states + 4 * example;
    const float dual = state[0], weight = example_weights_[example], label = labels_[example];
    double before = 0, now = 0;
    Logits(example, &before, &now);
    const double updated = UpdatedDual(loss_, {label, weight, dual, now, norms_[example] / l2_, partitions_});
    Move(example, (updated - dual) * weight / l2_);
    state[0] = static_cast<float>(updated);
    state[1] = static_cast<float>(PrimalLoss(loss_, before, label, weight));
    state[2] = static_cast<float>(DualLoss(loss_, dual, label, weight));
    state[3] = weight;
  }
  return Status();
}

Status SdcaOptimizer(const KernelCall& call) {
  Problem problem;
  STILLFLOW_RETURN_IF_ERROR(problem.Set(call));
  return problem.Run(call);
}

Status SdcaFprint(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input must be a vector, got shape %s", ShapeText(input).c_str());
  }
  Shape shape(input);
  shape.Add(2);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, shape));
  auto* out = MutableData<uint64_t>(*call.out[0]);
  for (int64_t i = 0; i < input.count; ++i) {
    const io::Fingerprint128Words words = io::Fingerprint128(StringAt(input, i));
    out[2 * i] = words.low >= 2 ? words.low : words.low + ~uint64_t{1};
    out[2 * i + 1] = words.high;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(linear, sdca){
    {"sdca_optimizer",
     "example_indices..., feature_indices..., feature_values..., dense_features..., example_weights, example_labels, "
     "sparse_indices..., sparse_weights..., dense_weights..., example_state_data | loss_type: logistic_loss "
     "squared_loss hinge_loss smooth_hinge_loss poisson_loss, adaptive, num_sparse_features, "
     "num_sparse_features_with_values, num_dense_features, l1, l2, num_loss_partitions",
     Guarded<SdcaOptimizer>},
    {"sdca_fprint", "input", Guarded<SdcaFprint>},
    {}};

}  // namespace stillflow
