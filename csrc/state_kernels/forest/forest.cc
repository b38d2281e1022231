// Random forests: trees that grow while they see examples (contrib.tensor_forest).
//
//   tree_handle, stats_handle              attrs: see handle.h; out[0] a handle
//   tree_is_initialized, stats_is_initialized  in[0] a handle; out[0] bool[]
//   create_tree, deserialize_tree          in[0] a handle; in[1] bytes of a decision_trees.Model or none; attr params
//   create_stats, deserialize_stats        in[0] a handle; in[1] bytes of a FertileStats; attr params
//   serialize_tree, serialize_stats        in[0] a handle; out[0] bytes
//   tree_size                              out[0] int32[]: how many nodes
//   tree_predictions                       in[0] a tree; in[1...4] examples: dense, sparse indices, values, shape;
//                                          attrs input_spec, params; out[0] float[n, outputs]: shares of classes, or
//                                          means; out[1] string[n or 0]: the nodes on the way
//   traverse_tree                          the same inputs; out[0] int32[n]: the leaves
//   update_tree                            in[0] a tree; in[1] leaves; in[2] labels; in[3] weights
//   process_input                          in[0] a tree; in[1] statistics; in[2...5] examples; in[6] labels; in[7]
//                                          weights; in[8] leaves; attrs random_seed, input_spec, params; out[0]
//                                          int32[m]: the leaves that have seen enough
//   grow_tree                              in[0] a tree; in[1] statistics; in[2] leaves to split; attr params
//   feature_usage_counts                   out[0] int32[num_features]: how many nodes ask for each feature
#include <atomic>
#include <random>

#include "arithmetic/random/stream.h"
#include "arithmetic/random/unigram.h"
#include "kernels/guarded.h"
#include "state_kernels/created_resource.h"
#include "state_kernels/forest/grow_stats.h"

namespace stillflow {
namespace {

using namespace forest;  // NOLINT: this file is that namespace's kernels

class TreeResource final : public CreatedResource {
 public:
  static constexpr const char* kKind = "decision_tree";
  static constexpr const char* kTypeName = "N10tensorflow11tensorforest20DecisionTreeResourceE";
  const char* kind() const override { return kKind; }

  Status Load(const Params& params, const std::string& bytes) {
    std::vector<TreeNode> loaded;
    if (!ParseModel(io::Bytes(bytes), &loaded)) return STILLFLOW_INVALID_ARGUMENT("Unable to parse tree  config.");
    if (loaded.empty()) {
      loaded.emplace_back();
      if (params.leaf_type == kDenseLeaf || params.leaf_type == kRegressionLeaf) {
        loaded[0].leaf.is_vector = true;
        loaded[0].leaf.vector.resize(params.num_outputs);
      }
    }
    nodes = std::move(loaded);
    is_created = true;
    return Status();
  }

  std::vector<TreeNode> nodes;
};

class StatsResource final : public CreatedResource {
 public:
  static constexpr const char* kKind = "fertile_stats";
  static constexpr const char* kTypeName = "N10tensorflow11tensorforest20FertileStatsResourceE";
  const char* kind() const override { return kKind; }

  Status Load(const Params& new_params, const std::string& bytes) {
    slots.clear();
    params = new_params;
    io::WireReader reader{io::Bytes(bytes)};
    while (reader.NextField()) {
      if (!reader.Is(1, io::WireType::kBytes)) {
        reader.Skip();
      } else if (!LoadSlot(reader.LengthDelimited())) {
        return STILLFLOW_INVALID_ARGUMENT("Unable to parse stats config.");
      }
    }
    if (!reader.ok()) return STILLFLOW_INVALID_ARGUMENT("Unable to parse stats config.");
    if (slots.empty()) slots[0] = NewGrowStats(params, 0);
    is_created = true;
    return Status();
  }

