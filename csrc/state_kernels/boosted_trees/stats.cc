// Sums of gradients and hessians of examples, by the node that each is at and the bucket that a feature is in.
//
//   boosted_trees_stats_summary     in[0] int32[n]: nodes; in[1], in[2] float[n, 1]: gradients and hessians; in[3...]
//                                   int32[n] buckets of each feature; attrs max_splits, num_buckets; out[0] float
//                                   [features, max_splits, num_buckets, 2]
//   boosted_trees_aggregate_stats   in[1], in[2] of any width; in[3] int32[n, dims] buckets, -1 where a value is
//   missing;
//                                   out[0] float[max_splits, dims, num_buckets + 1, widths], missing values in the
//                                   last
//   boosted_trees_sparse_stats      in[3...5] the buckets as a sparse tensor in row-major order; out[0...2] the same
//   sums
//                                   as a sparse tensor
//
// Sums of dense buckets are made in double, in the order of the examples.
#include <map>
#include <tuple>

#include "state_kernels/boosted_trees/ensemble_resource.h"

namespace stillflow {
namespace {

using namespace boosted_trees;  // NOLINT: this file is that namespace's kernels

// The first three inputs.
struct Examples {
  int64_t count = 0;
  int64_t logits = 0;
  int64_t hessian_width = 0;
  const int32_t* nodes = nullptr;
  const float* gradients = nullptr;
  const float* hessians = nullptr;

  int64_t width() const { return logits + hessian_width; }

  Status Set(const KernelCall& call, int64_t max_splits) {
    const Tensor& ids = *call.in[0];
    STILLFLOW_RETURN_IF_ERROR(CheckRank(ids, 1, "node_ids"));
    STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[1], 2, "gradients"));
    STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[2], 2, "hessians"));
    count = ids.count;
    logits = call.in[1]->dims[1];
    hessian_width = call.in[2]->dims[1];
    STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[1], count * logits, "gradients"));
    STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[2], count * hessian_width, "hessians"));
    nodes = Data<int32_t>(ids);
    gradients = Data<float>(*call.in[1]);
    hessians = Data<float>(*call.in[2]);
    for (int64_t i = 0; i < count; ++i) {
      if (nodes[i] >= 0 && nodes[i] < max_splits) continue;
      return STILLFLOW_INVALID_ARGUMENT("node_ids[%lld] = %d is not in [0, %lld)", static_cast<long long>(i),
                                        nodes[i], static_cast<long long>(max_splits));
    }
    return Status();
  }

  template <typename T>
  void AddTo(int64_t example, T* sums) const {
    for (int64_t j = 0; j < logits; ++j) sums[j] += gradients[example * logits + j];
    for (int64_t j = 0; j < hessian_width; ++j) sums[logits + j] += hessians[example * hessian_width + j];
  }
};

Status BucketOutside(int32_t bucket, int64_t buckets) {
  return STILLFLOW_INVALID_ARGUMENT("bucket %d is not in [0, %lld)", bucket, static_cast<long long>(buckets));
}

void Narrow(const std::vector<double>& sums, float* out) {
  for (size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<float>(sums[i]);
}

Status StatsSummary(const KernelCall& call) {
  const int64_t max_splits = call.attrs[0].i, buckets = call.attrs[1].i;
  const int64_t features = call.in_count - 3;
  Examples examples;
  STILLFLOW_RETURN_IF_ERROR(examples.Set(call, max_splits));
  if (examples.count > 0 && (examples.logits < 1 || examples.hessian_width < 1)) {
    return STILLFLOW_INVALID_ARGUMENT("gradients and hessians must have a column");
  }
  Shape shape = MatrixOf(features, max_splits);
  shape.Add(buckets);
  shape.Add(2);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  const int64_t slab = max_splits * buckets * 2;
  return ForEachChunk(call, features, 1, [&](Range range) {
    return CatchingOutOfMemory([&] {
      const Tensor& feature = *call.in[3 + range.begin];
      STILLFLOW_RETURN_IF_ERROR(CheckRank(feature, 1, "bucketized_features_list"));
      STILLFLOW_RETURN_IF_ERROR(CheckCount(feature, examples.count, "bucketized_features_list"));
      std::vector<double> sums(slab);
      for (int64_t i = 0; i < examples.count; ++i) {
        const int32_t bucket = Data<int32_t>(feature)[i];
        if (bucket < 0 || bucket >= 2 * buckets) return BucketOutside(bucket, buckets);
        // Quantiles may have made some buckets too many. TensorFlow counts them for the next node, or writes beyond
        // its memory.
        const int64_t at = (examples.nodes[i] * buckets + bucket) * 2;
        if (at >= slab) continue;
        sums[at] += examples.gradients[i * examples.logits];
        sums[at + 1] += examples.hessians[i * examples.hessian_width];
      }
      Narrow(sums, MutableData<float>(*call.out[0]) + range.begin * slab);
      return Status();
    });
  });
}

Status AggregateStats(const KernelCall& call) {
  const int64_t max_splits = call.attrs[0].i, buckets = call.attrs[1].i;
  Examples examples;
  STILLFLOW_RETURN_IF_ERROR(examples.Set(call, max_splits));
  const Tensor& feature = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(feature, 2, "feature"));
  const int64_t dims = feature.dims[1];
  STILLFLOW_RETURN_IF_ERROR(CheckCount(feature, examples.count * dims, "feature"));
  Shape shape = MatrixOf(max_splits, dims);
  shape.Add(buckets + 1);
  shape.Add(examples.width());
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  std::vector<double> sums(call.out[0]->count);
  for (int64_t i = 0; i < examples.count; ++i) {
    for (int64_t d = 0; d < dims; ++d) {
      const int32_t value = Data<int32_t>(feature)[i * dims + d];
      if (value < -1 || value > buckets) return BucketOutside(value, buckets);
      const int64_t bucket = value == -1 ? buckets : value;
      examples.AddTo(i, sums.data() + ((examples.nodes[i] * dims + d) * (buckets + 1) + bucket) * examples.width());
    }
  }
  Narrow(sums, MutableData<float>(*call.out[0]));
  return Status();
}

