// shrink_l1: weights moved towards zero by the ratio of two attributes, and no further than zero.
//
//   in[0...]  variables of float; attrs l1, l2
#include <algorithm>
#include <cmath>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

Status Shrink(const KernelCall& call, float by, Variable* variable) {
  MutexLock guard(variable->mutex);
  STILLFLOW_RETURN_IF_ERROR(MakeUnique(*call.services, variable));
  if (variable->value.dtype != DType::kFloat) return UnsupportedType("SdcaShrinkL1", variable->value.dtype);
  auto* weights = MutableData<float>(variable->value);
  return ForEachChunk(call, variable->value.count, kElementsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const float size = std::max(std::fabs(weights[i]) - by, 0.0F);
      weights[i] = weights[i] == 0 ? 0 : std::copysign(size, weights[i]);
    }
  });
}

Status ShrinkL1(const KernelCall& call) {
  const auto by = static_cast<float>(call.attrs[0].f / call.attrs[1].f);
  for (int i = 0; i < call.in_count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(Shrink(call, by, VariableOf(*call.in[i])));
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(linear, shrink_l1){{"shrink_l1", "weights... | l1, l2", ShrinkL1}, {}};

}  // namespace stillflow
