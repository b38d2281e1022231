// gru_block_cell, gru_block_cell_grad: one step of a GRU layer as one kernel.
//
//   gru_block_cell       in x [batch, input], h_prev [batch, cell], w_ru [input + cell, 2 cell], w_c [input + cell,
//                        cell], b_ru [2 cell], b_c [cell], float; out r, u, c, h [batch, cell]
//   gru_block_cell_grad  in the same, then r, u, c, d_h; out d_x, d_h_prev, d_c_bar [batch, cell], d_r_bar_u_bar
//                        [batch, 2 cell]
//
// [r, u] = sigmoid([x, h_prev] w_ru + b_ru), c = tanh([x, h_prev r] w_c + b_c), h = u (h_prev - c) + c.
#include <cstring>
#include <memory>

#include "arithmetic/elementwise/program_text.h"
#include "arithmetic/gemm/gemm.h"

namespace stillflow {
namespace {

struct Sizes {
  int64_t batch;
  int64_t input;
  int64_t cell;
};

// ---- Inputs ---------------------------------------------------------------------------------------------------

enum In { kX, kHPrev, kWRu, kWC, kBRu, kBC, kR, kU, kC, kDh };

Status CheckRank(const char* name, const Tensor& tensor, int rank) {
  if (tensor.rank == rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be %d-D, not of shape %s", name, rank, ShapeText(tensor).c_str());
}

Status CheckSize(const char* name, const char* call, const Tensor& tensor, int axis, const char* what, int64_t size) {
  if (tensor.dims[axis] == size) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s.%s(%d) != %s: %lld vs. %lld", name, call, axis, what,
                                    static_cast<long long>(tensor.dims[axis]), static_cast<long long>(size));
}

Status CheckState(const KernelCall& call, int in, const char* name, const Sizes& sizes) {
  const Tensor& tensor = *call.in[in];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(name, tensor, 2));
  STILLFLOW_RETURN_IF_ERROR(CheckSize(name, "dims", tensor, 0, "batch_size", sizes.batch));
  return CheckSize(name, "dims", tensor, 1, "cell_size", sizes.cell);
}

Status CheckMatrix(const KernelCall& call, int in, const char* name, const Sizes& sizes, const char* what,
                   int64_t width) {
  const Tensor& tensor = *call.in[in];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(name, tensor, 2));
  STILLFLOW_RETURN_IF_ERROR(
      CheckSize(name, "dim_size", tensor, 0, "input_size + cell_size", sizes.input + sizes.cell));
  return CheckSize(name, "dim_size", tensor, 1, what, width);
}

