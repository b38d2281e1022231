// Where nodes are split best, by the sums of gradients and hessians in their buckets.
//
//   boosted_trees_best_gains    in[0] int32[2]: the nodes [first, end); in[1...n] float[splits, buckets, 2] sums of
//   each
//                               feature; then l1, l2, tree complexity and the least hessian of a node; out: lists of
//                               n: int32[k] nodes, float[k] gains, int32[k] thresholds, float[k, 1] weights left and
//                               right
//   boosted_trees_best_split    in[1] float[splits, dims, buckets + 1, logits + hessians], missing values in the last
//                               bucket; attrs logits_dimension, split_type; out: nodes, gains, dimensions,
//                               thresholds, float[k, logits] weights left and right, string[k] kinds of splits
//   boosted_trees_sparse_split  in[1...3] the same sums of one logit as a sparse tensor
#include <cmath>
#include <limits>
#include <map>

#include "state_kernels/boosted_trees/ensemble_resource.h"
#include "state_kernels/boosted_trees/leaf_weight.h"

namespace stillflow {
namespace {

using namespace boosted_trees;  // NOLINT: this file is that namespace's kernels

constexpr float kNoGain = std::numeric_limits<float>::lowest();
constexpr const char* kDefaultLeft = "INEQUALITY_DEFAULT_LEFT";
constexpr const char* kDefaultRight = "INEQUALITY_DEFAULT_RIGHT";
constexpr const char* kEquality = "EQUALITY_DEFAULT_RIGHT";

// What is the same for all nodes.
struct Rules {
  int32_t first = 0;
  int32_t end = 0;
  float l1 = 0;
  float l2 = 0;
  float complexity = 0;
  float least_hessian = 0;

  // Reads in[0] and the four scalars from in[at] on.
  Status Set(const KernelCall& call, int at, int64_t splits) {
    STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[0], 1, "node_id_range"));
    STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[0], 2, "node_id_range"));
    first = Data<int32_t>(*call.in[0])[0];
    end = Data<int32_t>(*call.in[0])[1];
    if (first < end && (first < 0 || end > splits)) {
      return STILLFLOW_INVALID_ARGUMENT("node_id_range [%d, %d) is not within [0, %lld)", first, end,
                                        static_cast<long long>(splits));
    }
    STILLFLOW_RETURN_IF_ERROR(Scalar(call, at, "l1", &l1));
    STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 1, "l2", &l2));
    STILLFLOW_RETURN_IF_ERROR(Scalar(call, at + 2, "tree_complexity", &complexity));
    return Scalar(call, at + 3, "min_node_weight", &least_hessian);
  }
};

struct Best {
  int32_t node = 0;
  float gain = kNoGain;
  int32_t dimension = 0;
  int32_t bucket = 0;
  std::vector<float> left;
  std::vector<float> right;
  const char* kind = kDefaultLeft;
};

// ---- Outputs ------------------------------------------------------------------------------------------------------

template <typename T, typename Get>
Status PutVector(const KernelCall& call, int out, const std::vector<Best>& found, const Get& get) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DTypeOf<T>(), VectorOf(static_cast<int64_t>(found.size()))));
  for (size_t i = 0; i < found.size(); ++i) MutableData<T>(*call.out[out])[i] = get(found[i]);
  return Status();
}

Status PutWeights(const KernelCall& call, int out, int64_t logits, const std::vector<Best>& found, bool is_left) {
  const Shape shape = MatrixOf(static_cast<int64_t>(found.size()), logits);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kFloat, shape));
  auto* at = MutableData<float>(*call.out[out]);
  for (const Best& each : found) at = std::copy_n((is_left ? each.left : each.right).data(), logits, at);
  return Status();
}

