// Quantiles of features, by which boosted trees put numbers into buckets.
//
//   quantile_stream_handle       attrs: see handle.h; out[0] a handle
//   quantile_stream_exists       in[0] a handle; out[0] bool[]
//   create_quantile_streams      in[0] a handle; in[1] float[]: epsilon; in[2] int64[]: how many; attr max_elements
//   make_quantile_summaries      in[0...n) float values; in[n] their weights, or one; in[n + 1] float[]: epsilon;
//                                out[0...n) float[k, 4]: values, weights, least and greatest ranks
//   add_quantile_summaries       in[0] a handle; in[1...] such summaries, one for each stream
//   flush_quantile_summaries     in[0] a handle; out: the summary of each stream, which begins anew
//   flush_quantile_streams       in[0] a handle; in[1] int64[]: how many buckets; attr generate_quantiles
//   deserialize_quantile_streams in[0] a handle; in[1...] float[k]: boundaries
//   quantile_boundaries          in[0] a handle; out: float[k] boundaries of each
//   boosted_trees_bucketize      in[0...n) float values; in[n...2n) float[k] boundaries; out[0...n) int32 buckets
#include <algorithm>

#include "state_kernels/boosted_trees/ensemble_resource.h"
#include "state_kernels/boosted_trees/quantiles.h"

namespace stillflow {
namespace {

using namespace boosted_trees;  // NOLINT: this file is that namespace's kernels

class StreamsResource final : public CreatedResource {
 public:
  static constexpr const char* kKind = "boosted_trees_quantile_stream";
  static constexpr const char* kTypeName = "N10tensorflow34BoostedTreesQuantileStreamResourceE";
  const char* kind() const override { return kKind; }

  void Reset() { streams.assign(boundaries.size(), QuantileStream(epsilon, most)); }

  float epsilon = 0;
  int64_t most = 0;
  std::vector<QuantileStream> streams;
  std::vector<std::vector<float>> boundaries;
};

constexpr int64_t kMostElements = int64_t{1} << 60;
constexpr int64_t kMostStreams = 1 << 24;

Status CheckEpsilon(float epsilon) {
  if (!(epsilon > 0)) return STILLFLOW_INVALID_ARGUMENT("An epsilon value of zero is not allowed.");
  if (epsilon < 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("epsilon must be less than 1, but is %g", static_cast<double>(epsilon));
}

// A chunk for each feature, guarded against running out of memory.
template <typename Body>
Status ForEachFeature(const KernelCall& call, int64_t count, const Body& body) {
  return ForEachChunk(call, count, 1, [&](Range range) {
    return CatchingOutOfMemory([&] { return body(static_cast<int>(range.begin)); });
  });
}

Status Create(const KernelCall& call) {
  std::shared_ptr<StreamsResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &resource));
  float epsilon = 0;
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "epsilon", &epsilon));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 2, "num_streams", &count));
  STILLFLOW_RETURN_IF_ERROR(CheckEpsilon(epsilon));
  const int64_t most = call.attrs[0].i;
  if (count < 0 || count > kMostStreams || most < 1) {
    return STILLFLOW_INVALID_ARGUMENT("There cannot be %lld streams of %lld elements", static_cast<long long>(count),
                                      static_cast<long long>(most));
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  if (resource->is_created) return Status();
  resource->epsilon = epsilon;
  resource->most = std::min(most, kMostElements);
  resource->boundaries.assign(count, {});
  resource->Reset();
  resource->is_created = true;
  return Status();
}

Status PutSummary(const KernelCall& call, int out, const QuantileSummary& summary) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kFloat, MatrixOf(summary.size(), 4)));
  auto* at = MutableData<float>(*call.out[out]);
  for (const QuantileEntry& entry : summary.entries()) {
    *at++ = entry.value;
    *at++ = entry.weight;
    *at++ = entry.min_rank;
    *at++ = entry.max_rank;
  }
  return Status();
}

Status MakeSummaries(const KernelCall& call) {
  const int features = call.in_count - 2;
  const Tensor& weights = *call.in[features];
  float epsilon = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, features + 1, "epsilon", &epsilon));
  STILLFLOW_RETURN_IF_ERROR(CheckEpsilon(epsilon));
  if (features == 0) return Status();
  const int64_t count = call.in[0]->count;
  if (weights.count != 1 && weights.count != count) {
    return STILLFLOW_INVALID_ARGUMENT("Weights should be a single value or same size as features.");
  }
  return ForEachFeature(call, features, [&](int f) {
    STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[f], count, "float_values"));
    QuantileStream stream(epsilon, count + 1);
    for (int64_t i = 0; i < count; ++i) {
      stream.Push(Data<float>(*call.in[f])[i], Data<float>(weights)[weights.count > 1 ? i : 0]);
    }
    return PutSummary(call, f, stream.Finish());
  });
}

// The streams of in[0], which must be `count`.
Status FindStreams(const KernelCall& call, int64_t count, std::shared_ptr<StreamsResource>* resource) {
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, resource));
  const auto streams = static_cast<int64_t>((*resource)->boundaries.size());
  if (streams == count) return Status();
  return STILLFLOW_INVALID_ARGUMENT("There are %lld streams, but %lld features", static_cast<long long>(streams),
                                    static_cast<long long>(count));
}

