// nearest_neighbors, kmeans_plus_plus_initialization, kmc2_chain_initialization: what k-means is made of.
//
//   nearest_neighbors  in[0] points float32[n, d]; in[1] centers float32[m, d]; in[2] k int64[]
//                      out[0] int64[n, min(k, m)]: the centers nearest to each point, nearest first, those equally
//                      far in order of their numbers; out[1] float32: how far these are, squared
//   kmeans_plus_plus_initialization  in[0] points; in[1] num_to_sample, in[2] seed, in[3] num_retries_per_sample:
//                      int64[]; out[0] float32[num_to_sample, d]
//   kmc2_chain_initialization  in[0] distances float32[n]; in[1] seed int64[]; out[0] int64[]: the point at the end
//   of
//                      the chain
//
// Half the squared distance of x and y is |x|^2 / 2 - x y + |y|^2 / 2, with the products of gemm.h.
// k-means++: Arthur and Vassilvitskii 2007; k-MC2: Bachem, Lucic, Hassani and Krause 2016.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/gemm/gemm.h"
#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/stream.h"
#include "arithmetic/random/unigram.h"

namespace stillflow {
namespace {

Status CheckScalar(const Tensor& tensor, const char* name) {
  return tensor.rank == 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("Input %s should be a scalar.", name);
}

Status CheckMatrix(const Tensor& tensor, const char* name) {
  return tensor.rank == 2 ? Status() : STILLFLOW_INVALID_ARGUMENT("Input %s should be a matrix.", name);
}

float HalfSquaredNorm(const float* row, int64_t size) {
  float sum = 0;
  for (int64_t i = 0; i < size; ++i) sum = Fma(row[i], row[i], sum);
  return 0.5f * sum;
}

void HalfSquaredNorms(const Tensor& rows, float* norms) {
  for (int64_t i = 0; i < rows.dims[0]; ++i) {
    norms[i] = HalfSquaredNorm(Data<float>(rows) + i * rows.dims[1], rows.dims[1]);
  }
}

Shape ShapeOf(int64_t rows, int64_t columns) {
  Shape shape;
  shape.Add(rows);
  shape.Add(columns);
  return shape;
}

// ---- The nearest centers ------------------------------------------------------------------------------------------

struct Center {
  float distance;
  int64_t index;
  bool operator<(const Center& other) const {
    return distance < other.distance || (!(other.distance < distance) && index < other.index);
  }
};

// Writes the k nearest of `count` centers, of which `products` has the scalar products with a point. `centers` is
// scratch memory, which k == 1 does without.
void PickNearest(const float* products, const float* center_norms, int64_t count, float point_norm, int64_t k,
                 Center* centers, int64_t* indices, float* distances) {
  if (k == 1) {
    Center best{center_norms[0] - products[0], 0};
    for (int64_t j = 1; j < count; ++j) {
      const float distance = center_norms[j] - products[j];
      if (distance < best.distance) best = {distance, j};
    }
    *indices = best.index;
    *distances = 2.0f * (point_norm + best.distance);
    return;
  }
  for (int64_t j = 0; j < count; ++j) centers[j] = {center_norms[j] - products[j], j};
  std::partial_sort(centers, centers + k, centers + count);
  for (int64_t j = 0; j < k; ++j) {
    indices[j] = centers[j].index;
    distances[j] = 2.0f * (point_norm + centers[j].distance);
  }
}

// A NaN is not in order with anything, and sorting asks for an order.
bool HasNaN(const Tensor& tensor) {
  const float* data = Data<float>(tensor);
  return std::any_of(data, data + tensor.count, [](float x) { return std::isnan(x); });
}

Status NearestNeighbors(const KernelCall& call) {
  const Tensor& points = *call.in[0];
  const Tensor& centers = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrix(points, "points"));
  STILLFLOW_RETURN_IF_ERROR(CheckMatrix(centers, "centers"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "k"));
  const int64_t rows = points.dims[0], size = points.dims[1], center_count = centers.dims[0];
  if (rows <= 0) return STILLFLOW_INVALID_ARGUMENT("Expected points.rows() > 0.");
  if (size != centers.dims[1]) {
    return STILLFLOW_INVALID_ARGUMENT("Expected point_dimensions == center_dimensions: %lld vs %lld.",
                                      static_cast<long long>(size), static_cast<long long>(centers.dims[1]));
  }
  const int64_t k = std::min(center_count, *Data<int64_t>(*call.in[2]));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, ShapeOf(rows, k)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, ShapeOf(rows, k)));
  if (k == 0) return Status();
  if (k > 1 && (HasNaN(points) || HasNaN(centers))) {
    return STILLFLOW_INVALID_ARGUMENT("Points or centers that are not numbers have no nearest neighbors.");
  }
  const Scratch center_norms(call, center_count * static_cast<int64_t>(sizeof(float)));
  if (!center_norms.ok()) return OutOfScratch();
  HalfSquaredNorms(centers, center_norms.data<float>());
  constexpr int64_t kProductsPerChunk = 1 << 16;
  const int64_t chunk = std::max<int64_t>(kProductsPerChunk / center_count, 1);
  return ForEachChunk(call, rows, chunk, [&](Range range) -> Status {
    const int64_t count = range.end - range.begin;
    const Scratch products(call, count * center_count * static_cast<int64_t>(sizeof(float)));
    const Scratch order(call, (k > 1 ? center_count : 1) * static_cast<int64_t>(sizeof(Center)));
    if (!products.ok() || !order.ok()) return OutOfScratch();
    const float* first = Data<float>(points) + range.begin * size;
    STILLFLOW_RETURN_IF_ERROR(Gemm<float>(call, count, center_count, size, {first, size, 1},
                                          {Data<float>(centers), 1, size}, products.data<float>(), center_count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t out = (range.begin + i) * k;
      PickNearest(products.data<float>() + i * center_count, center_norms.data<float>(), center_count,
                  HalfSquaredNorm(first + i * size, size), k, order.data<Center>(),
                  MutableData<int64_t>(*call.out[0]) + out, MutableData<float>(*call.out[1]) + out);
    }
    return Status();
  });
}

