// Streams of quantiles of single features, which count what changed them by a stamp.
//
//   quantile_accumulator_handle       attrs: see handle.h; out[0] a handle
//   quantile_accumulator_exists       in[0] a handle; out[0] bool[]
//   create_quantile_accumulator       in[0] a handle; in[1] int64[]: its stamp; attrs max_elements, epsilon,
//                                     num_quantiles, generate_quantiles
//   add_to_quantile_accumulators      in[0...n) handles; in[n] int64[]: their stamp, else the update is dropped;
//                                     in[n + 1...] string[]: a QuantileSummaryState for each; attr
//                                     num_resource_handles
//   quantile_accumulator_buckets      in[0...n) handles; in[n] int64[]: their stamp; attr num_resource_handles;
//                                     out[0...n) bool[]: whether there are boundaries; out[n...] float[k]
//   flush_quantile_accumulator        in[0] a handle; in[1], in[2] int64[]: its stamp, and the next one; makes
//                                     boundaries of what was added, after which there is nothing
//   flush_quantile_summary            the same, but out[0] string[]: the summary of what was added
//   serialize_quantile_accumulator    in[0] a handle; out[0] int64[]: its stamp; out[1] string[]: a
//                                     QuantileStreamState; out[2] bool[], out[3] float[k]: as buckets has them
//   deserialize_quantile_accumulator  in[0] a handle; in[1...4] the same
#include <algorithm>

#include "state_kernels/gradient_trees/ensemble_resource.h"
#include "state_kernels/gradient_trees/quantile_message.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

class AccumulatorResource final : public StampedResource {
 public:
  static constexpr const char* kKind = "quantile_accumulator";
  static constexpr const char* kTypeName = "N10tensorflow13boosted_trees22QuantileStreamResourceE";
  const char* kind() const override { return kKind; }

  void Reset() { stream = QuantileStream(epsilon, most); }

  float epsilon = 0.1F;
  int64_t most = 1;
  int64_t quantiles = 0;
  bool makes_quantiles = false;
  QuantileStream stream{0.1, 1};
  bool is_ready = false;
  std::vector<float> boundaries;
};

constexpr int64_t kMostElements = int64_t{1} << 60;
constexpr int64_t kMostQuantiles = 1 << 24;

Status Create(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &resource));
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "stamp_token", &stamp));
  const auto epsilon = static_cast<float>(call.attrs[1].f);
  const int64_t most = call.attrs[0].i, quantiles = call.attrs[2].i;
  if (!(epsilon > 0)) return STILLFLOW_INVALID_ARGUMENT("An epsilon value of zero is not allowed.");
  if (!(epsilon < 1) || most < 1 || quantiles < 1 || quantiles > kMostQuantiles) {
    return STILLFLOW_INVALID_ARGUMENT("There cannot be %lld quantiles of %lld elements with an error of %g",
                                      static_cast<long long>(quantiles), static_cast<long long>(most),
                                      static_cast<double>(epsilon));
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  if (resource->is_created) return Status();
  resource->epsilon = epsilon;
  resource->most = std::min(most, kMostElements);
  resource->quantiles = quantiles;
  resource->makes_quantiles = call.attrs[3].i != 0;
  resource->Reset();
  resource->stamp = stamp;
  resource->is_created = true;
  return Status();
}

Status Add(const KernelCall& call) {
  const auto count = static_cast<int>(call.attrs[0].i);
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, count, "stamp_token", &stamp));
  for (int i = 0; i < count; ++i) {
    std::shared_ptr<AccumulatorResource> resource;
    STILLFLOW_RETURN_IF_ERROR(FindCreated(call, i, &resource));
    const std::lock_guard<std::mutex> guard(resource->mutex);
    if (resource->stamp != stamp) continue;
    const Tensor& bytes = *call.in[count + 1 + i];
    STILLFLOW_RETURN_IF_ERROR(CheckRank(bytes, 0, "summaries"));
    QuantileSummary summary;
    if (!ParseSummary(StringAt(bytes, 0), &summary)) {
      return STILLFLOW_INVALID_ARGUMENT("Unable to parse quantile summary.");
    }
    resource->stream.Push(summary);
  }
  return Status();
}

