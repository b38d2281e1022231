// Ensembles of boosted trees as resources, and how they grow.
//
//   boosted_trees_ensemble_handle    attrs: see handle.h; out[0] a handle
//   boosted_trees_ensemble_exists    in[0] a handle; out[0] bool[]
//   create_boosted_trees             in[0] a handle; in[1] int64[]: its stamp; in[2] string[]: a TreeEnsemble
//   deserialize_boosted_trees        the same; replaces what is there
//   serialize_boosted_trees          in[0] a handle; out[0] int64[]; out[1] string[]
//   boosted_trees_states             in[0] a handle; out[0...4] stamp, trees, finished trees, layers tried, and the
//                                    nodes of the last layer: [first, end)
//   update_boosted_trees             in[0] a handle; in[1] int32[n]: features; then lists of n: int32[k] nodes,
//   float[k]
//                                    gains, int32[k] thresholds, float[k, 1] changes to the left and to the right;
//                                    the greatest depth and the learning rate; attrs pruning_mode, num_features
//   update_boosted_trees_v2          as well lists of n: int32[k] dimensions, string[k] kinds of splits; pruning is
//   an
//                                    input
//   center_boosted_trees_bias        in[0] a handle; in[1...4] mean gradients and hessians, l1, l2; out[0] bool[]:
//                                    whether the bias still moves
#include <cmath>
#include <map>

#include "state_kernels/boosted_trees/ensemble_resource.h"
#include "state_kernels/boosted_trees/leaf_weight.h"

namespace stillflow {
namespace {

using namespace boosted_trees;  // NOLINT: this file is that namespace's kernels

template <bool kReplaces>
Status Load(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &resource));
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "stamp_token", &stamp));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[2], 0, "tree_ensemble_serialized"));
  Ensemble parsed;
  if (!parsed.Parse(StringAt(*call.in[2], 0)))
    return STILLFLOW_INVALID_ARGUMENT("Unable to parse tree ensemble proto.");
  const std::lock_guard<std::mutex> guard(resource->mutex);
  if (kReplaces && !resource->is_created) {
    return Error(Code::kNotFound, "Resource of type %s does not exist: it is not initialized.",
                 EnsembleResource::kTypeName);
  }
  if (resource->is_created && !kReplaces) return Status();
  resource->ensemble = std::move(parsed);
  resource->stamp = stamp;
  resource->is_created = true;
  return Status();
}

Status Serialize(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, resource->stamp));
  return SetScalarBytes(call, 1, resource->ensemble.Serialize());
}

Status States(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  const Ensemble& ensemble = resource->ensemble;
  const int32_t trees = ensemble.tree_count();
  const bool is_last_finished = !ensemble.metadata.empty() && ensemble.metadata.back().is_finalized;
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, resource->stamp));
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 1, trees));
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 2, trees == 0 || is_last_finished ? trees : trees - 1));
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 3, static_cast<int32_t>(ensemble.growing.layers_attempted)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 4, DType::kInt32, VectorOf(2)));
  auto* range = MutableData<int32_t>(*call.out[4]);
  range[0] = ensemble.growing.last_layer_begin;
  range[1] = std::max(1, ensemble.growing.last_layer_end);
  return Status();
}

// ---- Growing ------------------------------------------------------------------------------------------------------

// The lists of an update: where each begins among the inputs, or -1.
struct Lists {
  int nodes, gains, thresholds, left, right, dimensions, kinds;
};

Status CheckCandidates(const KernelCall& call, const Lists& lists, int feature) {
  const Tensor& nodes = *call.in[lists.nodes + feature];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(nodes, 1, "node_ids"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[lists.gains + feature], nodes.count, "gains"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[lists.thresholds + feature], nodes.count, "thresholds"));
  for (const int side : {lists.left + feature, lists.right + feature}) {
    const Tensor& changes = *call.in[side];
    STILLFLOW_RETURN_IF_ERROR(CheckRank(changes, 2, "node contribs"));
    if (changes.dims[0] != nodes.count || (nodes.count > 0 && changes.dims[1] < 1)) {
      return STILLFLOW_INVALID_ARGUMENT("node contribs of shape %s are not those of %lld nodes",
                                        ShapeText(changes).c_str(), static_cast<long long>(nodes.count));
    }
  }
  if (lists.dimensions < 0) return Status();
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[lists.dimensions + feature], nodes.count, "dimension_ids"));
  return CheckCount(*call.in[lists.kinds + feature], nodes.count, "split_types");
}

Status SetKind(const std::string& name, Candidate* candidate) {
  if (name == "EQUALITY_DEFAULT_RIGHT") {
    candidate->kind = Node::kCategorical;
  } else if (name == "INEQUALITY_DEFAULT_RIGHT") {
    candidate->split.default_direction = 1;
  } else if (name != "INEQUALITY_DEFAULT_LEFT") {
    return STILLFLOW_INVALID_ARGUMENT("Unknown split type: %s", name.c_str());
  }
  return Status();
}

