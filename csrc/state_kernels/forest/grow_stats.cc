#include "state_kernels/forest/grow_stats.h"

#include <cfloat>
#include <cmath>
#include <queue>
#include <set>
#include <utility>

namespace stillflow::forest {
namespace {

float SmoothedGini(float sum, float square, float classes) {
  const float smoothed = classes + sum;
  return 1.0f - (square + 2.0f * sum + classes) / (smoothed * smoothed);
}

float WeightedGini(float sum, float square, int64_t classes) {
  return sum * SmoothedGini(sum, square, static_cast<float>(classes));
}

// ---- Classes ------------------------------------------------------------------------------------------------------

class ClassStats final : public GrowStats {
 public:
  ClassStats(const Params& params, int depth) : GrowStats(params, depth), totals_(outputs_) {
    least_samples_ = split_after_;
    check_every_ = split_after_ * 2;
    if (params.finish_type != kFinishBasic) {
      least_samples_ = static_cast<int64_t>(params.min_split_samples.At(depth));
      check_every_ = std::max<int64_t>(static_cast<int64_t>(params.check_every.At(depth)), 1);
      finish_epoch_ = least_samples_ / check_every_;
    }
    dominate_fraction_ = params.dominate_fraction.At(depth);
    prune_every_ = static_cast<int64_t>(params.prune_every.At(depth));
  }

  bool HasCandidates() const override {
    return weight_sum_ > 0 || (static_cast<int64_t>(splits_.size()) == most_candidates_ && half_made_.empty());
  }

  void AddExample(const Input& input, const Target& target, int64_t example) override {
    const int64_t label = target.ClassOf(example);
    const float weight = target.WeightOf(example);
    for (size_t i = 0; i < splits_.size(); ++i) {
      Split asked = splits_[i];
      asked.threshold = thresholds_[i];
      if (asked.GoesLeft(input.ValueAt(example, asked.feature))) {
        lefts_[i * outputs_ + label] += weight;
      }
    }
    classes_seen_ += totals_[label] == 0 && weight > 0;
    totals_[label] += weight;
    weight_sum_ += weight;
    CheckFinish();
    Prune();
  }

  bool IsFinished() const override {
    return (weight_sum_ >= static_cast<float>(split_after_) && classes_seen_ > 1) || finishes_early_;
  }

  bool FindBest(BestSplit* best) const override {
    float least = FLT_MAX;
    int64_t index = -1;
    for (size_t i = 0; i < splits_.size(); ++i) {
      float left = 0, right = 0;
      const float score = Score(i, &left, &right);
      if (left > 0 && right > 0 && score < least) {
        least = score;
        index = static_cast<int64_t>(i);
      }
    }
    if (index < 0) return false;
    best->split = splits_[index];
    for (int64_t c = 0; c < outputs_; ++c) {
      const float left = lefts_[index * outputs_ + c];
      AddTo(&best->left, c, left);
      AddTo(&best->right, c, totals_[c] - left);
    }
    return true;
  }

  SlotKind kind() const override { return params_.stats_type == kSparseGini ? SlotKind::kSparse : SlotKind::kDense; }

  Slot Pack() const override {
    Slot slot;
    slot.total = {weight_sum_, totals_, {}};
    for (size_t i = 0; i < splits_.size(); ++i) {
      const auto begin = lefts_.begin() + static_cast<int64_t>(i) * outputs_;
      slot.candidates.push_back({splits_[i], {0, {begin, begin + outputs_}, {}}});
    }
    return slot;
  }

  void Unpack(const Slot& slot) override {
    if (!slot.has_stats) return;
    weight_sum_ = slot.total.weight;
    totals_ = slot.total.counts;
    for (const float count : totals_) classes_seen_ += count != 0;
    for (const Candidate& candidate : slot.candidates) {
      if (static_cast<int64_t>(splits_.size()) >= most_candidates_) break;
      splits_.push_back(candidate.split);
      thresholds_.push_back(candidate.split.threshold);
      lefts_.insert(lefts_.end(), candidate.left.counts.begin(), candidate.left.counts.end());
    }
  }

 protected:
  void AddCounts(const Target* target, int64_t example) override {
    lefts_.resize(lefts_.size() + outputs_);
    const size_t last = splits_.size() - 1;
    thresholds_.push_back(splits_[last].threshold);
    if (params_.initialize_average_splits && splits_[last].kind != Split::kMatches) {
      half_made_[last] = target->ClassOf(example);
    }
  }

  // A threshold lies between the example that proposed it and the first one of another class.
  void Average(const Input& input, const Target& target, int64_t example) override {
    const int64_t label = target.ClassOf(example);
    for (auto it = half_made_.begin(); it != half_made_.end();) {
      if (it->second == label) {
        ++it;
        continue;
      }
      Split& split = splits_[it->first];
      split.threshold = (split.threshold + input.ValueAt(example, split.feature)) / 2.0f;
      it = half_made_.erase(it);
    }
  }