// Outputs from `out` on, `step` apart; dimensions and kinds only where there is an output for them.
Status Put(const KernelCall& call, int out, int step, const Rules& rules, int64_t logits, bool is_v2,
           const std::vector<Best>& found) {
  STILLFLOW_RETURN_IF_ERROR(PutVector<int32_t>(call, out, found, [](const Best& best) { return best.node; }));
  STILLFLOW_RETURN_IF_ERROR(
      PutVector<float>(call, out += step, found, [&](const Best& best) { return best.gain - rules.complexity; }));
  if (is_v2) {
    STILLFLOW_RETURN_IF_ERROR(
        PutVector<int32_t>(call, out += step, found, [](const Best& best) { return best.dimension; }));
  }
  STILLFLOW_RETURN_IF_ERROR(
      PutVector<int32_t>(call, out += step, found, [](const Best& best) { return best.bucket; }));
  STILLFLOW_RETURN_IF_ERROR(PutWeights(call, out += step, logits, found, true));
  STILLFLOW_RETURN_IF_ERROR(PutWeights(call, out += step, logits, found, false));
  if (!is_v2) return Status();
  out += step;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kString, VectorOf(static_cast<int64_t>(found.size()))));
  for (size_t i = 0; i < found.size(); ++i) {
    const char* kind = found[i].kind;
    if (!SetString(call, call.out[out], static_cast<int64_t>(i), kind, static_cast<int64_t>(std::strlen(kind)))) {
      return OutOfScratch();
    }
  }
  return Status();
}

// ---- One logit ----------------------------------------------------------------------------------------------------

// Considers a split of one logit's node: what goes to the left, of a total.
class ScalarSearch {
 public:
  ScalarSearch(const Rules& rules, float gradient, float hessian)
      : rules_(rules), gradient_(gradient), hessian_(hessian) {
    float unused = 0;
    Weigh(gradient, hessian, rules.l1, rules.l2, &unused, &parent_gain_);
    best_.left.resize(1);
    best_.right.resize(1);
  }

  void Consider(float left_gradient, float left_hessian, int32_t dimension, int32_t bucket, const char* kind) {
    Consider(left_gradient, left_hessian, gradient_ - left_gradient, hessian_ - left_hessian, dimension, bucket,
             kind);
  }

  void Consider(float left_gradient, float left_hessian, float right_gradient, float right_hessian, int32_t dimension,
                int32_t bucket, const char* kind) {
    float left = 0, right = 0, left_gain = 0, right_gain = 0;
    Weigh(left_gradient, left_hessian, rules_.l1, rules_.l2, &left, &left_gain);
    Weigh(right_gradient, right_hessian, rules_.l1, rules_.l2, &right, &right_gain);
    if (!GainIsLarger(left_gain + right_gain, best_.gain)) return;
    best_.gain = left_gain + right_gain;
    best_.dimension = dimension;
    best_.bucket = bucket;
    best_.left[0] = left;
    best_.right[0] = right;
    best_.kind = kind;
  }

  bool found() const { return best_.gain != kNoGain; }

  Best Take(int32_t node) {
    best_.node = node;
    best_.gain -= parent_gain_;
    return best_;
  }

 private:
  const Rules& rules_;
  float gradient_;
  float hessian_;
  float parent_gain_ = 0;
  Best best_;
};

Status BestGains(const KernelCall& call) {
  const int features = call.in_count - 5;
  const Tensor& first = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(first, 3, "stats_summary_list"));
  Rules rules;
  STILLFLOW_RETURN_IF_ERROR(rules.Set(call, 1 + features, first.dims[0]));
  const int64_t buckets = first.dims[1];
  for (int f = 0; f < features; ++f) {
    if (!(Shape(*call.in[1 + f]) == Shape(first)) || first.dims[2] != 2) {
      return STILLFLOW_INVALID_ARGUMENT("stats_summary_list[%d] has the shape %s, not [%lld,%lld,2]", f,
                                        ShapeText(*call.in[1 + f]).c_str(), static_cast<long long>(first.dims[0]),
                                        static_cast<long long>(buckets));
    }
  }
  return ForEachChunk(call, features, 1, [&](Range range) {
    return CatchingOutOfMemory([&] {
      std::vector<Best> found;
      for (int32_t node = rules.first; node < rules.end; ++node) {
        const float* sums = Data<float>(*call.in[1 + range.begin]) + node * buckets * 2;
        float gradient = 0, hessian = 0;
        for (int64_t b = 0; b < buckets; ++b) {
          gradient += sums[2 * b];
          hessian += sums[2 * b + 1];
        }
        if (hessian < rules.least_hessian) continue;
        ScalarSearch search(rules, gradient, hessian);
        gradient = hessian = 0;
        for (int64_t b = 0; b < buckets; ++b) {
          gradient += sums[2 * b];
          hessian += sums[2 * b + 1];
          search.Consider(gradient, hessian, 0, static_cast<int32_t>(b), kDefaultLeft);
        }
        found.push_back(search.Take(node));
      }
      return Put(call, static_cast<int>(range.begin), features, rules, 1, false, found);
    });
  });
}

