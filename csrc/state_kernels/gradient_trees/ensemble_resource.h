// ensemble_resource.h: resources of tf.contrib.boosted_trees, which count what changed them by a stamp.
#pragma once

#include "state_kernels/boosted_trees/inputs.h"
#include "state_kernels/created_resource.h"
#include "state_kernels/gradient_trees/tree_config.h"

namespace stillflow::gradient_trees {

using boosted_trees::CheckCount;
using boosted_trees::CheckRank;
using boosted_trees::MatrixOf;
using boosted_trees::Scalar;
using boosted_trees::SetScalar;
using boosted_trees::SetScalarBytes;
using boosted_trees::VectorOf;

// Updates that bring an older stamp come too late, and are dropped.
class StampedResource : public CreatedResource {
 public:
  int64_t stamp = -1;
};

class EnsembleResource final : public StampedResource {
 public:
  static constexpr const char* kKind = "gradient_trees_ensemble";
  static constexpr const char* kTypeName = "N10tensorflow13boosted_trees6models28DecisionTreeEnsembleResourceE";
  const char* kind() const override { return kKind; }

  Ensemble ensemble;
};

// Checks that in[in] is the resource's stamp; where there is a next one, it must be another.
inline Status CheckStamp(const KernelCall& call, int in, const StampedResource& resource) {
  int64_t stamp = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, in, "stamp_token", &stamp));
  if (resource.stamp == stamp) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Invalid stamp token. Passed stamp token: %lld Current token: %lld",
                                    static_cast<long long>(stamp), static_cast<long long>(resource.stamp));
}

// The same of an op that also sets the stamp to in[in + 1].
inline Status Restamp(const KernelCall& call, int in, StampedResource* resource) {
  STILLFLOW_RETURN_IF_ERROR(CheckStamp(call, in, *resource));
  int64_t next = 0;
  STILLFLOW_RETURN_IF_ERROR(Scalar(call, in + 1, "next_stamp_token", &next));
  if (next == resource->stamp) {
    return STILLFLOW_INVALID_ARGUMENT("next_stamp_token must differ from stamp_token, but both are %lld",
                                      static_cast<long long>(next));
  }
  resource->stamp = next;
  return Status();
}

}  // namespace stillflow::gradient_trees
