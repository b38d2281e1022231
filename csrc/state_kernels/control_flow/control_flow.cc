// control_flow: which branch of a program is live, where branches come together again, and loops.
//
// A cell of the run (see runtime/executor/program.h) is live or dead; a guard is a list of cells that must all be
// live.
//
//   branch       in[0] predicate, a bool scalar | false_cell, true_cell, guard
//                brings one of the two cells to life, if the guard is live; otherwise the predicate has no value
//   merge_live   in[0...] of one type, of which at most one is live | guards, cell
//                out[0] the live input itself; out[1], if it is there, its index: int32 []
//                `guards` holds, for each input, the number of its cells and the cells; `cell`, if not -1, comes
//                to life with any of them
//   loop_enter   in[0...] what the variables of a loop begin with; out[0...] the variables
//   loop_test    in[0] predicate, a bool scalar | end; goes on at the step `end` if it is false
//   loop_next    in[0...] what the variables become; out[0...] the variables | head; goes on at the step `head`
//   loop_end     nothing: the place where loop_test goes; what the loop has used is released here
#include <vector>

#include "kernel_api/kernel.h"
#include "runtime/executor/run_context.h"

namespace stillflow {
namespace {

bool AreLive(const uint8_t* cells, const int64_t* guard, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!cells[guard[i]]) return false;
  }
  return true;
}

Status CheckPredicate(const Tensor& predicate) {
  if (predicate.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("The second input must be a scalar, but it has shape %s",
                                    ShapeText(predicate).c_str());
}

// A variable has a null buffer.
void RetainValue(const Tensor& tensor) {
  if (tensor.buffer != nullptr) Retain(tensor.buffer);
}

Status Branch(const KernelCall& call) {
  uint8_t* const cells = call.run->cells;
  const int64_t ways[] = {call.attrs[0].i, call.attrs[1].i};
  cells[ways[0]] = cells[ways[1]] = 0;
  const Attr& guard = call.attrs[2];
  if (!AreLive(cells, static_cast<const int64_t*>(guard.data), guard.size)) return Status();
  const Tensor& predicate = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckPredicate(predicate));
  cells[ways[Data<bool>(predicate)[0]]] = 1;
  return Status();
}

Status MergeLive(const KernelCall& call) {
  uint8_t* const cells = call.run->cells;
  const auto* guard = static_cast<const int64_t*>(call.attrs[0].data);
  const int64_t own_cell = call.attrs[1].i;
  if (own_cell >= 0) cells[own_cell] = 0;
  for (int i = 0; i < call.in_count; guard += 1 + guard[0], ++i) {
    if (!AreLive(cells, guard + 1, guard[0])) continue;
    if (own_cell >= 0) cells[own_cell] = 1;
    if (call.out_count > 1) {
      STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt32, Shape()));
      MutableData<int32_t>(*call.out[1])[0] = i;
    }
    *call.out[0] = *call.in[i];
    RetainValue(*call.out[0]);
    break;
  }
  return Status();
}

Status LoopEnter(const KernelCall& call) {
  for (int i = 0; i < call.out_count; ++i) {
    *call.out[i] = *call.in[i];
    RetainValue(*call.out[i]);
  }
  return Status();
}

Status LoopTest(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckPredicate(*call.in[0]));
  if (!Data<bool>(*call.in[0])[0]) call.run->next_step = static_cast<int32_t>(call.attrs[0].i);
  return Status();
}

// A variable may become what another one was, so all new values are taken before old ones go.
Status LoopNext(const KernelCall& call) {
  constexpr int kFew = 8;
  Tensor few[kFew];
  std::vector<Tensor> many(call.out_count > kFew ? call.out_count : 0);
  Tensor* const values = call.out_count > kFew ? many.data() : few;
  for (int i = 0; i < call.out_count; ++i) {
    values[i] = *call.in[i];
    RetainValue(values[i]);
  }
  for (int i = 0; i < call.out_count; ++i) {
    if (call.out[i]->buffer != nullptr) Release(call.out[i]->buffer);
    *call.out[i] = values[i];
  }
  call.run->next_step = static_cast<int32_t>(call.attrs[0].i);
  return Status();
}

Status LoopEnd(const KernelCall&) { return Status(); }

}  // namespace

STILLFLOW_KERNELS(control_flow, control_flow){{"branch", "predicate | false_cell, true_cell, guard", Branch},
                                              {"merge_live", "inputs... | guards, cell", MergeLive},
                                              {"loop_enter", "inputs...", LoopEnter},
                                              {"loop_test", "predicate | end", LoopTest},
                                              {"loop_next", "inputs... | head", LoopNext},
                                              {"loop_end", "", LoopEnd},
                                              {}};

}  // namespace stillflow
