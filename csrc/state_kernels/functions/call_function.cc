// call_function, call_remote, call_branch, call_case, call_loop, call_counted_loop: functions of the graph, called.
//
//   call_function      in[0...] arguments; attrs function, types; out[0...] the results
//   call_remote        in[0] the device, in[1...] arguments; otherwise as call_function
//   call_branch        in[0] condition, in[1...] arguments; attrs then, else: functions, types; out[0...] the results
//                      of one
//   call_case          in[0] branch_index: an int32 scalar, in[1...] arguments; attrs types, the number of branches
//   and
//                      each of them; out[0...] the results of the one of that number, of the last for other numbers
//   call_loop          in[0...] what the variables of a loop begin with; attrs condition, body: functions of the
//                      variables, types; out[0...] the variables when the condition is false
//   call_counted_loop  in[0] start, in[1] limit, in[2] delta: int32 scalars, in[3...] what the variables begin with;
//                      attrs body: function of the number and the variables, types; out[0...] the variables at the
//                      end
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/guarded.h"
#include "runtime/executor/function.h"

namespace stillflow {
namespace {

constexpr size_t kMostFunctions = 2;  // of all but call_case

enum CaseAttr { kCaseTypes, kCaseBranchCount, kCaseBranches };

// The `state` of such a node: what each of its functions keeps.
struct CallState {
  std::deque<FunctionState> functions;
  std::string saved;  // by the call of save_state that asks for the size

  explicit CallState(size_t count) : functions(count) {}

  static Status Make(size_t count, void** state) {
    return CatchingOutOfMemory([&] {
      *state = new CallState(count);
      return Status();
    });
  }
  static Status New(const Attr*, void** state) { return Make(kMostFunctions, state); }
  static Status NewCase(const Attr* attrs, void** state) {
    return Make(static_cast<size_t>(attrs[kCaseBranchCount].i), state);
  }
  static void Free(void* state) { delete static_cast<CallState*>(state); }

  // For each function the number of its bytes, and the bytes. Most calls keep nothing; a checkpoint that had them
  // would not fit graphs without the call.
  static int64_t Save(void* state, void* bytes) {
    auto* self = static_cast<CallState*>(state);
    if (bytes == nullptr) {
      self->saved.clear();
      bool is_empty = true;
      for (FunctionState& function : self->functions) is_empty = is_empty && function.IsEmpty();
      if (is_empty) return -1;
      for (FunctionState& function : self->functions) {
        const std::string part = function.Save();
        const uint64_t size = part.size();
        self->saved.append(reinterpret_cast<const char*>(&size), sizeof size);
        self->saved += part;
      }
    } else {
      std::memcpy(bytes, self->saved.data(), self->saved.size());
    }
    return static_cast<int64_t>(self->saved.size());
  }

  static bool Restore(void* state, const void* bytes, int64_t size) {
    const char* next = static_cast<const char*>(bytes);
    const char* const end = next + size;
    auto* self = static_cast<CallState*>(state);
    std::vector<std::string> parts(self->functions.size());
    for (std::string& part : parts) {
      uint64_t part_size = 0;
      if (end - next < static_cast<int64_t>(sizeof part_size)) return false;
      std::memcpy(&part_size, next, sizeof part_size);
      next += sizeof part_size;
      if (part_size > static_cast<uint64_t>(end - next)) return false;
      part.assign(next, part_size);
      next += part_size;
    }
    if (next != end) return false;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!self->functions[i].Restore(parts[i])) return false;
    }
    return true;
  }
};

// Calls a function, the one of this number of the node's.
Status CallOne(const KernelCall& call, const Attr& attr, size_t number, const std::vector<DType>& expected,
               const Tensor* const* in, int32_t in_count, Tensor* const* out) {
  const auto function = FunctionOf(attr);
  STILLFLOW_RETURN_IF_ERROR(function->CheckOutputs(expected));
  FunctionState* const state = &static_cast<CallState*>(call.state)->functions[number];
  return function->Call(call.run, state, in, in_count, out);
}