  std::string Bytes() const {
    std::string bytes;
    for (const auto& [node, stats] : slots) {
      std::string slot;
      io::MessageWriter writer(&slot);
      const Slot packed = params.checkpoint_stats ? stats->Pack() : Slot();
      if (params.checkpoint_stats) slot += SlotBytes(packed, stats->kind());
      writer.VarintUnlessZero(5, static_cast<uint64_t>(node));
      if (params.checkpoint_stats) writer.Field(6, TotalBytes(packed, stats->kind()));
      writer.VarintUnlessZero(7, static_cast<uint64_t>(stats->depth()));
      io::MessageWriter(&bytes).Field(1, slot);
    }
    return bytes;
  }

  Params params;
  std::map<int64_t, std::unique_ptr<GrowStats>> slots;

 private:
  bool LoadSlot(io::Bytes bytes) {
    int64_t node = 0, depth = 0;
    io::WireReader reader(bytes);
    while (reader.NextField()) {
      if (reader.Is(5, io::WireType::kVarint)) {
        node = static_cast<int32_t>(reader.Varint());
      } else if (reader.Is(7, io::WireType::kVarint)) {
        depth = static_cast<int32_t>(reader.Varint());
      } else {
        reader.Skip();
      }
    }
    Slot slot;
    if (!reader.ok() || !ParseSlot(bytes, params.num_outputs, &slot)) return false;
    slots[node] = NewGrowStats(params, static_cast<int>(depth));
    slots[node]->Unpack(slot);
    return true;
  }
};

// Creates it unless it is there; with `kReplaces` what is there is replaced.
template <typename T, bool kReplaces>
Status Load(const KernelCall& call) {
  std::shared_ptr<T> resource;
  STILLFLOW_RETURN_IF_ERROR(FindResource<T>(call, 0, &resource));
  if (call.in[1]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("The config must be a scalar.");
  Params params;
  STILLFLOW_RETURN_IF_ERROR(params.Parse(call.attrs[0]));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  if (resource->is_created && !kReplaces) return Status();
  return resource->Load(params, Text(StringAt(*call.in[1], 0)));
}

Status SerializeTree(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  const std::lock_guard<std::mutex> guard(tree->mutex);
  return SetScalarString(call, ModelBytes(tree->nodes));
}

Status SerializeStats(const KernelCall& call) {
  std::shared_ptr<StatsResource> stats;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &stats));
  const std::lock_guard<std::mutex> guard(stats->mutex);
  return SetScalarString(call, stats->Bytes());
}

Status TreeSize(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  const std::lock_guard<std::mutex> guard(tree->mutex);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[0]) = static_cast<int32_t>(tree->nodes.size());
  return Status();
}

// ---- Using a tree -------------------------------------------------------------------------------------------------

Shape VectorOf(int64_t count) {
  Shape shape;
  shape.Add(count);
  return shape;
}

Status TraverseTree(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  InputSpec spec;
  Input input;
  STILLFLOW_RETURN_IF_ERROR(spec.Parse(call.attrs[0]));
  STILLFLOW_RETURN_IF_ERROR(input.Set(call, 1, spec));
  const std::lock_guard<std::mutex> guard(tree->mutex);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, VectorOf(input.count())));
  return ForEachChunk(call, input.count(), 256, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      MutableData<int32_t>(*call.out[0])[i] = static_cast<int32_t>(Traverse(tree->nodes, input, i, [](int64_t) {}));
    }
  });
}

