// Ensembles of tf.contrib.boosted_trees as resources.
//
//   gradient_trees_handle        attrs: see handle.h; out[0] a handle
//   gradient_trees_exists        in[0] a handle; out[0] bool[]
//   create_gradient_trees        in[0] a handle; in[1] int64[]: its stamp; in[2] string[]: a
//                                DecisionTreeEnsembleConfig
//   deserialize_gradient_trees   the same; replaces what is there
//   gradient_trees_stamp         in[0] a handle; out[0] int64[]
//   serialize_gradient_trees     in[0] a handle; out[0] int64[]: the stamp; out[1] string[]
//   gradient_trees_used_handlers in[0] a handle; in[1] int64[]: its stamp; attr num_all_handlers; out[0] int64[]: how
//                                many are used; out[1] bool[num_all_handlers]: which
//   gradient_trees_stats         in[0], in[1] the same; out[0...5] int64[]: finished trees, layers, trees, layers of
//                                the last one, trees and layers that were tried
#include "state_kernels/gradient_trees/ensemble_resource.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

template <bool kReplaces>
Status Load(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  if (kReplaces) {
    STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  } else {
    STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &resource));
  }
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "stamp_token", &stamp));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[2], 0, "tree_ensemble_config"));
  Ensemble parsed;
  if (!parsed.Parse(StringAt(*call.in[2], 0))) {
    return STILLFLOW_INVALID_ARGUMENT("Unable to parse tree ensemble config.");
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  if (resource->is_created && !kReplaces) return Status();
  resource->ensemble = std::move(parsed);
  resource->stamp = stamp;
  resource->is_created = true;
  return Status();
}

Status Stamp(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  return SetScalar(call, 0, resource->stamp);
}

Status Serialize(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, resource->stamp));
  return SetScalarBytes(call, 1, resource->ensemble.Serialize());
}

Status UsedHandlers(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(CheckStamp(call, 1, *resource));
  const std::vector<int64_t>& used = resource->ensemble.growing.used_handlers;
  const int64_t count = call.attrs[0].i;
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, static_cast<int64_t>(used.size())));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kBool, VectorOf(count)));
  auto* mask = MutableData<bool>(*call.out[1]);
  size_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    mask[i] = next < used.size() && used[next] <= i;
    if (!mask[i]) continue;
    if (used[next] != i) return STILLFLOW_INVALID_ARGUMENT("Handler IDs should be sorted.");
    ++next;
  }
  return Status();
}

Status Stats(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(CheckStamp(call, 1, *resource));
  const Ensemble& ensemble = resource->ensemble;
  const int64_t trees = ensemble.tree_count();
  int64_t layers = 0;
  for (const TreeMetadata& each : ensemble.metadata) layers += each.layers_grown;
  const int64_t last = ensemble.metadata.empty() ? 0 : ensemble.metadata.back().layers_grown;
  const int64_t numbers[] = {trees == 0 || ensemble.is_last_finalized() ? trees : trees - 1,
                             layers,
                             trees,
                             last,
                             ensemble.growing.trees_attempted,
                             ensemble.growing.layers_attempted};
  for (int out = 0; out < 6; ++out) STILLFLOW_RETURN_IF_ERROR(SetScalar(call, out, numbers[out]));
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(gradient_trees, ensembles){
    STILLFLOW_CREATED_HANDLE("gradient_trees_handle", EnsembleResource),
    {"gradient_trees_exists", "handle", Guarded<IsCreated<EnsembleResource>>},
    {"create_gradient_trees", "handle, stamp_token, config", Guarded<Load<false>>},
    {"deserialize_gradient_trees", "handle, stamp_token, config", Guarded<Load<true>>},
    {"gradient_trees_stamp", "handle", Guarded<Stamp>},
    {"serialize_gradient_trees", "handle", Guarded<Serialize>},
    {"gradient_trees_used_handlers", "handle, stamp_token | num_all_handlers", Guarded<UsedHandlers>},
    {"gradient_trees_stats", "handle, stamp_token", Guarded<Stats>},
    {}};

}  // namespace stillflow