// Calls the function that is the attribute of this number.
Status Call(const KernelCall& call, int attribute, const std::vector<DType>& expected, const Tensor* const* in,
            int32_t in_count, Tensor* const* out) {
  return CallOne(call, call.attrs[attribute], attribute, expected, in, in_count, out);
}

std::vector<DType> ResultTypes(const Attr& attr) {
  const auto* types = static_cast<const int64_t*>(attr.data);
  std::vector<DType> result;
  for (int64_t i = 0; i < attr.size; ++i) result.push_back(static_cast<DType>(types[i]));
  return result;
}

Status CallFunction(const KernelCall& call) {
  return Call(call, 0, ResultTypes(call.attrs[1]), call.in, call.in_count, call.out);
}

Status CallRemote(const KernelCall& call) {
  return Call(call, 0, ResultTypes(call.attrs[1]), call.in + 1, call.in_count - 1, call.out);
}

// What TensorFlow takes for true: numbers but 0, strings but the empty one, and tensors with elements.
Status Truth(const Tensor& tensor, bool* truth) {
  if (tensor.rank > 0) {
    *truth = tensor.count > 0;
    return Status();
  }
  if (tensor.dtype == DType::kString) {
    *truth = StringAt(tensor, 0).size > 0;
    return Status();
  }
  return ForType<bool, int32_t, int64_t, float, double, uint8_t, int8_t, int16_t, uint16_t>(
      "If", tensor.dtype, [&](auto tag) {
        *truth = Data<typename decltype(tag)::type>(tensor)[0] != 0;
        return Status();
      });
}

Status CallBranch(const KernelCall& call) {
  bool is_taken = false;
  STILLFLOW_RETURN_IF_ERROR(Truth(*call.in[0], &is_taken));
  return Call(call, is_taken ? 0 : 1, ResultTypes(call.attrs[2]), call.in + 1, call.in_count - 1, call.out);
}

Status CallCase(const KernelCall& call) {
  if (call.in[0]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("branch_index must be a scalar");
  const int64_t count = call.attrs[kCaseBranchCount].i;
  int64_t number = Data<int32_t>(*call.in[0])[0];
  if (number < 0 || number >= count) number = count - 1;
  return CallOne(call, call.attrs[kCaseBranches + number], number, ResultTypes(call.attrs[kCaseTypes]), call.in + 1,
                 call.in_count - 1, call.out);
}

// Tensors that are let go of at the end.
class Values {
 public:
  explicit Values(int count) : tensors_(count), pointers_(count) {
    for (int i = 0; i < count; ++i) {
      tensors_[i].buffer = nullptr;
      pointers_[i] = &tensors_[i];
    }
  }
  ~Values() { Clear(); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  void Clear() {
    for (Tensor& tensor : tensors_) {
      if (tensor.buffer != nullptr) Release(tensor.buffer);
      tensor.buffer = nullptr;
    }
  }
  Tensor& operator[](int i) { return tensors_[i]; }
  Tensor* const* pointers() { return pointers_.data(); }

  // Begins with references of their own to `tensors`.
  void Borrow(const Tensor* const* tensors) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      tensors_[i] = *tensors[i];
      if (tensors_[i].buffer != nullptr) Retain(tensors_[i].buffer);
    }
  }
  void Swap(Values& other) {
    for (size_t i = 0; i < tensors_.size(); ++i) std::swap(tensors_[i], other.tensors_[i]);
  }
  // Hands them on.
  void MoveTo(Tensor* const* out) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      *out[i] = tensors_[i];
      tensors_[i].buffer = nullptr;
    }
  }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Tensor*> pointers_;
};