Status TreePredictions(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  InputSpec spec;
  Params params;
  Input input;
  STILLFLOW_RETURN_IF_ERROR(spec.Parse(call.attrs[0]));
  STILLFLOW_RETURN_IF_ERROR(params.Parse(call.attrs[1]));
  STILLFLOW_RETURN_IF_ERROR(input.Set(call, 1, spec));
  const std::lock_guard<std::mutex> guard(tree->mutex);
  const int64_t outputs = params.num_outputs;
  Shape shape = VectorOf(input.count());
  shape.Add(outputs);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  const bool wants_paths = params.inference_tree_paths;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kString, VectorOf(wants_paths ? input.count() : 0)));
  for (int64_t i = 0; i < input.count(); ++i) {
    std::string path;
    const int64_t id = Traverse(tree->nodes, input, i, [&](int64_t node) {
      if (wants_paths) io::MessageWriter(&path).Field(1, NodeBytes(tree->nodes[node], node));
    });
    float* out = MutableData<float>(*call.out[0]) + i * outputs;
    float sum = 0;
    for (int64_t j = 0; j < outputs; ++j) sum += out[j] = tree->nodes[id].leaf.At(j);
    for (int64_t j = 0; j < outputs && !params.is_regression && sum > 0 && sum != 1; ++j) out[j] /= sum;
    if (wants_paths && !SetString(call, call.out[1], i, path.data(), static_cast<int64_t>(path.size()))) {
      return OutOfScratch();
    }
  }
  return Status();
}

Status FeatureUsageCounts(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  Params params;
  STILLFLOW_RETURN_IF_ERROR(params.Parse(call.attrs[0]));
  const std::lock_guard<std::mutex> guard(tree->mutex);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, VectorOf(params.num_features)));
  auto* counts = MutableData<int32_t>(*call.out[0]);
  std::fill_n(counts, params.num_features, 0);
  for (const TreeNode& node : tree->nodes) {
    if (!node.is_leaf && node.split.feature < params.num_features) ++counts[node.split.feature];
  }
  return Status();
}

// ---- Training -----------------------------------------------------------------------------------------------------

Status CheckLeaves(const Tensor& leaves, int64_t count, const std::vector<TreeNode>& nodes) {
  if (leaves.count < count) {
    return STILLFLOW_INVALID_ARGUMENT("There are %lld leaves for %lld examples", static_cast<long long>(leaves.count),
                                      static_cast<long long>(count));
  }
  for (int64_t i = 0; i < count; ++i) {
    const int32_t id = Data<int32_t>(leaves)[i];
    if (id < 0 || id >= static_cast<int64_t>(nodes.size())) {
      return STILLFLOW_INVALID_ARGUMENT("Node %d is not one of the %zu nodes of the tree", id, nodes.size());
    }
  }
  return Status();
}

Status UpdateTree(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  Params params;
  Target target;
  STILLFLOW_RETURN_IF_ERROR(params.Parse(call.attrs[0]));
  if (params.is_regression) return Status();  // means change when a leaf is made
  const Tensor& labels = *call.in[2];
  const int64_t count = labels.rank == 0 ? 1 : labels.dims[0];
  STILLFLOW_RETURN_IF_ERROR(target.Set(labels, *call.in[3], false, count, params.num_outputs));
  const std::lock_guard<std::mutex> guard(tree->mutex);
  STILLFLOW_RETURN_IF_ERROR(CheckLeaves(*call.in[1], count, tree->nodes));
  for (int64_t i = 0; i < count; ++i) {
    TreeNode& node = tree->nodes[Data<int32_t>(*call.in[1])[i]];
    const int64_t label = target.ClassOf(i);
    if (!node.is_leaf) continue;
    if (node.leaf.is_vector) {
      if (label >= static_cast<int64_t>(node.leaf.vector.size())) node.leaf.vector.resize(label + 1);
      Leaf::Value& value = node.leaf.vector[label];
      value = {value.number + target.WeightOf(i), true};
    } else {
      node.leaf.is_sparse = true;
      Leaf::Value& value = node.leaf.sparse[label];
      value = {value.number + target.WeightOf(i), true};
    }
  }
  return Status();
}

uint64_t SeedOf(const Attr& attr) {
  if (attr.i != 0) return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(attr.i)));
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

