// arguments.h: what kernels that make data sets share: scalar arguments, inputs, and the variant that they give.
#pragma once

#include <string>

#include "datasets/datasets.h"
#include "datasets/variant.h"
#include "kernels/guarded.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {

inline Status CheckScalar(const Tensor& tensor, const char* name) {
  return tensor.rank == 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("%s must be a scalar", name);
}

inline Status IntArgument(const KernelCall& call, int in, const char* name, int64_t* value) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[in], name));
  *value = IntAt(*call.in[in], 0);
  return Status();
}

inline Status BoolArgument(const KernelCall& call, int in, const char* name, bool* value) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[in], name));
  *value = Data<bool>(*call.in[in])[0];
  return Status();
}

inline Status StringArgument(const KernelCall& call, int in, const char* name, std::string* value) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[in], name));
  *value = Text(StringAt(*call.in[in], 0));
  return Status();
}

inline Status OutputDataset(const KernelCall& call, DatasetPtr dataset) {
  return MakeDatasetVariant(*call.services, std::move(dataset), call.out[0]);
}

}  // namespace stillflow
