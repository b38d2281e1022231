// assign_zeros: the first value of a variable, without a tensor of zeros that would be copied.
//
//   in[0]   a reference, or the handle of a resource variable
//   attrs   type and shape of the value; of a reference they are those of the variable itself
//   out[0]  assign_zeros_to_handle: a handle, which is fetched to run it
#include "kernels/guarded.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

Status AssignZeros(const KernelCall& call, DType dtype, const PartialShape& declared) {
  Shape shape;
  bool is_known = declared.rank >= 0;
  for (int i = 0; is_known && i < declared.rank; ++i) {
    is_known = declared.dims[i] >= 0;
    shape.Add(declared.dims[i]);
  }
  if (!is_known) return STILLFLOW_INVALID_ARGUMENT("zero_initializer needs a variable whose shape is known");
  Variable* variable = VariableOf(*call.in[0]);
  MutexLock guard(variable->mutex);
  if (variable->value.buffer != nullptr) return STILLFLOW_INVALID_ARGUMENT("input is already initialized");
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, dtype, shape, &variable->value));
  std::memset(variable->value.data, 0, variable->value.count * ElementBytes(dtype));
  return Status();
}

Status AssignZerosToReference(const KernelCall& call) {
  const Variable& variable = *VariableOf(*call.in[0]);
  PartialShape shape;
  shape.rank = variable.rank;
  for (int i = 0; i < variable.rank; ++i) shape.dims[i] = variable.dims[i];
  return AssignZeros(call, variable.dtype, shape);
}

Status AssignZerosToHandle(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(AssignZeros(call, static_cast<DType>(call.attrs[0].i), PartialShapeOf(call.attrs[1])));
  // A number of no resource: the handle is there to be run, as an initializer.
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kResource, Shape()));
  *MutableData<int64_t>(*call.out[0]) = 0;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(state, zero_initializer){{"assign_zeros", "variable", AssignZerosToReference},
                                           {"assign_zeros_to_handle", "variable | dtype, shape", AssignZerosToHandle},
                                           {}};

}  // namespace stillflow
