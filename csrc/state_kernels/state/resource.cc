// destroy_resource, temporary_variable, destroy_temporary_variable: the ends of resources, and variables of one run.
//
//   destroy_resource            in[0] a variable, or the handle of another resource; attr: whether none is no error
//   temporary_variable          out[0] a variable of zeros that lives as long as its run needs it; attrs: type,
//   sizes,
//                               its name, and the node's, which stands for an empty one
//   destroy_temporary_variable  in[0] such a variable, which is over then; attr: its name; out[0] its value
#include "collections/run_object.h"
#include "kernels/guarded.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

Status DoesNotExist(const std::string& name) {
  return Error(Code::kNotFound, "Resource %s does not exist.", name.c_str());
}

// Whether the variable had a value.
bool Forget(Variable* variable) {
  Buffer* previous = nullptr;
  {
    MutexLock guard(variable->mutex);
    previous = variable->value.buffer;
    variable->value = Tensor();
  }
  if (previous == nullptr) return false;
  Release(previous);
  return true;
}

Status DestroyResource(const KernelCall& call) {
  const Tensor& handle = *call.in[0];
  const bool ignores = call.attrs[0].i != 0;
  if (handle.dtype == DType::kRef) {
    Variable* const variable = VariableOf(handle);
    const char* const name = ResourceName(*variable);
    return Forget(variable) || ignores ? Status() : DoesNotExist(name != nullptr ? name : variable->name);
  }
  if (handle.dtype != DType::kResource || handle.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("A handle is one resource, not a %s of shape %s", Name(handle.dtype),
                                      ShapeText(handle).c_str());
  }
  const int64_t number = *Data<int64_t>(handle);
  return call.run->session->resources()->Erase(number) || ignores ? Status() : DoesNotExist(std::to_string(number));
}

// ---- Variables of a run -------------------------------------------------------------------------------------------

struct TemporaryVariable : Handled {
  std::string name;
  Variable variable{};

  ~TemporaryVariable() override { Forget(&variable); }
  static TemporaryVariable* Of(const Tensor& reference) {
    return reference.buffer == nullptr
               ? nullptr
               : dynamic_cast<TemporaryVariable*>(static_cast<Handled*>(reference.buffer->data));
  }
};

Status MakeTemporaryVariable(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  const auto* sizes = static_cast<const int64_t*>(call.attrs[1].data);
  Shape shape;
  if (call.attrs[1].size > kMaxRank)
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  for (int64_t i = 0; i < call.attrs[1].size; ++i) shape.Add(sizes[i]);
  auto* const made = new (std::nothrow) TemporaryVariable;
  if (made == nullptr) return OutOfScratch();
  Tensor* const reference = call.out[0];
  MakeHandle(made, reference);
  reference->dtype = DType::kRef;
  reference->data = &made->variable;
  made->name = StringOf(call.attrs[call.attrs[2].size != 0 ? 2 : 3]);
  Variable& variable = made->variable;
  variable.dtype = dtype;
  variable.rank = shape.rank;
  std::memcpy(variable.dims, shape.dims, sizeof(int64_t) * shape.rank);
  variable.name = made->name.c_str();
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, dtype, shape, &variable.value));
  if (!HasCells(dtype)) std::memset(variable.value.data, 0, variable.value.count * ElementBytes(dtype));
  return Status();
}

Status DestroyTemporaryVariable(const KernelCall& call) {
  const std::string name = StringOf(call.attrs[0]);
  auto* const variable = TemporaryVariable::Of(*call.in[0]);
  if (name.empty()) return STILLFLOW_INVALID_ARGUMENT("Missing var_name attribute");
  if (variable == nullptr || variable->name != name) return DoesNotExist("of this run, " + name + ",");
  MutexLock guard(variable->variable.mutex);
  if (variable->variable.value.buffer == nullptr) return DoesNotExist("of this run, " + name + ",");
  *call.out[0] = variable->variable.value;
  variable->variable.value = Tensor();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(state, resource){
    {"destroy_resource", "resource | ignore_lookup_error", DestroyResource},
    {"temporary_variable", "| dtype, shape, var_name, node_name", Guarded<MakeTemporaryVariable>},
    {"destroy_temporary_variable", "ref | var_name", Guarded<DestroyTemporaryVariable>},
    {}};

}  // namespace stillflow
