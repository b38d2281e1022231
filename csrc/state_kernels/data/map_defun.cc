// map_defun: what a function makes of each row of its arguments.
//
//   in[...]  the arguments, with as many rows each; then the function's last arguments
//   out[...] the results, one row for each row of the arguments
//   attrs    output_types, output_shapes: of one call; the function; Targuments: the types of the arguments
#include "state_kernels/data/function_arguments.h"

namespace stillflow {
namespace {

// A view of row `index`.
Tensor RowOf(const Tensor& from, int64_t index) {
  Tensor row = from;
  row.rank = from.rank - 1;
  row.count = 1;
  for (int d = 0; d < row.rank; ++d) row.count *= row.dims[d] = from.dims[d + 1];
  row.data = static_cast<char*>(from.data) + index * row.count * ElementBytes(from.dtype);
  return row;
}

Status CheckArguments(const KernelCall& call, int count) {
  for (int i = 0; i < count; ++i) {
    if (call.in[i]->rank == 0)
      return STILLFLOW_INVALID_ARGUMENT("All inputs must have rank at least 1. Input %d has a rank of 0.", i);
    if (call.in[i]->dims[0] != call.in[0]->dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT(
          "All inputs must have the same dimension 0. Input %d has leading dimension %lld, while all previous inputs "
          "have leading dimension %lld",
          i, static_cast<long long>(call.in[i]->dims[0]), static_cast<long long>(call.in[0]->dims[0]));
    }
  }
  return Status();
}

Status AllocateRows(const KernelCall& call, int out, int64_t rows, const Shape& row, DType type) {
  Shape shape;
  shape.Add(rows);
  for (int d = 0; d < row.rank; ++d) shape.Add(row.dims[d]);
  return AllocateOutput(call, out, type, shape);
}

// Without rows results have the shapes that the attributes say, which have to be known then.
Status NoRows(const KernelCall& call, const TupleSpec& spec) {
  for (int i = 0; i < call.out_count; ++i) {
    Shape row;
    const PartialShape& said = spec.shapes[i];
    for (int d = 0; d < said.rank; ++d) row.Add(said.dims[d]);
    for (int d = 0; d < said.rank; ++d) {
      if (row.dims[d] < 0) return STILLFLOW_INVALID_ARGUMENT("The shape of result %d is not known without a call", i);
    }
    if (said.rank < 0) return STILLFLOW_INVALID_ARGUMENT("The shape of result %d is not known without a call", i);
    STILLFLOW_RETURN_IF_ERROR(AllocateRows(call, i, 0, row, spec.types[i]));
  }
  return Status();
}

Status MapDefun(const KernelCall& call) {
  const TupleSpec spec = OutputSpec(call);
  const auto count = static_cast<int>(call.attrs[kFirstOwn].size);
  const auto function = FunctionOf(call.attrs[kFunction]);
  STILLFLOW_RETURN_IF_ERROR(function->CheckOutputs(spec.types));
  STILLFLOW_RETURN_IF_ERROR(CheckArguments(call, count));
  const int64_t rows = call.in[0]->dims[0];
  if (rows == 0) return NoRows(call, spec);
  FunctionState state;
  std::vector<const Tensor*> in(call.in, call.in + call.in_count);
  std::vector<Tensor> views(count);
  for (int64_t row = 0; row < rows; ++row) {
    for (int i = 0; i < count; ++i) {
      views[i] = RowOf(*call.in[i], row);
      in[i] = &views[i];
    }
    Tuple results(spec.size());
    std::vector<Tensor*> out;
    for (size_t i = 0; i < results.size(); ++i) out.push_back(&results[i]);
    STILLFLOW_RETURN_IF_ERROR(function->Call(call.run, &state, in.data(), call.in_count, out.data()));
    for (int i = 0; i < call.out_count; ++i) {
      if (!spec.shapes[i].Fits(results[i])) {
        return STILLFLOW_INVALID_ARGUMENT("MapDefun: result %d has shape %s, which does not fit the output shape %s",
                                          i, ShapeText(results[i]).c_str(), TextOf(spec.shapes[i]).c_str());
      }
      if (row == 0) STILLFLOW_RETURN_IF_ERROR(AllocateRows(call, i, rows, Shape(results[i]), spec.types[i]));
      const Tensor first = RowOf(*call.out[i], 0);
      if (!(Shape(first) == Shape(results[i]))) {
        return STILLFLOW_INVALID_ARGUMENT("MapDefun: result %d has shape %s, and had %s before", i,
                                          ShapeText(results[i]).c_str(), ShapeText(first).c_str());
      }
      CopyElements(results[i], 0, first.count, call.out[i], row * first.count);
    }
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(data, map_defun){
    {"map_defun", "arguments..., captured_inputs... | output_types, output_shapes, f, Targuments", Guarded<MapDefun>},
    {}};

}  // namespace stillflow