// A split of a feature of an example at random, at the example's value. False if it has no feature.
bool Propose(const Input& input, const Params& params, int64_t example, WordReader* words, Split* split) {
  int64_t first = 0, sparse = 0;
  input.SparseEntries(example, &first, &sparse);
  const InputSpec& spec = input.spec();
  const int64_t features = spec.dense_size + sparse;
  if (features == 0) return false;
  const auto chosen = static_cast<int64_t>(ExactUniform<uint32_t>(static_cast<uint32_t>(features)).Draw(words));
  int type = spec.sparse_type;
  if (chosen < static_cast<int64_t>(spec.dense_types.size())) {
    split->feature = chosen;
    type = spec.dense_types[chosen];
  } else {
    split->feature = input.SparseColumn(first + chosen - spec.dense_size) + spec.dense_size;
  }
  split->threshold = input.ValueAt(example, split->feature);
  split->kind = type == InputSpec::kCategorical ? Split::kMatches : params.inequality_type;
  return split->feature >= 0;
}

// A set of leaves in the order that TensorFlow's build gives them, the one in which they are split: that of a hash
// set of libstdc++ with the bucket counts of GCC 7. What comes is put before the first of its bucket, or in front;
// when there are as many as buckets, all are put into more of them, in their order.
class FinishedLeaves {
 public:
  void Add(int32_t leaf) {
    if (std::find(order_.begin(), order_.end(), leaf) != order_.end()) return;
    if (order_.size() + 1 >= static_cast<size_t>(kBuckets[size_]) && size_ + 1 < std::size(kBuckets)) {
      ++size_;
      std::vector<int32_t> before;
      before.swap(order_);
      for (const int32_t each : before) Put(each);
    }
    Put(leaf);
  }
  const std::vector<int32_t>& order() const { return order_; }

 private:
  static constexpr int32_t kBuckets[] = {1, 3, 7, 17, 37, 79, 167, 337, 709, 1493, 3209, 6427, 12983, 26267, 53201};

  void Put(int32_t leaf) {
    const int32_t buckets = kBuckets[size_];
    const auto first =
        std::find_if(order_.begin(), order_.end(), [&](int32_t each) { return each % buckets == leaf % buckets; });
    order_.insert(first == order_.end() ? order_.begin() : first, leaf);
  }

  size_t size_ = 0;
  std::vector<int32_t> order_;
};

Status ProcessInput(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  std::shared_ptr<StatsResource> stats;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 1, &stats));
  InputSpec spec;
  Params params;
  Input input;
  Target target;
  STILLFLOW_RETURN_IF_ERROR(spec.Parse(call.attrs[1]));
  STILLFLOW_RETURN_IF_ERROR(params.Parse(call.attrs[2]));
  STILLFLOW_RETURN_IF_ERROR(input.Set(call, 2, spec));
  STILLFLOW_RETURN_IF_ERROR(
      target.Set(*call.in[6], *call.in[7], params.is_regression, input.count(), params.num_outputs));
  const std::lock_guard<std::mutex> stats_guard(stats->mutex);
  const std::lock_guard<std::mutex> tree_guard(tree->mutex);
  STILLFLOW_RETURN_IF_ERROR(CheckLeaves(*call.in[8], input.count(), tree->nodes));
  WordReader words({SeedOf(call.attrs[0]), 0, 0});
  FinishedLeaves finished;
  for (int64_t i = 0; i < input.count(); ++i) {
    const int32_t leaf = Data<int32_t>(*call.in[8])[i];
    const auto found = stats->slots.find(leaf);
    if (found == stats->slots.end()) {
      return STILLFLOW_INVALID_ARGUMENT("Node %d is not a leaf with statistics", leaf);
    }
    GrowStats& slot = *found->second;
    Split split;
    if (slot.HasCandidates()) {
      slot.AddExample(input, target, i);
    } else if (Propose(input, params, i, &words, &split)) {
      slot.AddSplit(split, &input, &target, i);
    }
    if (slot.IsFinished()) finished.Add(leaf);
  }
  STILLFLOW_RETURN_IF_ERROR(
      AllocateOutput(call, 0, DType::kInt32, VectorOf(static_cast<int64_t>(finished.order().size()))));
  std::copy(finished.order().begin(), finished.order().end(), MutableData<int32_t>(*call.out[0]));
  return Status();
}

