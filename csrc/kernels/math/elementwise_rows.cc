// elementwise_rows: a chain of elementwise operations over column blocks of matrices, row by row.
//
//   in[i]   matrices [rows, any width], rows [any width], columns [rows], single elements
//   out[i]  matrices [leading sizes of `shape`, widths[i]]; there are at most 64
//   attrs   program   see arithmetic/elementwise/program.h, over values [rows, width]
//           operands  for each input of the program: a tensor, what it is (Kind), the first of its columns to take
//           results   for each output of the program: a tensor, the first of the columns to set
//           copies    of such outputs to further places: output of the program, tensor, first column
//           shape     the sizes of the values, the width last
//           widths    the last size of each out[i], of which results and copies set all columns
//
// What cuts a matrix into blocks of columns, or puts blocks side by side, needs no pass over memory of its own.
#include <algorithm>
#include <cstring>

#include "arithmetic/elementwise/rows.h"

namespace stillflow {
namespace {

enum Kind : int64_t { kMatrix, kRow, kColumn, kSingle };

struct Operand {
  int64_t tensor;
  int64_t kind;
  int64_t offset;
};
struct Result {
  int64_t tensor;
  int64_t offset;
};
struct Copy {
  int64_t output;
  int64_t tensor;
  int64_t offset;
};

// A list of numbers as one of such structures.
template <typename T>
struct List {
  const T* data;
  int64_t size;
  explicit List(const Attr& attr)
      : data(static_cast<const T*>(attr.data)), size(attr.size / static_cast<int64_t>(sizeof(T) / sizeof(int64_t))) {}
};

struct Layout {
  const ElementwiseProgram& program;
  List<Operand> operands;
  List<Result> results;
  List<Copy> copies;
  List<int64_t> widths;
  Shape shape;
  int64_t rows;
  int64_t width;

  explicit Layout(const KernelCall& call)
      : program(*static_cast<const ElementwiseProgram*>(call.prepared)),
        operands(call.attrs[1]),
        results(call.attrs[2]),
        copies(call.attrs[3]),
        widths(call.attrs[5]) {
    const List<int64_t> sizes(call.attrs[4]);
    for (int64_t i = 0; i < sizes.size; ++i) shape.Add(sizes.data[i]);
    width = shape.dims[shape.rank - 1];
    rows = shape.Count(0, shape.rank - 1);
  }
  DType type(int64_t output) const { return program.output_type(static_cast<int>(output)); }
  Shape OutputShape(int64_t tensor) const {
    Shape found = shape;
    found.dims[shape.rank - 1] = widths.data[tensor];
    return found;
  }
};

int64_t WidthOf(const Tensor& tensor) { return tensor.rank == 0 ? 1 : tensor.dims[tensor.rank - 1]; }

// The shapes are known when the plan is made; this is for inputs that are not what was known of them.
Status CheckOperands(const KernelCall& call, const Layout& layout) {
  for (int64_t i = 0; i < layout.operands.size; ++i) {
    const Operand& operand = layout.operands.data[i];
    const Tensor& tensor = *call.in[operand.tensor];
    const int64_t columns = operand.offset + layout.width;
    bool fits = true;
    if (operand.kind == kMatrix) {
      fits = columns <= WidthOf(tensor) && tensor.count == layout.rows * WidthOf(tensor);
    } else if (operand.kind == kRow) {
      fits = columns <= tensor.count;
    } else {
      fits = tensor.count == (operand.kind == kColumn ? layout.rows : 1);
    }
    if (!fits) {
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes: %s vs. %s", ShapeText(tensor).c_str(),
                                        ShapeText(layout.shape).c_str());
    }
  }
  return Status();
}

// Whether an output may lie where an input of the program does: the whole of a matrix that nothing else reads.
bool MayGive(const KernelCall& call, const Layout& layout, int64_t operand, int64_t output) {
  const Operand& giver = layout.operands.data[operand];
  const Tensor& tensor = *call.in[giver.tensor];
  if (giver.kind != kMatrix || WidthOf(tensor) != layout.width) return false;
  if (ElementBytes(tensor.dtype) != ElementBytes(layout.type(output))) return false;
  for (int64_t i = 0; i < layout.operands.size; ++i) {
    if (i != operand && layout.operands.data[i].tensor == giver.tensor) return false;
  }
  return layout.program.MayOverwrite(static_cast<int>(operand), static_cast<int>(output)) &&
         IsOwned(call, static_cast<int>(giver.tensor));
}

// The input whose memory an output takes over; -1 if there is none.
int64_t GiverOf(const KernelCall& call, const Layout& layout, int64_t output, uint64_t given) {
  if (layout.widths.data[layout.results.data[output].tensor] != layout.width) return -1;
  for (int64_t i = 0; i < layout.operands.size; ++i) {
    const int64_t tensor = layout.operands.data[i].tensor;
    if ((given >> tensor & 1) == 0 && MayGive(call, layout, i, output)) return tensor;
  }
  return -1;
}

Status AllocateOutputs(const KernelCall& call, const Layout& layout) {
  uint64_t given = 0;
  uint64_t made = 0;
  for (int64_t i = 0; i < layout.results.size; ++i) {
    const int64_t out = layout.results.data[i].tensor;
    if ((made >> out & 1) != 0) continue;  // a matrix of several results
    made |= uint64_t{1} << out;
    const int64_t giver = GiverOf(call, layout, i, given);
    if (giver >= 0) given |= uint64_t{1} << giver;
    const Shape shape = layout.OutputShape(out);
    STILLFLOW_RETURN_IF_ERROR(
        giver < 0 ? AllocateOutput(call, static_cast<int>(out), layout.type(i), shape)
                  : ForwardOrAllocate(call, static_cast<int>(giver), static_cast<int>(out), layout.type(i), shape));
  }
  for (int64_t i = 0; i < layout.copies.size; ++i) {
    const Copy& copy = layout.copies.data[i];
    if ((made >> copy.tensor & 1) != 0) continue;
    made |= uint64_t{1} << copy.tensor;
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, static_cast<int>(copy.tensor), layout.type(copy.output),
                                             layout.OutputShape(copy.tensor)));
  }
  return Status();
}