Status CallLoop(const KernelCall& call) {
  const int count = call.out_count;
  const std::vector<DType> types = ResultTypes(call.attrs[2]);
  Values variables(count);
  Values next(count);
  variables.Borrow(call.in);
  for (;;) {
    if (ShouldStop(call.run)) return Status(call.run->stop, nullptr);
    Values condition(1);
    const auto test = FunctionOf(call.attrs[0]);
    if (test->output_types().size() != 1) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Expected a single scalar which can be converted to a boolean, got %d tensors.",
          static_cast<int>(test->output_types().size()));
    }
    STILLFLOW_RETURN_IF_ERROR(Call(call, 0, test->output_types(), variables.pointers(), count, condition.pointers()));
    bool goes_on = false;
    STILLFLOW_RETURN_IF_ERROR(Truth(condition[0], &goes_on));
    if (!goes_on) break;
    STILLFLOW_RETURN_IF_ERROR(Call(call, 1, types, variables.pointers(), count, next.pointers()));
    variables.Clear();
    variables.Swap(next);
  }
  variables.MoveTo(call.out);
  return Status();
}

Status Number(const Tensor& tensor, const char* name, int32_t* number) {
  if (tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be a scalar, but %s", name, ShapeText(tensor).c_str());
  }
  *number = Data<int32_t>(tensor)[0];
  return Status();
}

Status CallCountedLoop(const KernelCall& call) {
  constexpr int kNumbers = 3;
  const int count = call.out_count;
  int32_t start = 0, limit = 0, delta = 0;
  STILLFLOW_RETURN_IF_ERROR(Number(*call.in[0], "start", &start));
  STILLFLOW_RETURN_IF_ERROR(Number(*call.in[1], "limit", &limit));
  STILLFLOW_RETURN_IF_ERROR(Number(*call.in[2], "delta", &delta));
  if (delta > 0 ? start > limit : delta < 0 ? start < limit : start != limit) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid start/limit/delta: %d %d %d", start, limit, delta);
  }
  const auto returned = static_cast<int>(FunctionOf(call.attrs[0])->output_types().size());
  if (returned != count && start != limit) {
    return STILLFLOW_INVALID_ARGUMENT("For loop body returned %d arguments. Expected: %d", returned, count);
  }
  const std::vector<DType> types = ResultTypes(call.attrs[1]);
  Values variables(count);
  Values next(count);
  variables.Borrow(call.in + kNumbers);
  std::vector<const Tensor*> arguments(1 + count);
  for (int i = 0; i < count; ++i) arguments[1 + i] = &variables[i];
  // Wider than the numbers, for the last step may lead beyond them.
  for (int64_t i = start; delta > 0 ? i < limit : i > limit; i += delta) {
    if (ShouldStop(call.run)) return Status(call.run->stop, nullptr);
    // A number of its own for each call, which may keep it.
    Values number(1);
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt32, Shape(), &number[0]));
    MutableData<int32_t>(number[0])[0] = static_cast<int32_t>(i);
    arguments[0] = &number[0];
    STILLFLOW_RETURN_IF_ERROR(Call(call, 0, types, arguments.data(), 1 + count, next.pointers()));
    variables.Clear();
    variables.Swap(next);
  }
  variables.MoveTo(call.out);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(functions, call_function){
    {"call_function", "args... | function, types", Guarded<CallFunction>, nullptr, nullptr, CallState::New,
     CallState::Free, CallState::Save, CallState::Restore},
    {"call_remote", "target, args... | function, types", Guarded<CallRemote>, nullptr, nullptr, CallState::New,
     CallState::Free, CallState::Save, CallState::Restore},
    {"call_branch", "condition, args... | then, else, types", Guarded<CallBranch>, nullptr, nullptr, CallState::New,
     CallState::Free, CallState::Save, CallState::Restore},
    {"call_case", "branch_index, args... | types, branches", Guarded<CallCase>, nullptr, nullptr, CallState::NewCase,
     CallState::Free, CallState::Save, CallState::Restore},
    {"call_loop", "args... | condition, body, types", Guarded<CallLoop>, nullptr, nullptr, CallState::New,
     CallState::Free, CallState::Save, CallState::Restore},
    {"call_counted_loop", "start, limit, delta, args... | body, types", Guarded<CallCountedLoop>, nullptr, nullptr,
     CallState::New, CallState::Free, CallState::Save, CallState::Restore},
    {}};

}  // namespace stillflow
