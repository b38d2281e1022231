// stack: values pushed in the rounds of a loop, popped in those of its gradient. A handle is a resource scalar, or
// two strings, and keeps its stack alive; stacks do not outlive the run.
//
//   stack        in[0] size, int32 []: how much it may hold; negative for any | type; out[0] handle
//   stack_by_name  | type, name; out[0] handle, two strings
//   stack_push   in[0] handle, in[1] value of the stack's type; out[0] the value itself
//   stack_pop    in[0] handle | type; out[0] the value pushed last
//   stack_close  in[0] handle: what it holds is given up
#include <atomic>

#include "collections/run_object.h"
#include "kernel_api/kernel.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

struct Stack : Handled {
  DType type;
  int64_t most;
  bool is_closed = false;
  std::vector<Tensor> values;

  void Clear() {
    for (Tensor& value : values) {
      if (value.buffer != nullptr) Release(value.buffer);
    }
    values.clear();
  }
  ~Stack() override { Clear(); }
};

Status Find(const KernelCall& call, Stack** stack) {
  *stack = HandledIn<Stack>(*call.in[0]);
  if (*stack == nullptr) return NoHandle(*call.in[0], "stack");
  if ((*stack)->is_closed) return STILLFLOW_INVALID_ARGUMENT("Stack has already been closed.");
  return Status();
}

Status WrongType(DType expected, DType found) {
  return STILLFLOW_INVALID_ARGUMENT("Must have type %s but got %s", Name(expected), Name(found));
}

Stack* MakeStack(const KernelCall& call, int64_t most) {
  auto* stack = new Stack;
  stack->type = static_cast<DType>(call.attrs[0].i);
  stack->most = most;
  MakeHandle(stack, call.out[0]);
  return stack;
}

Status NewStack(const KernelCall& call) {
  const Tensor& size = *call.in[0];
  if (size.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Stack size must be a scalar, but had shape: %s", ShapeText(size).c_str());
  }
  MakeStack(call, Data<int32_t>(size)[0]);
  return Status();
}

Status NewStackByName(const KernelCall& call) {
  static std::atomic<int64_t> next_number{0};
  const Attr& name = call.attrs[1];
  std::string text(static_cast<const char*>(name.data), name.size);
  text += "_" + std::to_string(next_number++);
  return MakeNamedHandle(*call.services, MakeStack(call, -1), "_stacks", text, call.out[0]);
}

Status Push(const KernelCall& call) {
  Stack* stack = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &stack));
  const Tensor& value = *call.in[1];
  if (value.dtype != stack->type) return WrongType(stack->type, value.dtype);
  if (stack->most >= 0 && static_cast<int64_t>(stack->values.size()) >= stack->most) {
    return STILLFLOW_INVALID_ARGUMENT("Stack overflowed its max_size (%lld)", static_cast<long long>(stack->most));
  }
  stack->values.push_back(value);
  if (value.buffer != nullptr) Retain(value.buffer);
  *call.out[0] = value;
  if (value.buffer != nullptr) Retain(value.buffer);
  return Status();
}

Status Pop(const KernelCall& call) {
  Stack* stack = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &stack));
  if (stack->values.empty()) return STILLFLOW_INVALID_ARGUMENT("Stack is empty when calling Pop().");
  const auto type = static_cast<DType>(call.attrs[0].i);
  if (type != stack->type) return WrongType(type, stack->type);
  *call.out[0] = stack->values.back();
  stack->values.pop_back();
  return Status();
}

Status Close(const KernelCall& call) {
  Stack* stack = nullptr;
  STILLFLOW_RETURN_IF_ERROR(Find(call, &stack));
  stack->Clear();
  stack->is_closed = true;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(control_flow, stack){{"stack", "max_size | elem_type", NewStack},
                                       {"stack_by_name", "| elem_type, stack_name", Guarded<NewStackByName>},
                                       {"stack_push", "handle, elem", Push},
                                       {"stack_pop", "handle | elem_type", Pop},
                                       {"stack_close", "handle", Close},
                                       {}};

}  // namespace stillflow
