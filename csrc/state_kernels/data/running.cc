// max_intra_op_parallelism_dataset, private_thread_pool_dataset, thread_pool_dataset, thread_pool_handle: how many
// threads a pipeline has, which are the session's here.
// stats_aggregator_handle, stats_aggregator_summary, set_stats_aggregator_dataset, latency_stats_dataset,
// bytes_produced_stats_dataset: what is measured while elements are made.
//
//   in[0]   a variant scalar that holds a data set; then a scalar or a resource
//   out[0]  a variant scalar that holds the data set
//   attrs   output_types, output_shapes: what its elements are
#include "datasets/stats.h"
#include "state_kernels/data/function_arguments.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

// ---- Threads ------------------------------------------------------------------------------------------------------

Status SameDataset(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  return OutputDataset(call, std::move(input));
}

Status MaxIntraOpParallelism(const KernelCall& call) {
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "max_intra_op_parallelism", &count));
  return count >= 0 ? SameDataset(call) : STILLFLOW_INVALID_ARGUMENT("`max_intra_op_parallelism` must be >= 0");
}

Status PrivateThreadPool(const KernelCall& call) {
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "num_threads", &count));
  return count >= 1 ? SameDataset(call) : STILLFLOW_INVALID_ARGUMENT("`num_threads` must be >= 1");
}

struct ThreadPool final : Resource {
  static constexpr char kKind[] = "thread_pool";
  const char* kind() const override { return kKind; }
};

Status ThreadPoolHandle(const KernelCall& call) {
  if (call.attrs[kHandleAttrs].i <= 0) return STILLFLOW_INVALID_ARGUMENT("`num_threads` must be greater than zero.");
  return OutputHandle<ThreadPool>(
      call,
      [](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<ThreadPool>();
        return Status();
      },
      [](const ThreadPool&) { return Status(); });
}

Status ThreadPoolDataset(const KernelCall& call) {
  std::shared_ptr<ThreadPool> pool;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 1, &pool));
  return SameDataset(call);
}

// ---- Statistics ---------------------------------------------------------------------------------------------------

Status AggregatorHandle(const KernelCall& call) {
  return OutputHandle<StatsAggregator>(
      call,
      [](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<StatsAggregator>();
        return Status();
      },
      [](const StatsAggregator&) { return Status(); });
}

Status AggregatorSummary(const KernelCall& call) {
  std::shared_ptr<StatsAggregator> aggregator;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &aggregator));
  return SetScalarString(call, aggregator->Summary());
}

// in[1] the aggregator; in[2] tag; in[3] counter_prefix
Status SetStats(const KernelCall& call) {
  DatasetPtr input;
  std::shared_ptr<StatsAggregator> aggregator;
  std::string tag;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 1, &aggregator));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 2, "tag", &tag));
  return OutputDataset(call, MakeSetStatsDataset(OutputSpec(call), std::move(input), std::move(aggregator), tag));
}

// in[1] tag
template <DatasetPtr (*kMake)(TupleSpec, DatasetPtr, std::string)>
Status Measured(const KernelCall& call) {
  DatasetPtr input;
  std::string tag;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 1, "tag", &tag));
  return OutputDataset(call, kMake(OutputSpec(call), std::move(input), std::move(tag)));
}

}  // namespace

STILLFLOW_KERNELS(data, running){
    {"max_intra_op_parallelism_dataset", "input_dataset, max_intra_op_parallelism", Guarded<MaxIntraOpParallelism>},
    {"private_thread_pool_dataset", "input_dataset, num_threads", Guarded<PrivateThreadPool>},
    {"thread_pool_handle", "| " STILLFLOW_HANDLE_ATTRS ", num_threads", Guarded<ThreadPoolHandle>, nullptr, nullptr,
     HandleState::New, HandleState::Free},
    {"thread_pool_dataset", "input_dataset, thread_pool", Guarded<ThreadPoolDataset>},
    {"stats_aggregator_handle", "| " STILLFLOW_HANDLE_ATTRS, Guarded<AggregatorHandle>, nullptr, nullptr,
     HandleState::New, HandleState::Free},
    {"stats_aggregator_summary", "iterator", Guarded<AggregatorSummary>},
    {"set_stats_aggregator_dataset",
     "input_dataset, stats_aggregator, tag, counter_prefix | output_types, output_shapes", Guarded<SetStats>},
    {"latency_stats_dataset", "input_dataset, tag | output_types, output_shapes",
     Guarded<Measured<MakeLatencyStatsDataset>>},
    {"bytes_produced_stats_dataset", "input_dataset, tag | output_types, output_shapes",
     Guarded<Measured<MakeBytesStatsDataset>>},
    {}};

}  // namespace stillflow