 private:
  void AddTo(Leaf* leaf, int64_t c, float count) const {
    if (params_.stats_type == kDenseGini) {
      leaf->is_vector = true;
      leaf->vector.push_back({count, true});
    } else {
      leaf->is_sparse = true;
      if (count > 0) leaf->sparse[c] = {count, true};
    }
  }

  // The impurity of both sides together, and their weights.
  float Score(size_t split, float* left_sum, float* right_sum) const {
    float left_square = 0, right_square = 0;
    *left_sum = *right_sum = 0;
    for (int64_t c = 0; c < outputs_; ++c) {
      const float left = lefts_[split * outputs_ + c];
      *left_sum += left;
      left_square += left * left;
      const float right = totals_[c] - left;
      *right_sum += right;
      right_square += right * right;
    }
    return WeightedGini(*left_sum, left_square, outputs_) + WeightedGini(*right_sum, right_square, outputs_);
  }

  std::vector<float> Scores() const {
    std::vector<float> scores(splits_.size());
    float left = 0, right = 0;
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = Score(i, &left, &right);
    return scores;
  }

  // Hoeffding's bound: the best candidate stays the best.
  void CheckFinish() {
    if (weight_sum_ < static_cast<float>(least_samples_) ||
        weight_sum_ < static_cast<float>(finish_epoch_ * check_every_)) {
      return;
    }
    ++finish_epoch_;
    if (params_.finish_type != kFinishHoeffding) return;
    const float range = 0.25f * static_cast<float>(outputs_) * weight_sum_;
    const double bound = range * std::sqrt(std::log(1.0 / (1.0 - dominate_fraction_)) / (2.0 * weight_sum_));
    float best = FLT_MAX, second = FLT_MAX;
    for (const float score : Scores()) {
      if (score < best) {
        second = best;
        best = score;
      } else if (score < second) {
        second = score;
      }
    }
    finishes_early_ = static_cast<double>(second - best) > bound;
  }

  void Prune() {
    if (params_.pruning_type == kPruneNone || IsFinished() ||
        weight_sum_ < static_cast<float>(prune_epoch_ * prune_every_)) {
      return;
    }
    ++prune_epoch_;
    const std::vector<float> scores = Scores();
    std::set<size_t> removed;
    if (params_.pruning_type == kPruneHoeffding) {
      removed = BeyondBound(scores);
    } else {
      const double fraction = params_.pruning_type == kPruneHalf      ? 0.5
                              : params_.pruning_type == kPruneQuarter ? 0.25
                                                                      : 0.1;
      removed = Worst(scores, static_cast<size_t>(static_cast<float>(splits_.size()) * static_cast<float>(fraction)));
    }
    for (auto it = removed.rbegin(); it != removed.rend(); ++it) {
      splits_.erase(splits_.begin() + static_cast<int64_t>(*it));
      thresholds_.erase(thresholds_.begin() + static_cast<int64_t>(*it));
      const auto begin = lefts_.begin() + static_cast<int64_t>(*it) * outputs_;
      lefts_.erase(begin, begin + outputs_);
    }
  }

  static std::set<size_t> Worst(const std::vector<float>& scores, size_t count) {
    using Entry = std::pair<float, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> worst;
    std::set<size_t> found;
    for (size_t i = 0; i < scores.size() && count > 0; ++i) {
      if (worst.size() >= count) {
        if (worst.top().first >= scores[i]) continue;
        found.erase(worst.top().second);
        worst.pop();
      }
      worst.emplace(scores[i], i);
      found.insert(i);
    }
    return found;
  }

  std::set<size_t> BeyondBound(const std::vector<float>& scores) const {
    float best = FLT_MAX;
    for (const float score : scores) best = std::min(best, score);
    const auto half_log = static_cast<float>(0.5 * std::log(1.0 / (1.0 - dominate_fraction_)));
    const auto range = static_cast<float>(weight_sum_ * (1.0 - 1.0 / static_cast<double>(outputs_)));
    const float epsilon = range * std::sqrt(half_log / weight_sum_);
    std::set<size_t> found;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] - best > epsilon) found.insert(i);
    }
    return found;
  }

  std::vector<float> totals_, lefts_;
  std::vector<float> thresholds_;  // what candidates are counted by: those proposed, also after they are averaged
  int64_t classes_seen_ = 0, least_samples_ = 0, check_every_ = 1, finish_epoch_ = 1, prune_epoch_ = 1,
          prune_every_ = 0;
  double dominate_fraction_ = 0;
  bool finishes_early_ = false;
  std::map<size_t, int64_t> half_made_;  // the class of the example that proposed a split
};

