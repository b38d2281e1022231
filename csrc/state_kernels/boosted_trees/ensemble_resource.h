// ensemble_resource.h: the resource that ops on ensembles share.
#pragma once

#include "state_kernels/boosted_trees/ensemble.h"
#include "state_kernels/boosted_trees/inputs.h"
#include "state_kernels/created_resource.h"

namespace stillflow::boosted_trees {

class EnsembleResource final : public CreatedResource {
 public:
  static constexpr const char* kKind = "boosted_trees_ensemble";
  static constexpr const char* kTypeName = "N10tensorflow28BoostedTreesEnsembleResourceE";
  const char* kind() const override { return kKind; }

  int64_t stamp = -1;  // counts what changed the ensemble
  Ensemble ensemble;
};

}  // namespace stillflow::boosted_trees
