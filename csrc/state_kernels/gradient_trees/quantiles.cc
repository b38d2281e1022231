// Quantiles of the features of one batch, and the buckets that numbers are in.
//
//   make_feature_summaries  lists of float[n, 1] dense features, and int64[k, 2], float[k], int64[2] sparse ones;
//   then
//                           float weights of the n examples; attrs num_dense_features, num_sparse_features, epsilon;
//                           out: string[] a QuantileSummaryState of each
//   feature_buckets         the same inputs; attrs num_dense_features, num_sparse_features, and lists of a
//                           QuantileConfig for each; out: float[k] boundaries of each
//   feature_quantiles       lists of float[n] dense and sparse values, float[k] boundaries of each, int64[n, 2]
//   sparse
//                           indices; attrs num_dense_features, num_sparse_features; out: int32[n, 2] buckets and
//                           dimensions of each
//   bucketize_with_boundaries  in[0] int32 | int64 | float | double; in[1] float: boundaries in ascending order;
//   out[0]
//                           int32 of in[0]'s shape: how many are not above
#include <algorithm>

#include "state_kernels/gradient_trees/ensemble_resource.h"
#include "state_kernels/gradient_trees/quantile_message.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

// A chunk for each feature, guarded against running out of memory.
template <typename Body>
Status ForEachFeature(const KernelCall& call, int64_t count, const Body& body) {
  return ForEachChunk(call, count, 1, [&](Range range) {
    return CatchingOutOfMemory([&] { return body(static_cast<int>(range.begin)); });
  });
}

// The features of a batch: dense ones, then sparse ones, then the weights of examples.
struct Batch {
  explicit Batch(const KernelCall& call)
      : call(call),
        dense(static_cast<int>(call.attrs[0].i)),
        sparse(static_cast<int>(call.attrs[1].i)),
        weights(*call.in[dense + 3 * sparse]) {}

  Status Check() const {
    if (dense + sparse > 0) return Status();
    return STILLFLOW_INVALID_ARGUMENT("Please provide at least sparse or dense features.");
  }

  // Pushes the values of a feature, counted with the dense ones first.
  Status Push(int feature, QuantileStream* stream) const {
    return feature < dense ? PushDense(*call.in[feature], stream) : PushSparse(feature, stream);
  }

  Status PushDense(const Tensor& values, QuantileStream* stream) const {
    STILLFLOW_RETURN_IF_ERROR(CheckCount(values, weights.count, "dense_float_features"));
    for (int64_t i = 0; i < values.count; ++i) stream->Push(Data<float>(values)[i], Data<float>(weights)[i]);
    return Status();
  }

  Status PushSparse(int feature, QuantileStream* stream) const {
    const Tensor& indices = *call.in[feature];
    const Tensor& values = *call.in[feature + sparse];
    const Tensor& shape = *call.in[feature + 2 * sparse];
    STILLFLOW_RETURN_IF_ERROR(CheckRank(indices, 2, "sparse_float_feature_indices"));
    STILLFLOW_RETURN_IF_ERROR(CheckCount(indices, 2 * values.count, "sparse_float_feature_indices"));
    if (shape.count < 1 || Data<int64_t>(shape)[0] != weights.count) {
      return STILLFLOW_INVALID_ARGUMENT("Sparse column shape doesn't match the batch size.");
    }
    for (int64_t i = 0; i < values.count; ++i) {
      const int64_t example = Data<int64_t>(indices)[2 * i];
      if (example < 0 || example >= weights.count) {
        return STILLFLOW_INVALID_ARGUMENT("sparse_float_feature_indices[%lld, 0] = %lld is not in [0, %lld)",
                                          static_cast<long long>(i), static_cast<long long>(example),
                                          static_cast<long long>(weights.count));
      }
      stream->Push(Data<float>(values)[i], Data<float>(weights)[example]);
    }
    return Status();
  }

  const KernelCall& call;
  int dense;
  int sparse;
  const Tensor& weights;
};