Status AddSummaries(const KernelCall& call) {
  std::shared_ptr<StreamsResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindStreams(call, call.in_count - 1, &resource));
  for (int f = 1; f < call.in_count; ++f) {
    const Tensor& summary = *call.in[f];
    STILLFLOW_RETURN_IF_ERROR(CheckRank(summary, 2, "summaries"));
    STILLFLOW_RETURN_IF_ERROR(CheckCount(summary, summary.dims[0] * 4, "summaries"));
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  return ForEachFeature(call, call.in_count - 1, [&](int f) {
    const Tensor& summary = *call.in[1 + f];
    std::vector<QuantileEntry> entries(summary.dims[0]);
    const auto* at = Data<float>(summary);
    for (QuantileEntry& entry : entries) {
      entry = {at[0], at[1], at[2], at[3]};
      at += 4;
    }
    resource->streams[f].Push(QuantileSummary(std::move(entries)));
    return Status();
  });
}

Status FlushSummaries(const KernelCall& call) {
  std::shared_ptr<StreamsResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindStreams(call, call.out_count, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(ForEachFeature(
      call, call.out_count, [&](int f) { return PutSummary(call, f, resource->streams[f].Finish()); }));
  resource->Reset();
  return Status();
}

Status Flush(const KernelCall& call) {
  std::shared_ptr<StreamsResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  int64_t buckets = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "num_buckets", &buckets));
  const bool wants_quantiles = call.attrs[0].i != 0;
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(ForEachFeature(call, static_cast<int64_t>(resource->streams.size()), [&](int f) {
    const QuantileSummary& summary = resource->streams[f].Finish();
    std::vector<float>& boundaries = resource->boundaries[f];
    if (!wants_quantiles) {
      boundaries = summary.Boundaries(buckets);
      boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
      return Status();
    }
    if (buckets < 3 || buckets > kMostStreams || summary.size() == 0) {
      return STILLFLOW_INVALID_ARGUMENT("%lld values of a stream cannot be made %lld quantiles",
                                        static_cast<long long>(summary.size()), static_cast<long long>(buckets));
    }
    boundaries = summary.Quantiles(buckets - 1);
    return Status();
  }));
  resource->Reset();
  return Status();
}

Status Deserialize(const KernelCall& call) {
  std::shared_ptr<StreamsResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindStreams(call, call.in_count - 1, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  for (int f = 1; f < call.in_count; ++f) {
    STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[f], 1, "bucket_boundaries"));
    const auto* values = Data<float>(*call.in[f]);
    resource->boundaries[f - 1].assign(values, values + call.in[f]->count);
  }
  return Status();
}

Status Boundaries(const KernelCall& call) {
  std::shared_ptr<StreamsResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindStreams(call, call.out_count, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  for (int f = 0; f < call.out_count; ++f) {
    const std::vector<float>& boundaries = resource->boundaries[f];
    STILLFLOW_RETURN_IF_ERROR(
        AllocateOutput(call, f, DType::kFloat, VectorOf(static_cast<int64_t>(boundaries.size()))));
    std::copy(boundaries.begin(), boundaries.end(), MutableData<float>(*call.out[f]));
  }
  return Status();
}

Status Bucketize(const KernelCall& call) {
  const int features = call.out_count;
  return ForEachFeature(call, features, [&](int f) {
    const Tensor& values = *call.in[f];
    const Tensor& boundaries = *call.in[features + f];
    if (boundaries.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Buckets should be flat vectors.");
    if (values.rank < 1 || values.count < values.dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT("float_values[%d] has the shape %s, not one value for each example", f,
                                        ShapeText(values).c_str());
    }
    const int64_t count = values.dims[0];
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, f, DType::kInt32, VectorOf(count)));
    const auto* begin = Data<float>(boundaries);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t found = std::lower_bound(begin, begin + boundaries.count, Data<float>(values)[i]) - begin;
      MutableData<int32_t>(*call.out[f])[i] =
          static_cast<int32_t>(std::max<int64_t>(0, std::min(found, boundaries.count - 1)));
    }
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(boosted_trees, quantile_streams){
    STILLFLOW_CREATED_HANDLE("quantile_stream_handle", StreamsResource),
    {"quantile_stream_exists", "handle", Guarded<IsCreated<StreamsResource>>},
    {"create_quantile_streams", "handle, epsilon, num_streams | max_elements", Guarded<Create>},
    {"make_quantile_summaries", "float_values..., example_weights, epsilon", Guarded<MakeSummaries>},
    {"add_quantile_summaries", "handle, summaries...", Guarded<AddSummaries>},
    {"flush_quantile_summaries", "handle", Guarded<FlushSummaries>},
    {"flush_quantile_streams", "handle, num_buckets | generate_quantiles", Guarded<Flush>},
    {"deserialize_quantile_streams", "handle, bucket_boundaries...", Guarded<Deserialize>},
    {"quantile_boundaries", "handle", Guarded<Boundaries>},
    {"boosted_trees_bucketize", "float_values..., bucket_boundaries...", Guarded<Bucketize>},
    {}};

}  // namespace stillflow
