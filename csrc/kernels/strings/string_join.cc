// string_join: strings put together, element by element; scalars go with every element of the others.
//
//   in[0...] string arrays of one shape, or scalars; attr separator; out[0] strings of that shape
#include "kernels/strings/tensor_text.h"

namespace stillflow {
namespace {

Status StringJoin(const KernelCall& call) {
  const Tensor* shaped = call.in[0];
  for (int i = 1; i < call.in_count; ++i) {
    const Tensor* other = call.in[i];
    if (other->rank == 0) continue;
    if (shaped->rank == 0) {
      shaped = other;
    } else if (!(Shape(*shaped) == Shape(*other))) {
      return STILLFLOW_INVALID_ARGUMENT("Input shapes do not match: %s vs. %s", ShapeText(*shaped).c_str(),
                                        ShapeText(*other).c_str());
    }
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape(*shaped)));
  const Attr& separator = call.attrs[0];
  for (int64_t at = 0; at < call.out[0]->count; ++at) {
    Text text;
    for (int i = 0; i < call.in_count; ++i) {
      if (i > 0) text.Append(static_cast<const char*>(separator.data), separator.size);
      const StringCell* cell = Data<StringCell*>(*call.in[i])[call.in[i]->rank == 0 ? 0 : at];
      if (cell != nullptr) text.Append(cell->bytes, cell->size);
    }
    if (!SetString(call, call.out[0], at, text.bytes(), text.size())) return OutOfScratch();
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(strings, string_join){{"string_join", "inputs... | separator", StringJoin}, {}};

}  // namespace stillflow
