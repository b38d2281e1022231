// bitcast: the bytes of numbers as elements of another type.
//
//   in[0]   any numbers; attr type
//   out[0]  shares the bytes
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

Status Bitcast(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  const int64_t from = ElementBytes(input.dtype), to = ElementBytes(dtype);
  const auto holds_bytes = [](DType type) { return !HasCells(type) && type != DType::kResource; };
  if (from == 0 || to == 0 || !holds_bytes(input.dtype)) return UnsupportedType("Bitcast", input.dtype);
  if (!holds_bytes(dtype)) return UnsupportedType("Bitcast", dtype);
  Shape shape(input);
  if (from > to) {
    if (shape.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("Bitcast of a tensor of too many dimensions");
    shape.Add(from / to);
  } else if (from < to) {
    if (shape.rank == 0 || shape.dims[shape.rank - 1] != to / from) {
      return STILLFLOW_INVALID_ARGUMENT("Cannot bitcast from %s to %s: shape %s", Name(input.dtype), Name(dtype),
                                        ShapeText(input).c_str());
    }
    --shape.rank;
  }
  Alias(call, 0, 0, shape);
  call.out[0]->dtype = dtype;
  call.out[0]->count = shape.Count();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, bitcast){{"bitcast", "input | type", Bitcast}, {}};

}  // namespace stillflow
