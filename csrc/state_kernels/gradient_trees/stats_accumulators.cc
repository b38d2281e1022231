// Sums of gradients and hessians by partition, that is the leaf where an example is, and by feature.
//
//   stats_accumulator_scalar_handle, stats_accumulator_tensor_handle   attrs: see handle.h; out[0] a handle
//   stats_accumulator_scalar_exists, stats_accumulator_tensor_exists   in[0] a handle; out[0] bool[]
//   create_stats_accumulator_scalar  in[0] a handle; in[1] int64[]: its stamp
//   create_stats_accumulator_tensor  in[2], in[3] int64[k]: the shapes of a gradient and of a hessian
//   stats_accumulator_*_add          in[0...n) handles; in[n] int64[]: their stamp, else the update is dropped; then
//   n
//                                    each: int32[k] partitions, int64[k, 2] features and their dimensions,
//                                    float[k, shape] gradients and hessians; attr num_resource_handles
//   stats_accumulator_*_flush        in[0] a handle; in[1], in[2] int64[]: its stamp, and the next one; out[0]
//   int64[]:
//                                    how many updates there were; out[1...4] the sums, in order of partition,
//                                    dimension and feature, after which there are none
//   stats_accumulator_*_serialize    in[0] a handle; out[0] int64[]: its stamp; out[1...5] as flush has them
//   stats_accumulator_*_deserialize  in[0] a handle; in[1] int64[]: its stamp; in[2...6] as flush has them
//   stats_accumulator_*_summary      in[0...3], out[0...3]: the sums of one update
//
// An accumulator is summed by one thread, in the order of the rows.
#include <map>
#include <set>
#include <tuple>

#include "state_kernels/gradient_trees/ensemble_resource.h"

namespace stillflow {
namespace {

using namespace gradient_trees;  // NOLINT: this file is that namespace's kernels

struct Key {
  int32_t partition;
  int32_t dimension;
  int64_t feature;

  bool operator<(const Key& other) const {
    return std::tie(partition, dimension, feature) < std::tie(other.partition, other.dimension, other.feature);
  }
};

struct Sums {
  Shape gradient_shape;
  Shape hessian_shape;
  int64_t updates = 0;
  std::map<Key, std::vector<float>> values;  // a gradient, then a hessian
};

template <bool kIsScalar>
class AccumulatorResource final : public StampedResource {
 public:
  static constexpr const char* kKind = kIsScalar ? "stats_accumulator_scalar" : "stats_accumulator_tensor";
  static constexpr const char* kTypeName =
      kIsScalar ? "N10tensorflow13boosted_trees12_GLOBAL__N_124StatsAccumulatorResourceIffEE"
                : "N10tensorflow13boosted_trees12_GLOBAL__N_124StatsAccumulatorResourceISt6vectorIfSaIfEES4_EE";
  const char* kind() const override { return kKind; }

  Sums sums;
};

// The shape of a tensor's elements along the first dimension.
Shape InnerShape(const Tensor& tensor) {
  Shape shape;
  for (int i = 1; i < tensor.rank; ++i) shape.Add(tensor.dims[i]);
  return shape;
}

// The inputs of one update.
struct Update {
  const Tensor& partitions;
  const Tensor& features;
  const Tensor& gradients;
  const Tensor& hessians;

  Status Check(const Sums& sums) const {
    STILLFLOW_RETURN_IF_ERROR(CheckRank(partitions, 1, "partition_ids"));
    STILLFLOW_RETURN_IF_ERROR(CheckRank(features, 2, "feature_ids"));
    const int64_t count = partitions.count;
    if (count > 0) STILLFLOW_RETURN_IF_ERROR(CheckCount(features, 2 * count, "feature_ids"));
    STILLFLOW_RETURN_IF_ERROR(CheckShape(gradients, sums.gradient_shape, "Gradients"));
    return CheckShape(hessians, sums.hessian_shape, "Hessian");
  }

