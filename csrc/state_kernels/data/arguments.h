// arguments.h: what kernels that make data sets share: scalar arguments, inputs, and the variant that they give.
#pragma once

#include <random>
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

inline Status PositiveArgument(const KernelCall& call, int in, const char* name, int64_t* value) {
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, in, name, value));
  return *value > 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("%s must be greater than zero.", name);
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

// The inputs at `in` and behind it: the seeds. Two zeros are none; then the system draws them, anew for each run.
inline Status SeedArguments(const KernelCall& call, int in, uint64_t* seed, uint64_t* seed2, bool* is_drawn) {
  int64_t first = 0;
  int64_t second = 0;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, in, "seed", &first));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, in + 1, "seed2", &second));
  *seed = static_cast<uint64_t>(first);
  *seed2 = static_cast<uint64_t>(second);
  *is_drawn = first == 0 && second == 0;
  if (*is_drawn) {
    std::random_device device;
    *seed = static_cast<uint64_t>(device()) << 32 | device();
    *seed2 = static_cast<uint64_t>(device()) << 32 | device();
  }
  return Status();
}

inline Status OutputDataset(const KernelCall& call, DatasetPtr dataset) {
  return MakeDatasetVariant(*call.services, std::move(dataset), call.out[0]);
}

}  // namespace stillflow