Status CheckBias(const KernelCall& call, int in, const char* name, const char* what, int64_t width) {
  const Tensor& tensor = *call.in[in];
  if (tensor.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Rank of %s must be 1%d vs. 1", name, tensor.rank);
  return CheckSize(name, "dim_size", tensor, 0, what, width);
}

Status ReadSizes(const KernelCall& call, Sizes* sizes) {
  STILLFLOW_RETURN_IF_ERROR(CheckRank("x", *call.in[kX], 2));
  STILLFLOW_RETURN_IF_ERROR(CheckRank("h_prev", *call.in[kHPrev], 2));
  *sizes = {call.in[kX]->dims[0], call.in[kX]->dims[1], call.in[kHPrev]->dims[1]};
  STILLFLOW_RETURN_IF_ERROR(CheckState(call, kHPrev, "h_prev", *sizes));
  STILLFLOW_RETURN_IF_ERROR(CheckMatrix(call, kWRu, "w_ru", *sizes, "cell_size * 2", sizes->cell * 2));
  STILLFLOW_RETURN_IF_ERROR(CheckMatrix(call, kWC, "w_c", *sizes, "cell_size", sizes->cell));
  STILLFLOW_RETURN_IF_ERROR(CheckBias(call, kBRu, "b_ru", "cell_size * 2", sizes->cell * 2));
  return CheckBias(call, kBC, "b_c", "cell_size", sizes->cell);
}

Status AllocateMatrix(const KernelCall& call, int out, int64_t rows, int64_t columns) {
  Shape shape;
  shape.Add(rows);
  shape.Add(columns);
  return AllocateOutput(call, out, DType::kFloat, shape);
}

// ---- Products -------------------------------------------------------------------------------------------------

// to = [x, h] w, a sum over x first.
Status MultiplyBoth(const KernelCall& call, const Sizes& sizes, const float* x, const float* h, const float* w,
                    int64_t width, float* to) {
  STILLFLOW_RETURN_IF_ERROR(
      Gemm<float>(call, sizes.batch, width, sizes.input, {x, sizes.input, 1}, {w, width, 1}, to, width));
  return Gemm<float>(call, sizes.batch, width, sizes.cell, {h, sizes.cell, 1}, {w + sizes.input * width, width, 1},
                     to, width, true);
}

// to_x = d w^T of the rows of w that belong to x, or is added to; to_h likewise, of those that belong to h.
Status MultiplyBack(const KernelCall& call, const Sizes& sizes, const float* d, const float* w, int64_t width,
                    float* to_x, bool adds_x, float* to_h) {
  STILLFLOW_RETURN_IF_ERROR(
      Gemm<float>(call, sizes.batch, sizes.input, width, {d, width, 1}, {w, 1, width}, to_x, sizes.input, adds_x));
  return Gemm<float>(call, sizes.batch, sizes.cell, width, {d, width, 1}, {w + sizes.input * width, 1, width}, to_h,
                     sizes.cell);
}

// ---- Programs -------------------------------------------------------------------------------------------------

// What runs between the products: each a program over rows of cells.
struct Programs {
  std::unique_ptr<ElementwiseProgram> first;
  std::unique_ptr<ElementwiseProgram> second;
};

Status Parse(const ProgramText& text, int input_count, std::initializer_list<int> outputs,
             std::unique_ptr<ElementwiseProgram>* program) {
  ElementwiseProgram* parsed = nullptr;
  Status status = ElementwiseProgram::Parse(text.With(outputs).c_str(), input_count, &parsed);
  program->reset(parsed);
  return status;
}

const float kOne = 1;

// gates r, u, their biases, h_prev -> r, u, h_prev r
Status MakeGates(std::unique_ptr<ElementwiseProgram>* program) {
  ProgramText text("float", 5);
  const int r = text.Add("sigmoid", text.Add("add", 0, 2));
  const int u = text.Add("sigmoid", text.Add("add", 1, 3));
  const int kept = text.Add("mul", 4, r);
  return Parse(text, 5, {r, u, kept}, program);
}

// candidate, its bias, u, h_prev -> c, h
Status MakeOutput(std::unique_ptr<ElementwiseProgram>* program) {
  ProgramText text("float", 4);
  const int c = text.Add("tanh", text.Add("add", 0, 1));
  const int h = text.Add("add", text.Add("mul", 2, text.Add("sub", 3, c)), c);
  return Parse(text, 4, {c, h}, program);
}

// d_h, u, c, h_prev, 1 -> d_c_bar, d_u_bar
Status MakeFirstGrads(std::unique_ptr<ElementwiseProgram>* program) {
  ProgramText text("float", 5);
  const int rest = text.Add("sub", 4, 1);
  const int slope = text.Add("sub", 4, text.Add("mul", 2, 2));
  const int d_c = text.Add("mul", text.Add("mul", 0, rest), slope);
  const int change = text.Add("mul", 0, text.Add("sub", 3, 2));
  const int d_u = text.Add("mul", text.Add("mul", change, 1), rest);
  return Parse(text, 5, {d_c, d_u}, program);
}

// d_hr, h_prev, r, 1 -> d_r_bar
Status MakeResetGrad(std::unique_ptr<ElementwiseProgram>* program) {
  ProgramText text("float", 4);
  const int scaled = text.Add("mul", text.Add("mul", 0, 1), 2);
  const int d_r = text.Add("mul", scaled, text.Add("sub", 3, 2));
  return Parse(text, 4, {d_r}, program);
}

Status PrepareForward(const Attr*, void** prepared) {
  auto* programs = new Programs;
  *prepared = programs;
  STILLFLOW_RETURN_IF_ERROR(MakeGates(&programs->first));
  return MakeOutput(&programs->second);
}

Status PrepareBackward(const Attr*, void** prepared) {
  auto* programs = new Programs;
  *prepared = programs;
  STILLFLOW_RETURN_IF_ERROR(MakeFirstGrads(&programs->first));
  return MakeResetGrad(&programs->second);
}

void ReleasePrograms(void* prepared) { delete static_cast<Programs*>(prepared); }

Status Run(const KernelCall& call, const ElementwiseProgram& program, const Sizes& sizes,
           std::initializer_list<RowOperand> operands) {
  return RunRows(call, program, operands.begin(), sizes.batch, sizes.cell);
}

// ---- Kernels --------------------------------------------------------------------------------------------------

Status GruBlockCell(const KernelCall& call) {
  const auto& programs = *static_cast<const Programs*>(call.prepared);
  Sizes sizes{};
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(call, &sizes));
  const int64_t cell = sizes.cell;
  float* out[4];
  for (int i = 0; i < 4; ++i) {
    STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, i, sizes.batch, cell));
    out[i] = MutableData<float>(*call.out[i]);
  }
  const auto in = [&](int i) { return Data<float>(*call.in[i]); };
  const Scratch scratch(call, sizes.batch * 4 * cell * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  auto* const gates = scratch.data<float>();
  float* const kept = gates + sizes.batch * 2 * cell;
  float* const candidate = kept + sizes.batch * cell;
  STILLFLOW_RETURN_IF_ERROR(MultiplyBoth(call, sizes, in(kX), in(kHPrev), in(kWRu), 2 * cell, gates));
  STILLFLOW_RETURN_IF_ERROR(
      Run(call, *programs.first, sizes,
          {Rows(gates, 2 * cell), Rows(gates + cell, 2 * cell), Row(in(kBRu)), Row(in(kBRu) + cell),
           Rows(in(kHPrev), cell), Rows(out[0], cell), Rows(out[1], cell), Rows(kept, cell)}));
  STILLFLOW_RETURN_IF_ERROR(MultiplyBoth(call, sizes, in(kX), kept, in(kWC), cell, candidate));
  return Run(call, *programs.second, sizes,
             {Rows(candidate, cell), Row(in(kBC)), Rows(out[1], cell), Rows(in(kHPrev), cell), Rows(out[2], cell),
              Rows(out[3], cell)});
}