  void AddTo(Sums* sums) const {
    ++sums->updates;
    const int64_t width = sums->gradient_shape.Count(), hessian_width = sums->hessian_shape.Count();
    const auto* gradient = Data<float>(gradients);
    const auto* hessian = Data<float>(hessians);
    for (int64_t i = 0; i < partitions.count; ++i, gradient += width, hessian += hessian_width) {
      const int64_t* feature = Data<int64_t>(features) + 2 * i;
      const Key key{Data<int32_t>(partitions)[i], static_cast<int32_t>(feature[1]), feature[0]};
      const auto [found, is_new] = sums->values.try_emplace(key);
      std::vector<float>& sum = found->second;
      if (is_new) {
        sum.assign(gradient, gradient + width);
        sum.insert(sum.end(), hessian, hessian + hessian_width);
        continue;
      }
      for (int64_t j = 0; j < width; ++j) sum[j] += gradient[j];
      for (int64_t j = 0; j < hessian_width; ++j) sum[width + j] += hessian[j];
    }
  }

 private:
  // Rows without a partition are allowed, as those that come before there are buckets have none.
  Status CheckShape(const Tensor& tensor, const Shape& shape, const char* name) const {
    const Shape inner = InnerShape(tensor);
    if (tensor.rank < 1 || !(inner == shape)) {
      return STILLFLOW_INVALID_ARGUMENT("%s dimensions must match: %s, %s", name, ShapeText(inner).c_str(),
                                        ShapeText(shape).c_str());
    }
    if (tensor.dims[0] >= partitions.count) return Status();
    return STILLFLOW_INVALID_ARGUMENT("%s of shape %s are not those of %lld partitions", name,
                                      ShapeText(tensor).c_str(), static_cast<long long>(partitions.count));
  }
};

Update UpdateAt(const KernelCall& call, int first, int step) {
  return {*call.in[first], *call.in[first + step], *call.in[first + 2 * step], *call.in[first + 3 * step]};
}

Status AddUpdate(const Update& update, Sums* sums) {
  STILLFLOW_RETURN_IF_ERROR(update.Check(*sums));
  update.AddTo(sums);
  return Status();
}

Shape RowsOf(int64_t rows, const Shape& inner) {
  Shape shape = VectorOf(rows);
  for (int i = 0; i < inner.rank; ++i) shape.Add(inner.dims[i]);
  return shape;
}

Status PutSums(const KernelCall& call, int out, const Sums& sums) {
  const auto rows = static_cast<int64_t>(sums.values.size());
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kInt32, VectorOf(rows)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out + 1, DType::kInt64, MatrixOf(rows, 2)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out + 2, DType::kFloat, RowsOf(rows, sums.gradient_shape)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out + 3, DType::kFloat, RowsOf(rows, sums.hessian_shape)));
  auto* partitions = MutableData<int32_t>(*call.out[out]);
  auto* features = MutableData<int64_t>(*call.out[out + 1]);
  auto* gradients = MutableData<float>(*call.out[out + 2]);
  auto* hessians = MutableData<float>(*call.out[out + 3]);
  const int64_t width = sums.gradient_shape.Count(), hessian_width = sums.hessian_shape.Count();
  for (const auto& [key, sum] : sums.values) {
    *partitions++ = key.partition;
    *features++ = key.feature;
    *features++ = key.dimension;
    gradients = std::copy_n(sum.data(), width, gradients);
    hessians = std::copy_n(sum.data() + width, hessian_width, hessians);
  }
  return Status();
}

template <bool kIsScalar>
Status Create(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource<kIsScalar>> resource;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &resource));
  int64_t stamp = 0;
  Sums sums;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "stamp_token", &stamp));
  if constexpr (!kIsScalar) {
    STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &sums.gradient_shape));
    STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[3], &sums.hessian_shape));
    if (sums.gradient_shape.rank == kMaxRank || sums.hessian_shape.rank == kMaxRank) {
      return STILLFLOW_INVALID_ARGUMENT("too many dimensions: there is none left for the partitions");
    }
  }
  const std::lock_guard<std::mutex> guard(resource->mutex);
  if (resource->is_created) return Status();
  resource->sums = std::move(sums);
  resource->stamp = stamp;
  resource->is_created = true;
  return Status();
}

template <bool kIsScalar>
Status Add(const KernelCall& call) {
  using Resource = AccumulatorResource<kIsScalar>;
  const auto count = static_cast<int>(call.attrs[0].i);
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, count, "stamp_token", &stamp));
  std::vector<std::shared_ptr<Resource>> resources(count);
  std::set<Resource*> distinct;
  for (int i = 0; i < count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(FindCreated(call, i, &resources[i]));
    distinct.insert(resources[i].get());
  }
  const auto add = [&](int64_t i) {
    const std::lock_guard<std::mutex> guard(resources[i]->mutex);
    if (resources[i]->stamp != stamp) return Status();
    return AddUpdate(UpdateAt(call, count + 1 + static_cast<int>(i), count), &resources[i]->sums);
  };
  // Updates of one accumulator are added in their order.
  const int64_t chunk = static_cast<int>(distinct.size()) == count ? 1 : count;
  return ForEachChunk(call, count, chunk, [&](Range range) {
    return CatchingOutOfMemory([&] {
      for (int64_t i = range.begin; i < range.end; ++i) STILLFLOW_RETURN_IF_ERROR(add(i));
      return Status();
    });
  });
}