// ---- Initial centers ----------------------------------------------------------------------------------------------

// Picks points one after another, each with a probability in proportion to its distance from those picked before.
class PlusPlusSampler {
 public:
  PlusPlusSampler(const KernelCall& call, uint64_t seed)
      : call_(call),
        points_(*call.in[0]),
        count_(points_.dims[0]),
        numbers_(call, 5 * count_ * static_cast<int64_t>(sizeof(float))),
        marks_(call, count_),
        words_({seed, 0, 0}) {
    if (!ok()) return;
    norms_ = numbers_.data<float>();
    distances_ = norms_ + count_;
    running_sums_ = distances_ + count_;
    candidate_ = running_sums_ + count_;
    best_ = candidate_ + count_;
    is_picked_ = marks_.data<bool>();
    HalfSquaredNorms(points_, norms_);
    std::fill_n(distances_, count_, std::numeric_limits<float>::infinity());
    std::fill_n(is_picked_, count_, false);
  }
  bool ok() const { return numbers_.ok() && marks_.ok(); }

  // The best of 1 + `retries` draws: that which leaves the points nearest to what is picked.
  Status Pick(int64_t retries, int64_t* picked) {
    float sum = 0;
    for (int64_t i = 0; i < count_; ++i) running_sums_[i] = (sum += distances_[i]);
    double best_potential = std::numeric_limits<double>::infinity();
    *picked = -1;
    for (int64_t i = 0; i <= retries; ++i) {
      const int64_t index = Draw();
      STILLFLOW_RETURN_IF_ERROR(FindDistancesWith(index));
      double potential = 0;
      for (int64_t j = 0; j < count_; ++j) potential += static_cast<double>(candidate_[j]);
      if (potential < best_potential || *picked < 0) {
        best_potential = potential;
        *picked = index;
        std::swap(best_, candidate_);
      }
    }
    std::swap(distances_, best_);
    is_picked_[*picked] = true;
    has_picked_ = true;
    return Status();
  }