// d_h_prev, which is its part that came through the gates, gets the others: d_hr r, then d_h u.
Status AddToState(const KernelCall& call, const float* d_hr, float* d_h_prev) {
  const auto* const r = Data<float>(*call.in[kR]);
  const auto* const u = Data<float>(*call.in[kU]);
  const auto* const d_h = Data<float>(*call.in[kDh]);
  return ForEachChunk(call, call.in[kR]->count, 16384, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) d_h_prev[i] = d_h_prev[i] + d_hr[i] * r[i] + d_h[i] * u[i];
  });
}

Status GruBlockCellGrad(const KernelCall& call) {
  const auto& programs = *static_cast<const Programs*>(call.prepared);
  Sizes sizes{};
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(call, &sizes));
  const char* const names[] = {"r", "u", "c", "d_h"};
  for (int i = 0; i < 4; ++i) STILLFLOW_RETURN_IF_ERROR(CheckState(call, kR + i, names[i], sizes));
  const int64_t cell = sizes.cell;
  const int64_t widths[] = {sizes.input, cell, cell, 2 * cell};
  float* out[4];
  for (int i = 0; i < 4; ++i) {
    STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, i, sizes.batch, widths[i]));
    out[i] = MutableData<float>(*call.out[i]);
  }
  float* const d_r_u = out[3];
  const auto in = [&](int i) { return Data<float>(*call.in[i]); };
  const Scratch scratch(call, sizes.batch * cell * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  auto* const d_hr = scratch.data<float>();
  STILLFLOW_RETURN_IF_ERROR(Run(call, *programs.first, sizes,
                                {Rows(in(kDh), cell), Rows(in(kU), cell), Rows(in(kC), cell), Rows(in(kHPrev), cell),
                                 Single(&kOne), Rows(out[2], cell), Rows(d_r_u + cell, 2 * cell)}));
  STILLFLOW_RETURN_IF_ERROR(MultiplyBack(call, sizes, out[2], in(kWC), cell, out[0], false, d_hr));
  STILLFLOW_RETURN_IF_ERROR(
      Run(call, *programs.second, sizes,
          {Rows(d_hr, cell), Rows(in(kHPrev), cell), Rows(in(kR), cell), Single(&kOne), Rows(d_r_u, 2 * cell)}));
  STILLFLOW_RETURN_IF_ERROR(MultiplyBack(call, sizes, d_r_u, in(kWRu), 2 * cell, out[0], true, out[1]));
  return AddToState(call, d_hr, out[1]);
}

}  // namespace

STILLFLOW_KERNELS(nn, gru_block_cell){{"gru_block_cell", "x, h_prev, w_ru, w_c, b_ru, b_c", GruBlockCell,
                                       PrepareForward, ReleasePrograms, nullptr, nullptr},
                                      {"gru_block_cell_grad", "x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h",
                                       GruBlockCellGrad, PrepareBackward, ReleasePrograms, nullptr, nullptr},
                                      {}};

}  // namespace stillflow