template <bool kIsScalar>
Status Flush(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource<kIsScalar>> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(CheckStamp(call, 1, *resource));
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, resource->sums.updates));
  STILLFLOW_RETURN_IF_ERROR(PutSums(call, 1, resource->sums));
  STILLFLOW_RETURN_IF_ERROR(Restamp(call, 1, resource.get()));
  resource->sums.values.clear();
  resource->sums.updates = 0;
  return Status();
}

template <bool kIsScalar>
Status Serialize(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource<kIsScalar>> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 0, resource->stamp));
  STILLFLOW_RETURN_IF_ERROR(SetScalar(call, 1, resource->sums.updates));
  return PutSums(call, 2, resource->sums);
}

template <bool kIsScalar>
Status Deserialize(const KernelCall& call) {
  std::shared_ptr<AccumulatorResource<kIsScalar>> resource;
  STILLFLOW_RETURN_IF_ERROR(FindCreated(call, 0, &resource));
  const std::lock_guard<std::mutex> guard(resource->mutex);
  int64_t stamp = 0;
  Sums sums;
  sums.gradient_shape = resource->sums.gradient_shape;
  sums.hessian_shape = resource->sums.hessian_shape;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 1, "stamp_token", &stamp));
  STILLFLOW_RETURN_IF_ERROR(AddUpdate(UpdateAt(call, 3, 1), &sums));
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, 2, "num_updates", &sums.updates));
  resource->sums = std::move(sums);
  resource->stamp = stamp;
  return Status();
}

template <bool kIsScalar>
Status Summarize(const KernelCall& call) {
  Sums sums;
  if constexpr (!kIsScalar) {
    sums.gradient_shape = InnerShape(*call.in[2]);
    sums.hessian_shape = InnerShape(*call.in[3]);
  }
  STILLFLOW_RETURN_IF_ERROR(AddUpdate(UpdateAt(call, 0, 1), &sums));
  return PutSums(call, 0, sums);
}

}  // namespace

#define STILLFLOW_ACCUMULATOR_KERNELS(kind, is_scalar)                                                          \
  STILLFLOW_CREATED_HANDLE("stats_accumulator_" kind "_handle", AccumulatorResource<is_scalar>),                \
      {"stats_accumulator_" kind "_exists", "handle", Guarded<IsCreated<AccumulatorResource<is_scalar>>>},      \
      {"stats_accumulator_" kind "_add",                                                                        \
       "handles..., stamp_token, partition_ids..., feature_ids..., gradients..., hessians... | "                \
       "num_resource_handles",                                                                                  \
       Guarded<Add<is_scalar>>},                                                                                \
      {"stats_accumulator_" kind "_flush", "handle, stamp_token, next_stamp_token", Guarded<Flush<is_scalar>>}, \
      {"stats_accumulator_" kind "_serialize", "handle", Guarded<Serialize<is_scalar>>},                        \
      {"stats_accumulator_" kind "_deserialize",                                                                \
       "handle, stamp_token, num_updates, partition_ids, feature_ids, gradients, hessians",                     \
       Guarded<Deserialize<is_scalar>>},                                                                        \
  {                                                                                                             \
    "stats_accumulator_" kind "_summary", "partition_ids, feature_ids, gradients, hessians",                    \
        Guarded<Summarize<is_scalar>>                                                                           \
  }

STILLFLOW_KERNELS(gradient_trees, stats_accumulators){
    STILLFLOW_ACCUMULATOR_KERNELS("scalar", true),
    STILLFLOW_ACCUMULATOR_KERNELS("tensor", false),
    {"create_stats_accumulator_scalar", "handle, stamp_token", Guarded<Create<true>>},
    {"create_stats_accumulator_tensor", "handle, stamp_token, per_slot_gradient_shape, per_slot_hessian_shape",
     Guarded<Create<false>>},
    {}};

}  // namespace stillflow