// ---- Several logits -----------------------------------------------------------------------------------------------

// The sums of one node, [dims, buckets + 1, width], and how they are split best.
class VectorSearch {
 public:
  VectorSearch(const Rules& rules, int64_t logits, int64_t hessians, int64_t dims, int64_t buckets)
      : logits_(logits),
        width_(logits + hessians),
        dims_(dims),
        buckets_(buckets),
        left_(logits, hessians, rules.l1, rules.l2),
        right_(logits, hessians, rules.l1, rules.l2),
        rest_(width_) {}

  // Whether the node is split; `best` then is how.
  bool Find(const float* sums, bool is_equality, float least_hessian, Best* best) {
    *best = Best();
    const std::vector<float> total = Total(sums);
    float square = 0;
    for (int64_t j = logits_; j < width_; ++j) square += total[j] * total[j];
    if (std::sqrt(square) < least_hessian) return false;
    const float parent_gain = left_.Weigh(total.data(), total.data() + logits_);
    for (int64_t d = 0; d < dims_; ++d) {
      const float* dim = sums + d * (buckets_ + 1) * width_;
      is_equality ? FindEqual(dim, total, static_cast<int32_t>(d), best)
                  : FindLess(dim, static_cast<int32_t>(d), best);
    }
    if (best->gain == kNoGain) return false;
    best->gain -= parent_gain;
    return true;
  }

 private:
  std::vector<float> Total(const float* dim) const {
    std::vector<float> total(width_);
    for (int64_t i = 0; i < (buckets_ + 1) * width_; ++i) total[i % width_] += dim[i];
    return total;
  }

  void FindEqual(const float* dim, const std::vector<float>& total, int32_t d, Best* best) {
    for (int64_t b = 0; b < buckets_; ++b) Consider(dim + b * width_, total, d, b, kEquality, best);
  }

  void FindLess(const float* dim, int32_t d, Best* best) {
    const std::vector<float> total = Total(dim);
    const float* missing = dim + buckets_ * width_;
    std::vector<float> left(width_), with_missing(width_);
    for (int64_t b = 0; b < buckets_; ++b) {
      for (int64_t j = 0; j < width_; ++j) {
        left[j] += dim[b * width_ + j];
        with_missing[j] = left[j] + missing[j];
      }
      Consider(with_missing.data(), total, d, b, kDefaultLeft, best);
      Consider(left.data(), total, d, b, kDefaultRight, best);
    }
  }

  void Consider(const float* left, const std::vector<float>& total, int32_t d, int64_t b, const char* kind,
                Best* best) {
    for (int64_t j = 0; j < width_; ++j) rest_[j] = total[j] - left[j];
    const float left_gain = left_.Weigh(left, left + logits_);
    const float right_gain = right_.Weigh(rest_.data(), rest_.data() + logits_);
    if (!GainIsLarger(left_gain + right_gain, best->gain)) return;
    best->gain = left_gain + right_gain;
    best->dimension = d;
    best->bucket = static_cast<int32_t>(b);
    best->left = left_.weight();
    best->right = right_.weight();
    best->kind = kind;
  }

  int64_t logits_, width_, dims_, buckets_;
  LeafWeigher left_, right_;
  std::vector<float> rest_;
};

Status BestSplit(const KernelCall& call) {
  const int64_t logits = call.attrs[0].i;
  const bool is_equality = call.attrs[1].i == 1;
  const Tensor& sums = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(sums, 4, "stats_summary"));
  Rules rules;
  STILLFLOW_RETURN_IF_ERROR(rules.Set(call, 2, sums.dims[0]));
  const int64_t hessians = sums.dims[3] - logits;
  if ((hessians != logits && hessians != logits * logits) || sums.dims[1] < 1 || sums.dims[2] < 1) {
    return STILLFLOW_INVALID_ARGUMENT("stats_summary of shape %s does not fit %lld logits", ShapeText(sums).c_str(),
                                      static_cast<long long>(logits));
  }
  const int64_t stride = sums.dims[1] * sums.dims[2] * sums.dims[3];
  VectorSearch search(rules, logits, hessians, sums.dims[1], sums.dims[2] - 1);
  std::vector<Best> found;
  for (int32_t node = rules.first; node < rules.end; ++node) {
    Best best;
    if (!search.Find(Data<float>(sums) + node * stride, is_equality, rules.least_hessian, &best)) continue;
    best.node = node;
    found.push_back(best);
  }
  return Put(call, 0, 1, rules, logits, true, found);
}