 private:
  int64_t Draw() {
    if (!has_picked_) {
      return static_cast<int64_t>(ExactUniform<uint64_t>(static_cast<uint64_t>(count_)).Draw(&words_));
    }
    constexpr int kMostDraws = 100000;  // where all points but few are the same, no draw may find another one
    for (int i = 0; i < kMostDraws; ++i) {
      const float at = UniformFloat(words_.Next()) * running_sums_[count_ - 1];
      const int64_t index = std::upper_bound(running_sums_, running_sums_ + count_, at) - running_sums_;
      if (index == count_) return count_ - 1;
      if (!is_picked_[index]) return index;
    }
    return std::find(is_picked_, is_picked_ + count_ - 1, false) - is_picked_;
  }

  // How far each point is from what is picked, were `index` picked as well.
  Status FindDistancesWith(int64_t index) {
    const int64_t size = points_.dims[1];
    const float* points = Data<float>(points_);
    STILLFLOW_RETURN_IF_ERROR(
        Gemm<float>(call_, count_, 1, size, {points, size, 1}, {points + index * size, 1, 1}, candidate_, 1));
    for (int64_t i = 0; i < count_; ++i) {
      candidate_[i] = std::min(distances_[i], norms_[i] - candidate_[i] + norms_[index]);
    }
    return Status();
  }

  const KernelCall& call_;
  const Tensor& points_;
  const int64_t count_;
  const Scratch numbers_, marks_;
  float *norms_ = nullptr, *distances_ = nullptr, *running_sums_ = nullptr, *candidate_ = nullptr, *best_ = nullptr;
  bool* is_picked_ = nullptr;
  bool has_picked_ = false;
  WordReader words_;
};

Status KMeansPlusPlusInitialization(const KernelCall& call) {
  const Tensor& points = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrix(points, "points"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "num_to_sample"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "seed"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[3], "num_retries_per_sample"));
  const int64_t rows = points.dims[0], size = points.dims[1];
  const int64_t samples = *Data<int64_t>(*call.in[1]);
  int64_t retries = *Data<int64_t>(*call.in[3]);
  if (rows <= 0) return STILLFLOW_INVALID_ARGUMENT("Expected points.rows() > 0.");
  if (samples <= 0) return STILLFLOW_INVALID_ARGUMENT("Expected num_to_sample > 0.");
  if (samples > rows) {
    return STILLFLOW_INVALID_ARGUMENT("Expected num_to_sample <= points.rows(). %lld vs %lld.",
                                      static_cast<long long>(samples), static_cast<long long>(rows));
  }
  if (retries < 0) retries = 2 + static_cast<int64_t>(std::log(static_cast<double>(samples)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, ShapeOf(samples, size)));
  PlusPlusSampler sampler(call, static_cast<uint64_t>(*Data<int64_t>(*call.in[2])));
  if (!sampler.ok()) return OutOfScratch();
  for (int64_t i = 0; i < samples; ++i) {
    int64_t picked = 0;
    STILLFLOW_RETURN_IF_ERROR(sampler.Pick(retries, &picked));
    std::copy_n(Data<float>(points) + picked * size, size, MutableData<float>(*call.out[0]) + i * size);
  }
  return Status();
}

Status Kmc2ChainInitialization(const KernelCall& call) {
  const Tensor& distances = *call.in[0];
  if (distances.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Input distances should be a vector.");
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "seed"));
  if (distances.count <= 0) return STILLFLOW_INVALID_ARGUMENT("Expected distances_tensor.size() > 0.");
  WordReader words({static_cast<uint64_t>(*Data<int64_t>(*call.in[1])), 0, 0});
  const float* data = Data<float>(distances);
  int64_t selected = 0;
  for (int64_t i = 1; i < distances.count; ++i) {
    if (data[i] > UniformFloat(words.Next()) * data[selected]) selected = i;
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape()));
  *MutableData<int64_t>(*call.out[0]) = selected;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(math, clustering){
    {"nearest_neighbors", "points, centers, k", NearestNeighbors},
    {"kmeans_plus_plus_initialization", "points, num_to_sample, seed, num_retries_per_sample",
     KMeansPlusPlusInitialization},
    {"kmc2_chain_initialization", "distances, seed", Kmc2ChainInitialization},
    {}};

}  // namespace stillflow