Status PutBoundaries(const KernelCall& call, int out, bool is_ready, const std::vector<float>& boundaries) {
  const auto count = is_ready ? static_cast<int64_t>(boundaries.size()) : 0;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kFloat, VectorOf(count)));
  std::copy_n(boundaries.begin(), count, MutableData<float>(*call.out[out]));
  return Status();
}

Status Buckets(const KernelCall& call) {
  const auto count = static_cast<int>(call.attrs[0].i);
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, count, "stamp_token", &stamp));
  for (int i = 0; i < count; ++i) {
    std::shared_ptr<AccumulatorResource> resource;
    STILLFLOW_RETURN_IF_ERROR(FindCreated(call, i, &resource));
    const std::lock_guard<std::mutex> guard(resource->mutex);
    const bool is_ready = resource->stamp == stamp && resource->is_ready;
    STILLFLOW_RETURN_IF_ERROR(SetScalar(call, i, is_ready));
    STILLFLOW_RETURN_IF_ERROR(PutBoundaries(call, count + i, is_ready, resource->boundaries));
  }
  return Status();
}

Status Flush(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(Restamp(call, 1, resource.get()));
  const QuantileSummary& summary = resource->stream.Finish();
  std::vector<float> boundaries;
  if (resource->makes_quantiles) {
    boundaries = summary.Quantiles(resource->quantiles);
  } else {
    boundaries = summary.Boundaries(resource->quantiles);
    boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  }
  const bool is_empty = resource->makes_quantiles && summary.size() == 0;
  resource->Reset();
  if (is_empty) return STILLFLOW_INVALID_ARGUMENT("There are no quantiles of a stream without values");
  resource->boundaries = std::move(boundaries);
  resource->is_ready = true;
  return Status();
}

Status FlushSummary(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(Restamp(call, 1, resource.get()));
  Status status = SetScalarString(call, SummaryBytes(resource->stream.Finish()));
  resource->Reset();
  return status;
}

Status Serialize(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, resource->stamp));
  STILLFLOW_RETURN_IF_ERROR(SetScalarBytes(call, 1, StreamBytes(resource->stream)));
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 2, resource->is_ready));
  return PutBoundaries(call, 3, resource->is_ready, resource->boundaries);
}

Status Deserialize(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  int64_t stamp = 0;
  bool is_ready = false;
  std::vector<QuantileSummary> levels;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "stamp_token", &stamp));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[2], 0, "stream_state"));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 3, "are_buckets_ready", &is_ready));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[4], 1, "buckets"));
  if (!ParseLevels(StringAt(*call.in[2], 0), &levels)) {
    return STILLFLOW_INVALID_ARGUMENT("Unable to parse quantile stream state.");
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  resource->Reset();
  resource->stream.SetLevels(std::move(levels));
  const auto* boundaries = Data<float>(*call.in[4]);
  resource->boundaries.assign(boundaries, boundaries + call.in[4]->count);
  resource->stamp = stamp;
  resource->is_ready = is_ready;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(gradient_trees, quantile_accumulators){
    STILLFLOW_CREATED_HANDLE("quantile_accumulator_handle", AccumulatorResource),
    {"quantile_accumulator_exists", "handle", Guarded<IsCreated<AccumulatorResource>>},
    {"create_quantile_accumulator", "handle, stamp_token | max_elements, epsilon, num_quantiles, generate_quantiles",
     Guarded<Create>},
    {"add_to_quantile_accumulators", "handles..., stamp_token, summaries... | num_resource_handles", Guarded<Add>},
    {"quantile_accumulator_buckets", "handles..., stamp_token | num_resource_handles", Guarded<Buckets>},
    {"flush_quantile_accumulator", "handle, stamp_token, next_stamp_token", Guarded<Flush>},
    {"flush_quantile_summary", "handle, stamp_token, next_stamp_token", Guarded<FlushSummary>},
    {"serialize_quantile_accumulator", "handle", Guarded<Serialize>},
    {"deserialize_quantile_accumulator", "handle, stamp_token, stream_state, are_buckets_ready, buckets",
     Guarded<Deserialize>},
    {}};

}  // namespace stillflow
