// read_variable, is_initialized, assign, assign_add, assign_sub, count_up_to: variables as a whole.
//
//   in[0]  variable  a reference
//   in[1]  value     of the variable's type; for assign_add and assign_sub of its shape too
//   out[0] read_variable: the value; is_initialized: bool[]; count_up_to: the value before it grew by one
//   attr   of count_up_to limit: the value that cannot be counted on from
//
// A read shares the variable's buffer; an update makes a copy first if somebody still holds it. Values of a
// run's caller are copied, all others are shared.
#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

Status ReadVariable(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  MutexLock guard(variable->mutex);
  if (variable->value.buffer == nullptr) return Uninitialized(*variable);
  *call.out[0] = variable->value;
  Retain(variable->value.buffer);
  return Status();
}

Status IsInitialized(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape()));
  MutexLock guard(variable->mutex);
  *MutableData<bool>(*call.out[0]) = variable->value.buffer != nullptr;
  return Status();
}

Status CheckShape(const Variable& variable, const Tensor& value) {
  const bool is_set = variable.value.buffer != nullptr;
  const int rank = is_set ? variable.value.rank : variable.rank;
  const int64_t* dims = is_set ? variable.value.dims : variable.dims;
  if (rank < 0) return Status();
  bool is_same = rank == value.rank;
  for (int i = 0; is_same && i < rank; ++i) is_same = dims[i] < 0 || dims[i] == value.dims[i];
  if (is_same) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Assign requires shapes of both tensors to match. lhs shape= %s rhs shape= %s",
                                    ShapeText(rank, dims).c_str(), ShapeText(value).c_str());
}

Status Assign(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  const Tensor& value = *call.in[1];
  const bool validates_shape = call.attrs[0].i != 0;
  Tensor next = value;
  if (value.buffer->is_borrowed) {
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, value.dtype, Shape(value), &next));
    std::memcpy(next.data, value.data, value.count * ElementBytes(value.dtype));
  } else {
    Retain(next.buffer);
  }
  Status status;
  Buffer* previous = nullptr;
  {
    MutexLock guard(variable->mutex);
    if (validates_shape) status = CheckShape(*variable, value);
    if (status.ok()) {
      previous = variable->value.buffer;
      variable->value = next;
    } else {
      previous = next.buffer;
    }
  }
  if (previous != nullptr) Release(previous);
  return status;
}

template <typename T, typename Fn>
void Accumulate(T* to, const T* from, Range range, Fn fn) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    if constexpr (kIsFloating<T>) {
      to[i] = Narrow<T>(fn(Widen(to[i]), Widen(from[i])));
    } else {
      to[i] = static_cast<T>(fn(static_cast<uint64_t>(to[i]), static_cast<uint64_t>(from[i])));
    }
  }
}

template <typename Fn>
Status Update(const KernelCall& call, const char* name, Fn fn) {
  Variable* variable = VariableOf(*call.in[0]);
  const Tensor& value = *call.in[1];
  MutexLock guard(variable->mutex);
  if (variable->value.buffer == nullptr) return Uninitialized(*variable);
  if (!(Shape(variable->value) == Shape(value))) {
    return STILLFLOW_INVALID_ARGUMENT("Parameters and update must be the same size: %s vs. %s",
                                      ShapeText(variable->value).c_str(), ShapeText(value).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(MakeUnique(*call.services, variable));
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, uint16_t, int8_t, uint8_t>(
      name, PartType(value.dtype), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* to = MutableData<T>(variable->value);
        const T* from = Data<T>(value);
        return ForEachChunk(call, value.count * PartCount(value.dtype), kElementsPerChunk,
                            [&](Range range) { Accumulate(to, from, range, fn); });
      });
}

Status AssignAdd(const KernelCall& call) {
  return Update(call, "AssignAdd", [](auto a, auto b) { return a + b; });
}
Status AssignSub(const KernelCall& call) {
  return Update(call, "AssignSub", [](auto a, auto b) { return a - b; });
}

Status CountUpTo(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  const int64_t limit = call.attrs[0].i;
  MutexLock guard(variable->mutex);
  if (variable->value.buffer == nullptr) return Uninitialized(*variable);
  if (variable->value.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Can only count scalars, not a variable of shape %s",
                                      ShapeText(variable->value).c_str());
  }
  return ForType<int32_t, int64_t>("CountUpTo", variable->value.dtype, [&](auto tag) -> Status {
    using T = typename decltype(tag)::type;
    const T count = *Data<T>(variable->value);
    if (count >= limit) return Error(Code::kOutOfRange, "Reached limit of %lld", static_cast<long long>(limit));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, variable->value.dtype, Shape()));
    STILLFLOW_RETURN_IF_ERROR(MakeUnique(*call.services, variable));
    *MutableData<T>(*call.out[0]) = count;
    *MutableData<T>(variable->value) = count + 1;
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(state, variable){{"read_variable", "variable", ReadVariable},
                                   {"is_initialized", "variable", IsInitialized},
                                   {"assign", "variable, value | validate_shape", Assign},
                                   {"assign_add", "variable, value", AssignAdd},
                                   {"assign_sub", "variable, value", AssignSub},
                                   {"count_up_to", "variable | limit", CountUpTo},
                                   {}};

}  // namespace stillflow