// ---- Numbers ------------------------------------------------------------------------------------------------------

class RegressionStats final : public GrowStats {
 public:
  RegressionStats(const Params& params, int depth) : GrowStats(params, depth), sums_(outputs_), squares_(outputs_) {}

  void AddExample(const Input& input, const Target& target, int64_t example) override {
    for (size_t i = 0; i < splits_.size(); ++i) {
      if (!splits_[i].GoesLeft(input.ValueAt(example, splits_[i].feature))) continue;
      for (int64_t j = 0; j < outputs_; ++j) {
        const float output = target.OutputOf(example, j);
        left_sums_[i * outputs_ + j] += output;
        left_squares_[i * outputs_ + j] += output * output;
      }
      ++left_counts_[i];
    }
    for (int64_t j = 0; j < outputs_; ++j) {
      const float output = target.OutputOf(example, j);
      sums_[j] += output;
      squares_[j] += output * output;
    }
    weight_sum_ += 1.0f;
  }

  bool IsFinished() const override { return weight_sum_ >= static_cast<float>(split_after_); }

  bool FindBest(BestSplit* best) const override {
    float least = FLT_MAX;
    int64_t index = -1;
    for (size_t i = 0; i < splits_.size(); ++i) {
      if (left_counts_[i] <= 0 || weight_sum_ - static_cast<float>(left_counts_[i]) <= 0) continue;
      const float score = Variance(i);
      if (score < least) {
        least = score;
        index = static_cast<int64_t>(i);
      }
    }
    if (index < 0) return false;
    best->split = splits_[index];
    best->left.is_vector = best->right.is_vector = true;
    const auto left_count = static_cast<float>(left_counts_[index]);
    for (int64_t j = 0; j < outputs_; ++j) {
      const float left = left_sums_[index * outputs_ + j];
      best->left.vector.push_back({left / left_count, true});
      best->right.vector.push_back({(sums_[j] - left) / (weight_sum_ - left_count), true});
    }
    return true;
  }

  SlotKind kind() const override { return SlotKind::kRegression; }

  Slot Pack() const override {
    Slot slot;
    slot.total = {weight_sum_, sums_, squares_};
    for (size_t i = 0; i < splits_.size(); ++i) {
      const auto first = static_cast<int64_t>(i) * outputs_;
      slot.candidates.push_back({splits_[i],
                                 {static_cast<float>(left_counts_[i]),
                                  {left_sums_.begin() + first, left_sums_.begin() + first + outputs_},
                                  {left_squares_.begin() + first, left_squares_.begin() + first + outputs_}}});
    }
    return slot;
  }

  void Unpack(const Slot& slot) override {
    if (!slot.has_stats) return;
    weight_sum_ = slot.total.weight;
    sums_ = slot.total.counts;
    squares_ = slot.total.squares;
    for (const Candidate& candidate : slot.candidates) {
      if (static_cast<int64_t>(splits_.size()) >= most_candidates_) break;
      splits_.push_back(candidate.split);
      left_sums_.insert(left_sums_.end(), candidate.left.counts.begin(), candidate.left.counts.end());
      left_squares_.insert(left_squares_.end(), candidate.left.squares.begin(), candidate.left.squares.end());
      left_counts_.push_back(static_cast<int64_t>(candidate.left.weight));
    }
  }

 protected:
  void AddCounts(const Target*, int64_t) override {
    left_sums_.resize(left_sums_.size() + outputs_);
    left_squares_.resize(left_squares_.size() + outputs_);
    left_counts_.push_back(0);
  }

 private:
  float Variance(size_t split) const {
    const auto left_count = static_cast<float>(left_counts_[split]);
    const float right_count = weight_sum_ - left_count;
    float total = 0;
    for (int64_t j = 0; j < outputs_; ++j) {
      const float left_sum = left_sums_[split * outputs_ + j], left_square = left_squares_[split * outputs_ + j];
      const float left_mean = left_sum / left_count;
      total += left_square / left_count - left_mean * left_mean;
      const float right_mean = (sums_[j] - left_sum) / right_count;
      total += (squares_[j] - left_square) / right_count - right_mean * right_mean;
    }
    return total;
  }

  std::vector<float> sums_, squares_, left_sums_, left_squares_;
  std::vector<int64_t> left_counts_;
};

}  // namespace

std::unique_ptr<GrowStats> NewGrowStats(const Params& params, int depth) {
  if (params.stats_type == kLeastSquares) return std::make_unique<RegressionStats>(params, depth);
  return std::make_unique<ClassStats>(params, depth);
}

}  // namespace stillflow::forest
