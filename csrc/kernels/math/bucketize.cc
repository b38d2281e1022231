// bucketize: for each value the number of boundaries that are not above it.
//
//   in[0]  x  float32 | float64 | int32 | int64; attr boundaries, ascending, which count as float32
//   out[0] int32 of x's shape. A number that is a boundary lies above it; so does what is no number, above all.
#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 8192;
constexpr int64_t kFewBoundaries = 32;  // among which comparing with all is faster than halving

template <typename T>
Status Bucketize(const KernelCall& call, const float* boundaries, int64_t count) {
  const auto* x = Data<T>(*call.in[0]);
  auto* out = MutableData<int32_t>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->count, kElementsPerChunk, [&](Range range) {
    if (count > kFewBoundaries) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        out[i] = static_cast<int32_t>(std::upper_bound(boundaries, boundaries + count, x[i]) - boundaries);
      }
      return;
    }
    std::fill(out + range.begin, out + range.end, 0);
    for (int64_t boundary = 0; boundary < count; ++boundary) {
      const float bound = boundaries[boundary];
      for (int64_t i = range.begin; i < range.end; ++i) out[i] += x[i] < bound ? 0 : 1;
    }
  });
}

Status BucketizeAny(const KernelCall& call) {
  const Attr& given = call.attrs[0];
  const Scratch scratch(call, given.size * 4);
  if (!scratch.ok()) return OutOfScratch();
  auto* boundaries = scratch.data<float>();
  for (int64_t i = 0; i < given.size; ++i) {
    boundaries[i] = static_cast<float>(static_cast<const double*>(given.data)[i]);
    if (i > 0 && boundaries[i] < boundaries[i - 1]) return STILLFLOW_INVALID_ARGUMENT("Expected sorted boundaries");
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape(*call.in[0])));
  return ForType<float, double, int32_t, int64_t>("Bucketize", call.in[0]->dtype, [&](auto tag) {
    return Bucketize<typename decltype(tag)::type>(call, boundaries, given.size);
  });
}

}  // namespace

STILLFLOW_KERNELS(math, bucketize){{"bucketize", "x | boundaries", BucketizeAny}, {}};

}  // namespace stillflow