Status CheckError(double epsilon) {
  if (epsilon > 0 && epsilon < 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("The error of quantiles must be in (0, 1), but is %g", epsilon);
}

Status MakeSummaries(const KernelCall& call) {
  const Batch batch(call);
  const auto epsilon = static_cast<double>(static_cast<float>(call.attrs[2].f));
  STILLFLOW_RETURN_IF_ERROR(batch.Check());
  STILLFLOW_RETURN_IF_ERROR(CheckError(epsilon));
  return ForEachFeature(call, batch.dense + batch.sparse, [&](int feature) {
    QuantileStream stream(epsilon, batch.weights.count + 1);
    STILLFLOW_RETURN_IF_ERROR(batch.Push(feature, &stream));
    return SetScalarBytes(call, feature, SummaryBytes(stream.Finish()));
  });
}

Status ReadConfigs(const Attr& attr, int64_t count, const char* kind, std::vector<QuantileConfig>* configs) {
  const std::vector<std::string> messages = StringsOf(attr);
  if (static_cast<int64_t>(messages.size()) != count) {
    return STILLFLOW_INVALID_ARGUMENT("Mismatch in number of %s quantile configs.", kind);
  }
  for (const std::string& bytes : messages) {
    QuantileConfig config;
    if (!ParseQuantileConfig(io::Bytes(bytes), &config)) {
      return STILLFLOW_INVALID_ARGUMENT("Malformed QuantileConfig passed in.");
    }
    STILLFLOW_RETURN_IF_ERROR(CheckError(config.eps));
    if (config.num_quantiles < 1) {
      return STILLFLOW_INVALID_ARGUMENT("num_quantiles must be positive, but is %lld",
                                        static_cast<long long>(config.num_quantiles));
    }
    configs->push_back(config);
  }
  return Status();
}

Status FeatureBuckets(const KernelCall& call) {
  const Batch batch(call);
  std::vector<QuantileConfig> configs;
  STILLFLOW_RETURN_IF_ERROR(batch.Check());
  STILLFLOW_RETURN_IF_ERROR(ReadConfigs(call.attrs[2], batch.dense, "dense", &configs));
  STILLFLOW_RETURN_IF_ERROR(ReadConfigs(call.attrs[3], batch.sparse, "sparse", &configs));
  return ForEachFeature(call, batch.dense + batch.sparse, [&](int feature) {
    QuantileStream stream(configs[feature].eps, std::max<int64_t>(1, batch.weights.count));
    STILLFLOW_RETURN_IF_ERROR(batch.Push(feature, &stream));
    std::vector<float> boundaries = stream.Finish().Boundaries(configs[feature].num_quantiles);
    boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
    STILLFLOW_RETURN_IF_ERROR(
        AllocateOutput(call, feature, DType::kFloat, VectorOf(static_cast<int64_t>(boundaries.size()))));
    std::copy(boundaries.begin(), boundaries.end(), MutableData<float>(*call.out[feature]));
    return Status();
  });
}

Status QuantilesOf(const KernelCall& call, int feature, const Tensor& values, const Tensor& boundaries,
                   const Tensor* indices) {
  const char* kind = indices == nullptr ? "Dense" : "Sparse";
  if (boundaries.rank != 1) return STILLFLOW_INVALID_ARGUMENT("%s buckets should be flat vectors", kind);
  if (values.rank < 1 || values.count < values.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("%s values of shape %s are not one for each example", kind,
                                      ShapeText(values).c_str());
  }
  const int64_t count = values.dims[0];
  if (count > 0 && boundaries.count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Got empty buckets for feature %d", feature);
  }
  if (indices != nullptr) STILLFLOW_RETURN_IF_ERROR(CheckCount(*indices, 2 * count, "sparse_indices"));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, feature, DType::kInt32, MatrixOf(count, 2)));
  const auto* begin = Data<float>(boundaries);
  auto* out = MutableData<int32_t>(*call.out[feature]);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t found = std::lower_bound(begin, begin + boundaries.count, Data<float>(values)[i]) - begin;
    out[2 * i] = static_cast<int32_t>(std::min(found, boundaries.count - 1));
    out[2 * i + 1] = indices == nullptr ? 0 : static_cast<int32_t>(Data<int64_t>(*indices)[2 * i + 1]);
  }
  return Status();
}

Status FeatureQuantiles(const KernelCall& call) {
  const auto dense = static_cast<int>(call.attrs[0].i), sparse = static_cast<int>(call.attrs[1].i);
  const int features = dense + sparse;
  if (features == 0) return STILLFLOW_INVALID_ARGUMENT("Please provide at least sparse or dense features.");
  return ForEachFeature(call, features, [&](int feature) {
    const Tensor* indices = feature < dense ? nullptr : call.in[2 * features + feature - dense];
    return QuantilesOf(call, feature, *call.in[feature], *call.in[features + feature], indices);
  });
}

Status Bucketize(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& boundaries = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape(input)));
  return ForType<int32_t, int64_t, float, double>("BucketizeWithInputBoundaries", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<T> sorted(Data<float>(boundaries), Data<float>(boundaries) + boundaries.count);
    if (!std::is_sorted(sorted.begin(), sorted.end())) {
      return STILLFLOW_INVALID_ARGUMENT("Expected sorted boundaries");
    }
    for (int64_t i = 0; i < input.count; ++i) {
      const auto above = std::upper_bound(sorted.begin(), sorted.end(), Data<T>(input)[i]);
      MutableData<int32_t>(*call.out[0])[i] = static_cast<int32_t>(above - sorted.begin());
    }
    return Status();
  });
}

}  // namespace

#define STILLFLOW_BATCH                                                                        \
  "dense_float_features..., sparse_float_feature_indices..., sparse_float_feature_values..., " \
  "sparse_float_feature_shapes..., example_weights | num_dense_features, num_sparse_features, "

STILLFLOW_KERNELS(gradient_trees, quantiles){
    {"make_feature_summaries", STILLFLOW_BATCH "epsilon", Guarded<MakeSummaries>},
    {"feature_buckets", STILLFLOW_BATCH "dense_config, sparse_config", Guarded<FeatureBuckets>},
    {"feature_quantiles",
     "dense_values..., sparse_values..., dense_buckets..., sparse_buckets..., sparse_indices... | "
     "num_dense_features, num_sparse_features",
     Guarded<FeatureQuantiles>},
    {"bucketize_with_boundaries", "input, boundaries", Guarded<Bucketize>},
    {}};

}  // namespace stillflow
