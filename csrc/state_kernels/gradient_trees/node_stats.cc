// Weights and gains of nodes.
#include "state_kernels/gradient_trees/node_stats.h"

#include <cmath>
#include <limits>

namespace stillflow::gradient_trees {

static void AddAll(const std::vector<float>& from, std::vector<float>* to) {
  if (to->empty()) {
    *to = from;
    return;
  }
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

void GradientStats::Add(const GradientStats& other) {
  AddAll(other.gradient, &gradient);
  AddAll(other.hessian, &hessian);
}

void GradientStats::Subtract(const GradientStats& other) {
  for (size_t i = 0; i < other.gradient.size(); ++i) gradient[i] -= other.gradient[i];
  for (size_t i = 0; i < other.hessian.size(); ++i) hessian[i] -= other.hessian[i];
}

void GradientStats::Scale(float factor) {
  for (float& each : gradient) each *= factor;
  for (float& each : hessian) each *= factor;
}

static double SumOfSquares(const std::vector<float>& values) {
  double sum = 0;
  for (const float each : values) sum += each * each;
  return sum;
}

bool GradientStats::IsAlmostZero() const {
  constexpr float kEps = 1e-6F;
  return !(SumOfSquares(gradient) > kEps * kEps) && !(SumOfSquares(hessian) > kEps * kEps);
}

Status SplitInputs::CheckShapes() const {
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*partitions_, 1, "partition_ids"));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*ids_, 2, "bucket_ids"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*ids_, 2 * rows(), "bucket_ids"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*gradients_, rows() * width_, "gradients"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*hessians_, rows() * hessian_width_, "hessians"));
  bool is_right = width_ == 1 && hessian_width_ == 1;
  if (strategy_ == Strategy::kDiagonalHessian) {
    is_right = gradients_->rank == 2 && hessians_->rank == 2 && hessian_width_ == width_;
  }
  if (strategy_ == Strategy::kFullHessian) {
    is_right =
        gradients_->rank == 2 && hessians_->rank == 3 && hessians_->dims[1] == width_ && hessians_->dims[2] == width_;
  }
  if (rows() > 0 && !is_right) {
    return STILLFLOW_INVALID_ARGUMENT("gradients of shape %s and hessians of shape %s are not those of the strategy",
                                      ShapeText(*gradients_).c_str(), ShapeText(*hessians_).c_str());
  }
  for (int64_t i = 1; i < rows(); ++i) {
    if (partition(i) < partition(i - 1)) return STILLFLOW_INVALID_ARGUMENT("Partition IDs must be sorted.");
  }
  return Status();
}

static int64_t InnerCount(const Tensor& tensor) {
  return tensor.rank == 0 || tensor.count == 0 ? 1 : tensor.count / tensor.dims[0];
}

Status SplitInputs::Set(const KernelCall& call, int at, bool has_bias) {
  int64_t batches = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 0, "num_minibatches", &batches));
  ratio_ = 1.0F / static_cast<float>(batches);
  partitions_ = call.in[1];
  ids_ = call.in[2];
  gradients_ = call.in[3];
  hessians_ = call.in[4];
  width_ = InnerCount(*gradients_);
  hessian_width_ = InnerCount(*hessians_);
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at, "class_id", &class_id_));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 1, "feature_column_group_id", &column_));
  at += 2;
  if (has_bias) STILLFLOW_RETURN_IF_ERROR(Scalar(call, at++, "bias_feature_id", &bias_id_));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at, "l1_regularization", &l1_));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 1, "l2_regularization", &l2_));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 2, "tree_complexity_regularization", &complexity_));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 3, "min_node_weight", &least_weight_));
  int32_t strategy = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 4, "multiclass_strategy", &strategy));
  if (strategy < 1 || strategy > 3) return STILLFLOW_INVALID_ARGUMENT("Wrong multiclass strategy passed.");
  strategy_ = static_cast<Strategy>(strategy);
  if (class_id_ != -1 && strategy_ != Strategy::kTreePerClass) {
    return STILLFLOW_INVALID_ARGUMENT("class_id must be -1 unless there is a tree per class, but is %d", class_id_);
  }
  return CheckShapes();
}

GradientStats SplitInputs::Raw(int64_t row) const {
  const auto* gradient = Data<float>(*gradients_) + row * width_;
  const auto* hessian = Data<float>(*hessians_) + row * hessian_width_;
  return {{gradient, gradient + width_}, {hessian, hessian + hessian_width_}};
}

GradientStats SplitInputs::At(int64_t row) const {
  GradientStats stats = Raw(row);
  stats.Scale(ratio_);
  return stats;
}

GradientStats SplitInputs::Total(int64_t begin, int64_t end) const {
  GradientStats total;
  for (int64_t i = begin; i < end; ++i) total.Add(Raw(i));
  total.Scale(ratio_);
  return total;
}

NodeStats SplitInputs::Weigh(const GradientStats& stats) const {
  NodeStats node;
  const bool is_scalar = strategy_ == Strategy::kTreePerClass;
  if (is_scalar) node.weight.resize(1);
  if (stats.gradient.empty() || stats.IsAlmostZero()) return node;
  if (!is_scalar) {
    const auto magnitude = static_cast<float>(std::sqrt(SumOfSquares(stats.hessian)));
    if (magnitude <= least_weight_) return node;
    boosted_trees::LeafWeigher weigher(width_, hessian_width_, 0, l2_);
    node.gain = weigher.Weigh(stats.gradient.data(), stats.hessian.data());
    node.weight = weigher.weight();
    return node;
  }
  float gradient = stats.gradient[0];
  const float hessian = stats.hessian[0];
  if (hessian <= least_weight_) return node;
  if (l1_ > 0) {
    if (std::abs(gradient) <= l1_) return node;
    gradient -= gradient > 0 ? l1_ : -l1_;
  }
  node.weight[0] = -gradient / (hessian + l2_);
  node.gain = node.weight[0] * -gradient;
  return node;
}