// ---- Sparse sums --------------------------------------------------------------------------------------------------

struct Sum {
  float gradient = 0;
  float hessian = 0;
};
using SumsOfNode = std::map<int32_t, std::map<int32_t, Sum>>;  // by dimension and bucket

void SearchSparse(const SumsOfNode& node, int32_t id, int32_t buckets, const Rules& rules, std::vector<Best>* found) {
  if (node.empty()) return;
  Sum total;  // every dimension has the same examples
  for (const auto& [bucket, sum] : node.begin()->second) {
    total.gradient += sum.gradient;
    total.hessian += sum.hessian;
  }
  if (total.hessian < rules.least_hessian) return;
  ScalarSearch search(rules, total.gradient, total.hessian);
  for (const auto& [dim, sums] : node) {
    const auto last = sums.find(buckets);
    const Sum missing = last == sums.end() ? Sum() : last->second;
    Sum left;
    for (const auto& [bucket, sum] : sums) {
      if (bucket == buckets) break;
      left.gradient += sum.gradient;
      left.hessian += sum.hessian;
      search.Consider(left.gradient, left.hessian, dim, bucket, kDefaultRight);
      search.Consider(left.gradient + missing.gradient, left.hessian + missing.hessian,
                      total.gradient - missing.gradient - left.gradient,
                      total.hessian - missing.hessian - left.hessian, dim, bucket, kDefaultLeft);
    }
  }
  if (search.found()) found->push_back(search.Take(id));
}

Status SparseSplit(const KernelCall& call) {
  const Tensor& indices = *call.in[1];
  const Tensor& values = *call.in[2];
  const Tensor& shape = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(indices, 2, "stats_summary_indices"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(indices, indices.dims[0] * 4, "stats_summary_indices"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(values, indices.dims[0], "stats_summary_values"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(shape, 4, "stats_summary_shape"));
  Rules rules;
  STILLFLOW_RETURN_IF_ERROR(rules.Set(call, 4, std::numeric_limits<int32_t>::max()));
  const int32_t buckets = Data<int32_t>(shape)[2] - 1;
  SumsOfNode sums;
  std::vector<Best> found;
  int32_t node = -1;
  for (int64_t i = 0; i < values.count; ++i) {
    const int32_t* at = Data<int32_t>(indices) + 4 * i;
    if (at[3] < 0 || at[3] > 1) {
      return STILLFLOW_INVALID_ARGUMENT("stats_summary_indices[%lld, 3] = %d is not in [0, 2)",
                                        static_cast<long long>(i), at[3]);
    }
    if (at[0] != node) {
      SearchSparse(sums, node, buckets, rules, &found);
      sums.clear();
      node = at[0];
    }
    Sum& sum = sums[at[1]][at[2]];
    (at[3] == 0 ? sum.gradient : sum.hessian) = Data<float>(values)[i];
  }
  SearchSparse(sums, node, buckets, rules, &found);
  return Put(call, 0, 1, rules, 1, true, found);
}

}  // namespace

STILLFLOW_KERNELS(boosted_trees, splits){
    {"boosted_trees_best_gains", "node_id_range, stats_summary_list..., l1, l2, tree_complexity, min_node_weight",
     Guarded<BestGains>},
    {"boosted_trees_best_split",
     "node_id_range, stats_summary, l1, l2, tree_complexity, min_node_weight | logits_dimension, "
     "split_type: inequality equality",
     Guarded<BestSplit>},
    {"boosted_trees_sparse_split", "node_id_range, indices, values, shape, l1, l2, tree_complexity, min_node_weight",
     Guarded<SparseSplit>},
    {}};

}  // namespace stillflow