// Makes a leaf a node with two leaves.
void SplitLeaf(const BestSplit& best, int64_t id, TreeResource* tree, StatsResource* stats) {
  const int depth = stats->slots[id]->depth() + 1;
  const auto left = static_cast<int64_t>(tree->nodes.size());
  tree->nodes.resize(left + 2);
  TreeNode& node = tree->nodes[id];
  node.is_leaf = false;
  node.leaf = Leaf();
  node.split = best.split;
  node.left = left;
  node.right = left + 1;
  for (int64_t child = left; child < left + 2; ++child) {
    tree->nodes[child].has_id = true;
    tree->nodes[child].leaf = child == left ? best.left : best.right;
    stats->slots[child] = NewGrowStats(stats->params, depth);
  }
  stats->slots.erase(id);
}

Status GrowTree(const KernelCall& call) {
  std::shared_ptr<TreeResource> tree;
  std::shared_ptr<StatsResource> stats;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &tree));
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 1, &stats));
  Params params;
  STILLFLOW_RETURN_IF_ERROR(params.Parse(call.attrs[0]));
  const Tensor& finished = *call.in[2];
  const std::lock_guard<std::mutex> stats_guard(stats->mutex);
  const std::lock_guard<std::mutex> tree_guard(tree->mutex);
  STILLFLOW_RETURN_IF_ERROR(CheckLeaves(finished, finished.count, tree->nodes));
  for (int64_t i = 0; i < finished.count && static_cast<int64_t>(tree->nodes.size()) < params.max_nodes; ++i) {
    const int32_t id = Data<int32_t>(finished)[i];
    const auto found = stats->slots.find(id);
    if (found == stats->slots.end() || !tree->nodes[id].is_leaf) continue;  // it was split before
    BestSplit best;
    if (found->second->FindBest(&best)) {
      SplitLeaf(best, id, tree.get(), stats.get());
    } else {
      found->second = NewGrowStats(stats->params, found->second->depth());
    }
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(forest, forest){
    STILLFLOW_CREATED_HANDLE("tree_handle", TreeResource),
    STILLFLOW_CREATED_HANDLE("stats_handle", StatsResource),
    {"tree_is_initialized", "handle", Guarded<IsCreated<TreeResource>>},
    {"stats_is_initialized", "handle", Guarded<IsCreated<StatsResource>>},
    {"create_tree", "handle, config | params", Guarded<Load<TreeResource, false>>},
    {"deserialize_tree", "handle, config | params", Guarded<Load<TreeResource, true>>},
    {"create_stats", "handle, config | params", Guarded<Load<StatsResource, false>>},
    {"deserialize_stats", "handle, config | params", Guarded<Load<StatsResource, true>>},
    {"serialize_tree", "handle", Guarded<SerializeTree>},
    {"serialize_stats", "handle", Guarded<SerializeStats>},
    {"tree_size", "handle", Guarded<TreeSize>},
    {"tree_predictions", "handle, data, indices, values, shape | input_spec, params", Guarded<TreePredictions>},
    {"traverse_tree", "handle, data, indices, values, shape | input_spec", Guarded<TraverseTree>},
    {"update_tree", "handle, leaf_ids, labels, weights | params", Guarded<UpdateTree>},
    {"process_input",
     "tree, stats, data, indices, values, shape, labels, weights, leaf_ids | random_seed, input_spec, params",
     Guarded<ProcessInput>},
    {"grow_tree", "tree, stats, finished_nodes | params", Guarded<GrowTree>},
    {"feature_usage_counts", "handle | params", Guarded<FeatureUsageCounts>},
    {}};

}  // namespace stillflow