// Sums by node, dimension of the feature, and bucket.
using SparseSums = std::map<std::tuple<int32_t, int32_t, int32_t>, std::vector<float>>;

// The sums of all entries and, in the last bucket, of what lies between them.
Status SumSparse(const KernelCall& call, const Examples& examples, int64_t dims, int64_t buckets, SparseSums* sums) {
  const Tensor& indices = *call.in[3];
  const auto add = [&](int64_t example, int64_t dim, int64_t bucket) {
    const std::tuple<int32_t, int32_t, int32_t> key(examples.nodes[example], dim, bucket);
    examples.AddTo(example, sums->try_emplace(key, examples.width()).first->second.data());
  };
  int64_t row = 0, next = 0;  // the first place that has not been counted
  const auto add_missing_until = [&](int64_t example, int64_t dim) {
    for (; row < example || (row == example && next < dim);) {
      if (next < dims) add(row, next++, buckets);
      if (next >= dims && row < example) {
        ++row;
        next = 0;
      }
    }
  };
  if (examples.count == 0 || dims == 0) return Status();
  for (int64_t i = 0; i < indices.dims[0]; ++i) {
    const int32_t example = Data<int32_t>(indices)[2 * i], dim = Data<int32_t>(indices)[2 * i + 1];
    const int32_t bucket = Data<int32_t>(*call.in[4])[i];
    const bool is_inside = example >= 0 && example < examples.count && dim >= 0 && dim < dims;
    if (!is_inside || example < row || (example == row && dim < next)) {
      return STILLFLOW_INVALID_ARGUMENT("feature_indices[%lld] = [%d,%d] is out of bounds or out of order",
                                        static_cast<long long>(i), example, dim);
    }
    if (bucket < 0 || bucket > buckets) return BucketOutside(bucket, buckets);
    add_missing_until(example, dim);
    add(example, dim, bucket);
    next = dim + 1;
  }
  add_missing_until(examples.count - 1, dims);
  return Status();
}

Status SparseStats(const KernelCall& call) {
  const int64_t max_splits = call.attrs[0].i, buckets = call.attrs[1].i;
  Examples examples;
  STILLFLOW_RETURN_IF_ERROR(examples.Set(call, max_splits));
  const Tensor& indices = *call.in[3];
  const Tensor& feature_shape = *call.in[5];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(indices, 2, "feature_indices"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(indices, indices.dims[0] * 2, "feature_indices"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[4], indices.dims[0], "feature_values"));
  if (feature_shape.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shapes should be a vector but received shapes %s",
                                      ShapeText(feature_shape).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(CheckCount(feature_shape, 2, "feature_shape"));
  const int32_t dims = Data<int32_t>(feature_shape)[1];
  if (dims < 0) return STILLFLOW_INVALID_ARGUMENT("feature_shape[1] = %d is negative", dims);
  SparseSums sums;
  STILLFLOW_RETURN_IF_ERROR(SumSparse(call, examples, dims, buckets, &sums));
  const int64_t width = examples.width(), slots = static_cast<int64_t>(sums.size()) * width;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, MatrixOf(slots, 4)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, VectorOf(slots)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt32, VectorOf(4)));
  auto* places = MutableData<int32_t>(*call.out[0]);
  auto* values = MutableData<float>(*call.out[1]);
  for (const auto& [key, sum] : sums) {
    for (int64_t j = 0; j < width; ++j) {
      *places++ = std::get<0>(key);
      *places++ = std::get<1>(key);
      *places++ = std::get<2>(key);
      *places++ = static_cast<int32_t>(j);
      *values++ = sum[j];
    }
  }
  auto* shape = MutableData<int32_t>(*call.out[2]);
  shape[0] = static_cast<int32_t>(max_splits);
  shape[1] = dims;
  shape[2] = static_cast<int32_t>(buckets + 1);
  shape[3] = static_cast<int32_t>(width);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(boosted_trees, stats){
    {"boosted_trees_stats_summary", "node_ids, gradients, hessians, bucketized_features... | max_splits, num_buckets",
     Guarded<StatsSummary>},
    {"boosted_trees_aggregate_stats", "node_ids, gradients, hessians, feature | max_splits, num_buckets",
     Guarded<AggregateStats>},
    {"boosted_trees_sparse_stats",
     "node_ids, gradients, hessians, feature_indices, feature_values, feature_shape | max_splits, num_buckets",
     Guarded<SparseStats>},
    {}};

}  // namespace stillflow