Leaf SplitInputs::LeafOf(const NodeStats& stats) const {
  Leaf leaf;
  if (stats.weight.empty()) return leaf;
  leaf.kind = class_id_ == -1 ? Leaf::kVector : Leaf::kSparse;
  if (class_id_ != -1) leaf.index.push_back(class_id_);
  leaf.value = stats.weight;
  return leaf;
}

std::vector<int64_t> SplitInputs::PartitionBounds() const {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i < rows(); ++i) {
    if (i == 0 || partition(i) != partition(i - 1)) bounds.push_back(i);
  }
  bounds.push_back(rows());
  return bounds;
}

Status ReadWeakLearner(const KernelCall& call, int in, WeakLearner* learner) {
  int32_t number = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, in, "weak_learner_type", &number));
  if (number != 0 && number != 1) {
    return STILLFLOW_INVALID_ARGUMENT("weak_learner_type must be 0, a normal tree, or 1, an oblivious one, but is %d",
                                      number);
  }
  *learner = static_cast<WeakLearner>(number);
  return Status();
}

Status PutSplits(const KernelCall& call, const std::vector<int32_t>& partitions,
                 const std::vector<FoundSplit>& splits) {
  const auto count = static_cast<int64_t>(splits.size());
  STILLFLOW_RETURN_IF_ERROR(
      AllocateOutput(call, 0, DType::kInt32, VectorOf(static_cast<int64_t>(partitions.size()))));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, VectorOf(count)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kString, VectorOf(count)));
  std::copy(partitions.begin(), partitions.end(), MutableData<int32_t>(*call.out[0]));
  for (int64_t i = 0; i < count; ++i) {
    MutableData<float>(*call.out[1])[i] = splits[i].gain;
    const std::string& info = splits[i].info;
    if (!SetString(call, call.out[2], i, info.data(), static_cast<int64_t>(info.size()))) return OutOfScratch();
  }
  return Status();
}

namespace {

// The nodes of a layer, split by one id after the other.
class LayerSearch {
 public:
  LayerSearch(const SplitInputs& inputs, const std::vector<std::pair<int64_t, int64_t>>& rows,
              const std::vector<GradientStats>& totals, bool is_cumulative)
      : inputs_(inputs),
        rows_(rows),
        totals_(totals),
        is_cumulative_(is_cumulative),
        next_(rows.size()),
        left_(rows.size()),
        current_(rows.size()) {
    for (size_t i = 0; i < rows.size(); ++i) next_[i] = rows[i].first;
  }

  void Run() {
    for (int64_t id = NextId(); id != kNone; id = NextId()) Try(id);
  }

  float gain() const { return gain_; }
  int64_t id() const { return id_; }
  const std::vector<std::pair<NodeStats, NodeStats>>& best() const { return best_; }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  // The lowest id among the rows that are left.
  int64_t NextId() const {
    int64_t lowest = kNone;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (next_[i] < rows_[i].second) lowest = std::min(lowest, inputs_.id(next_[i]));
    }
    return lowest;
  }

  void Try(int64_t id) {
    float gain = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!is_cumulative_) left_[i] = GradientStats();
      if (next_[i] < rows_[i].second && inputs_.id(next_[i]) == id) left_[i].Add(inputs_.At(next_[i]++));
      current_[i] = {inputs_.Weigh(left_[i]), inputs_.Weigh(totals_[i] - left_[i])};
      gain += current_[i].first.gain + current_[i].second.gain;
    }
    if (!(gain > gain_) && !best_.empty()) return;
    gain_ = gain;
    id_ = id;
    best_ = current_;
  }

  const SplitInputs& inputs_;
  const std::vector<std::pair<int64_t, int64_t>>& rows_;
  const std::vector<GradientStats>& totals_;
  bool is_cumulative_;
  std::vector<int64_t> next_;
  std::vector<GradientStats> left_;
  std::vector<std::pair<NodeStats, NodeStats>> current_;
  std::vector<std::pair<NodeStats, NodeStats>> best_;
  float gain_ = std::numeric_limits<float>::lowest();
  int64_t id_ = 0;
};

}  // namespace

FoundSplit SplitLayer(const SplitInputs& inputs, const std::vector<std::pair<int64_t, int64_t>>& rows,
                      const std::vector<GradientStats>& totals, const std::vector<int32_t>& partitions,
                      bool is_cumulative, ObliviousSplitInfo* info, int64_t* best_id) {
  LayerSearch search(inputs, rows, totals, is_cumulative);
  search.Run();
  *best_id = search.id();
  float gain = search.gain();
  for (const GradientStats& total : totals) gain -= inputs.Weigh(total).gain;
  gain -= static_cast<float>(totals.size()) * inputs.complexity();
  for (size_t i = 0; i < rows.size(); ++i) {
    info->children.push_back(inputs.LeafOf(search.best()[i].first));
    info->children.push_back(inputs.LeafOf(search.best()[i].second));
    info->parents.push_back(partitions[i]);
  }
  return {gain, ""};
}

}  // namespace stillflow::gradient_trees
