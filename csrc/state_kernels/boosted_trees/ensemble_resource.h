// ensemble_resource.h: the resource that ops on ensembles share.
#pragma once

#include "state_kernels/boosted_trees/ensemble.h"
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

inline Shape VectorOf(int64_t count) {
  Shape shape;
  shape.Add(count);
  return shape;
}

inline Shape MatrixOf(int64_t rows, int64_t columns) {
  Shape shape = VectorOf(rows);
  shape.Add(columns);
  return shape;
}

inline Status CheckRank(const Tensor& tensor, int rank, const char* name) {
  if (tensor.rank == rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be of rank %d, but has the shape %s", name, rank,
                                    ShapeText(tensor).c_str());
}

inline Status CheckCount(const Tensor& tensor, int64_t count, const char* name) {
  if (tensor.count == count) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must have %lld elements, but has the shape %s", name,
                                    static_cast<long long>(count), ShapeText(tensor).c_str());
}

// A scalar input.
template <typename T>
Status Scalar(const KernelCall& call, int in, const char* name, T* value) {
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[in], 0, name));
  *value = *Data<T>(*call.in[in]);
  return Status();
}

}  // namespace stillflow::boosted_trees
