// tensor_dataset, tensor_slice_dataset, range_dataset: data sets that csrc/datasets/sources.cc has.
//
//   out[0]  a variant scalar that holds the data set
//   attrs   output_types, output_shapes: what its elements are
#include "state_kernels/data/arguments.h"

namespace stillflow {
namespace {

Status Components(const KernelCall& call, Tuple* components) {
  components->Reset(call.in_count);
  for (int i = 0; i < call.in_count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, *call.in[i], &(*components)[i]));
  }
  return Status();
}

// in[...] the components of the element
Status TensorDataset(const KernelCall& call) {
  Tuple components;
  STILLFLOW_RETURN_IF_ERROR(Components(call, &components));
  return OutputDataset(call, MakeTensorDataset(SpecOf(call.attrs[0], call.attrs[1]), std::move(components)));
}

// in[...] the components, of which each row is an element
Status SliceDataset(const KernelCall& call) {
  for (int i = 0; i < call.in_count; ++i) {
    if (call.in[i]->rank == 0) return STILLFLOW_INVALID_ARGUMENT("All components must be at least 1-dimensional");
    if (call.in[i]->dims[0] != call.in[0]->dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT("All components must have the same size in the 0th dimension");
    }
  }
  Tuple components;
  STILLFLOW_RETURN_IF_ERROR(Components(call, &components));
  return OutputDataset(call, MakeSliceDataset(SpecOf(call.attrs[0], call.attrs[1]), std::move(components)));
}

// in[0..2] start, stop, step: int64 scalars
Status RangeDataset(const KernelCall& call) {
  int64_t start = 0;
  int64_t stop = 0;
  int64_t step = 0;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 0, "start", &start));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "stop", &stop));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 2, "step", &step));
  if (step == 0) return STILLFLOW_INVALID_ARGUMENT("step must be a non-zero integer.");
  return OutputDataset(call, MakeRangeDataset(SpecOf(call.attrs[0], call.attrs[1]), start, stop, step));
}

}  // namespace

STILLFLOW_KERNELS(data, sources){
    {"tensor_dataset", "components... | output_types, output_shapes", Guarded<TensorDataset>},
    {"tensor_slice_dataset", "components... | output_types, output_shapes", Guarded<SliceDataset>},
    {"range_dataset", "start, stop, step | output_types, output_shapes", Guarded<RangeDataset>},
    {}};

}  // namespace stillflow
