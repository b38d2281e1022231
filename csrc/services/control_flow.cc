// control_flow: which branch of a program is live, and where branches come together again.
//
// A cell of the run (see executor/program.h) is live or dead; a guard is a list of cells that must all be live.
//
//   branch       in[0] predicate, a bool scalar | false_cell, true_cell, guard
//                brings one of the two cells to life, if the guard is live; otherwise the predicate has no value
//   merge_live   in[0...] of one type, of which at most one is live | guards, cell
//                out[0] the live input itself; out[1], if it is there, its index: int32 []
//                `guards` holds, for each input, the number of its cells and the cells; `cell`, if not -1, comes
//                to life with any of them
#include "executor/run_context.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

bool AreLive(const uint8_t* cells, const int64_t* guard, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!cells[guard[i]]) return false;
  }
  return true;
}

Status Branch(const KernelCall& call) {
  uint8_t* const cells = call.run->cells;
  const int64_t ways[] = {call.attrs[0].i, call.attrs[1].i};
  cells[ways[0]] = cells[ways[1]] = 0;
  const Attr& guard = call.attrs[2];
  if (!AreLive(cells, static_cast<const int64_t*>(guard.data), guard.size)) return Status();
  const Tensor& predicate = *call.in[0];
  if (predicate.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("The second input must be a scalar, but it has shape %s",
                                      ShapeText(predicate).c_str());
  }
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
    if (call.in[i]->buffer != nullptr) Retain(call.in[i]->buffer);
    break;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(control_flow){{"branch", "predicate | false_cell, true_cell, guard", Branch},
                                {"merge_live", "inputs... | guards, cell", MergeLive},
                                {}};

}  // namespace stillflow