// The best split of each node among those of all features; of equal ones that of the lowest feature.
Status BestSplits(const KernelCall& call, const Lists& lists, int features, float learning_rate,
                  std::map<int32_t, Candidate>* best) {
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[1], 1, "feature_ids"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[1], features, "feature_ids"));
  for (int f = 0; f < features; ++f) {
    STILLFLOW_RETURN_IF_ERROR(CheckCandidates(call, lists, f));
    const Tensor& nodes = *call.in[lists.nodes + f];
    const int64_t width = call.in[lists.left + f]->dims[1];
    const int64_t right_width = call.in[lists.right + f]->dims[1];
    for (int64_t i = 0; i < nodes.count; ++i) {
      Candidate candidate;
      candidate.node = Data<int32_t>(nodes)[i];
      candidate.gain = Data<float>(*call.in[lists.gains + f])[i];
      candidate.split.feature = Data<int32_t>(*call.in[1])[f];
      candidate.split.threshold = Data<int32_t>(*call.in[lists.thresholds + f])[i];
      candidate.left_change = learning_rate * Data<float>(*call.in[lists.left + f])[i * width];
      candidate.right_change = learning_rate * Data<float>(*call.in[lists.right + f])[i * right_width];
      if (lists.dimensions >= 0) {
        candidate.split.dimension = Data<int32_t>(*call.in[lists.dimensions + f])[i];
        STILLFLOW_RETURN_IF_ERROR(SetKind(Text(StringAt(*call.in[lists.kinds + f], i)), &candidate));
      }
      const auto [found, is_new] = best->try_emplace(candidate.node, candidate);
      if (is_new) continue;
      const bool is_equal = std::abs(candidate.gain - found->second.gain) < 1e-15F;
      const bool is_better = is_equal ? candidate.split.feature < found->second.split.feature
                                      : GainIsLarger(candidate.gain, found->second.gain);
      if (is_better) found->second = candidate;
    }
  }
  return Status();
}

Status Grow(const KernelCall& call, const Lists& lists, int features, int32_t depth, float rate, int64_t pruning) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  std::map<int32_t, Candidate> best;
  STILLFLOW_RETURN_IF_ERROR(BestSplits(call, lists, features, rate, &best));
  std::vector<Candidate> splits;
  for (const auto& [node, candidate] : best) splits.push_back(candidate);
  const std::lock_guard<std::mutex> guard(resource->mutex);
  ++resource->stamp;
  return resource->ensemble.Grow(splits, depth, static_cast<Pruning>(pruning));
}

Status Update(const KernelCall& call) {
  const auto n = static_cast<int>(call.attrs[1].i);
  int32_t depth = 0;
  float rate = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 2 + 5 * n, "max_depth", &depth));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 3 + 5 * n, "learning_rate", &rate));
  const Lists lists{2, 2 + n, 2 + 2 * n, 2 + 3 * n, 2 + 4 * n, -1, -1};
  return Grow(call, lists, n, depth, rate, call.attrs[0].i);
}

Status UpdateV2(const KernelCall& call) {
  const auto n = static_cast<int>(call.attrs[0].i);
  int32_t depth = 0, pruning = 0;
  float rate = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 2 + 7 * n, "max_depth", &depth));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 3 + 7 * n, "learning_rate", &rate));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 4 + 7 * n, "pruning_mode", &pruning));
  const Lists lists{2 + n, 2 + 2 * n, 2 + 3 * n, 2 + 4 * n, 2 + 5 * n, 2, 2 + 6 * n};
  return Grow(call, lists, n, depth, rate, pruning);
}

Status CenterBias(const KernelCall& call) {
  std::shared_ptr<EnsembleResource> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  float l1 = 0, l2 = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[1], 1, "mean_gradients"));
  STILLFLOW_RETURN_IF_ERROR(CheckCount(*call.in[2], 1, "mean_hessians"));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 3, "l1", &l1));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 4, "l2", &l2));
  float change = 0, gain = 0;
  Weigh(*Data<float>(*call.in[1]), *Data<float>(*call.in[2]), l1, l2, &change, &gain);
  const std::lock_guard<std::mutex> guard(resource->mutex);
  ++resource->stamp;
  Ensemble& ensemble = resource->ensemble;
  if (ensemble.trees.empty()) {
    ensemble.AddTree(change);
    return SetScalar(call, 0, true);
  }
  const Node* root = ensemble.At(0, 0);
  if (root == nullptr || root->kind != Node::kLeaf) {
    return STILLFLOW_INVALID_ARGUMENT("The bias can only be centered before the first tree has grown");
  }
  Node& leaf = ensemble.trees[0].nodes[0];
  constexpr float kLeastMove = 0.01F;
  const bool moves = std::abs(change / leaf.leaf.scalar) > kLeastMove;
  leaf.leaf.scalar += change;
  return SetScalar(call, 0, moves);
}

}  // namespace

STILLFLOW_KERNELS(boosted_trees, training){
    STILLFLOW_CREATED_HANDLE("boosted_trees_ensemble_handle", EnsembleResource),
    {"boosted_trees_ensemble_exists", "handle", Guarded<IsCreated<EnsembleResource>>},
    {"create_boosted_trees", "handle, stamp_token, serialized", Guarded<Load<false>>},
    {"deserialize_boosted_trees", "handle, stamp_token, serialized", Guarded<Load<true>>},
    {"serialize_boosted_trees", "handle", Guarded<Serialize>},
    {"boosted_trees_states", "handle", Guarded<States>},
    {"update_boosted_trees",
     "handle, feature_ids, node_ids..., gains..., thresholds..., left_node_contribs..., right_node_contribs..., "
     "max_depth, learning_rate | pruning_mode, num_features",
     Guarded<Update>},
    {"update_boosted_trees_v2",
     "handle, feature_ids, dimension_ids..., node_ids..., gains..., thresholds..., left_node_contribs..., "
     "right_node_contribs..., split_types..., max_depth, learning_rate, pruning_mode | num_features",
     Guarded<UpdateV2>},
    {"center_boosted_trees_bias", "handle, mean_gradients, mean_hessians, l1, l2", Guarded<CenterBias>},
    {}};

}  // namespace stillflow