RowOperand RowsOf(const KernelCall& call, const Operand& operand) {
  const Tensor& tensor = *call.in[operand.tensor];
  const int64_t bytes = ElementBytes(tensor.dtype);
  char* const data = static_cast<char*>(tensor.data);
  if (operand.kind == kMatrix) return MatrixRows(tensor, WidthOf(tensor), operand.offset);
  if (operand.kind == kRow) return {data + operand.offset * bytes, 0, bytes};
  return {data, operand.kind == kColumn ? bytes : 0, 0};
}

void CopyRow(const KernelCall& call, const Layout& layout, const Copy& copy, int64_t row) {
  const Result& result = layout.results.data[copy.output];
  const Tensor& from = *call.out[result.tensor];
  const Tensor& to = *call.out[copy.tensor];
  const int64_t bytes = ElementBytes(to.dtype);
  std::memcpy(static_cast<char*>(to.data) + (row * WidthOf(to) + copy.offset) * bytes,
              static_cast<char*>(from.data) + (row * WidthOf(from) + result.offset) * bytes, layout.width * bytes);
}

Status ElementwiseRows(const KernelCall& call) {
  const Layout layout(call);
  STILLFLOW_RETURN_IF_ERROR(CheckOperands(call, layout));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutputs(call, layout));
  RowOperand operands[ElementwiseProgram::kMostRegisters];
  for (int64_t i = 0; i < layout.operands.size; ++i) operands[i] = RowsOf(call, layout.operands.data[i]);
  for (int64_t i = 0; i < layout.results.size; ++i) {
    const Result& result = layout.results.data[i];
    const Tensor& tensor = *call.out[result.tensor];
    operands[layout.operands.size + i] = MatrixRows(tensor, WidthOf(tensor), result.offset);
  }
  return ForEachRow(call, layout.program, operands, layout.rows, layout.width, [&](int64_t row) {
    for (int64_t i = 0; i < layout.copies.size; ++i) CopyRow(call, layout, layout.copies.data[i], row);
  });
}

Status Prepare(const Attr* attrs, void** prepared) {
  ElementwiseProgram* program = nullptr;
  const auto input_count = static_cast<int>(List<Operand>(attrs[1]).size);
  Status status = ElementwiseProgram::Parse(static_cast<const char*>(attrs[0].data), input_count, &program);
  *prepared = program;
  return status;
}

void ReleasePrepared(void* prepared) { delete static_cast<ElementwiseProgram*>(prepared); }

}  // namespace

STILLFLOW_KERNELS(math, elementwise_rows){
    {"elementwise_rows", "inputs... | program, operands, results, copies, shape, widths", ElementwiseRows, Prepare,
     ReleasePrepared, nullptr, nullptr},
    {}};

}  // namespace stillflow
