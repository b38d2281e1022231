// equal, string_add: what elementwise programs leave to plain loops.
//
//   in[0], in[1]  tensors of one type that broadcast
//   out[0]        equal: bool, whether elements are equal (attr 0: are not); of shapes that do not broadcast,
//                 a scalar false (true) if attr 1 is false, else an error. string_add: their concatenations.
#include <cstring>
#include <string>

#include "arithmetic/elementwise/tile.h"
#include "kernel_api/broadcast.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 2048;

Status CompareStrings(const KernelCall& call, const Shape& shape, bool is_negated) {
  BroadcastWalk at_x(Shape(*call.in[0]), shape, 0);
  BroadcastWalk at_y(Shape(*call.in[1]), shape, 0);
  const auto* x = Data<StringCell*>(*call.in[0]);
  const auto* y = Data<StringCell*>(*call.in[1]);
  bool* z = MutableData<bool>(*call.out[0]);
  for (int64_t i = 0; i < call.out[0]->count; ++i, at_x.Next(), at_y.Next()) {
    z[i] = AreEqual(x[at_x.index()], y[at_y.index()]) != is_negated;
  }
  return Status();
}

// Elements `range` of a tensor that is broadcast to a shape.
template <typename Word>
void Expand(const Tensor& tensor, const Shape& shape, Range range, void* to) {
  BroadcastWalk at(Shape(tensor), shape, range.begin);
  for (int64_t i = 0; i < range.end - range.begin; ++i, at.Next()) {
    static_cast<Word*>(to)[i] = Data<Word>(tensor)[at.index()];
  }
}

Status CompareNumbers(const KernelCall& call, const Shape& shape, const TileOp& equal) {
  const int64_t bytes = ElementBytes(equal.type);
  const auto expand = bytes == 16  ? Expand<Complex128>
                      : bytes == 8 ? Expand<uint64_t>
                      : bytes == 4 ? Expand<uint32_t>
                      : bytes == 2 ? Expand<uint16_t>
                                   : Expand<uint8_t>;
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk, [&](Range range) {
    alignas(64) char operands[2][kElementsPerChunk * 16];
    TileCall tile = {};
    tile.count = range.end - range.begin;
    for (int k = 0; k < 2; ++k) {
      expand(*call.in[k], shape, range, operands[k]);
      tile.in[k] = operands[k];
    }
    tile.out = MutableData<bool>(*call.out[0]) + range.begin;
    RunTileOp(equal, tile);
  });
}

Status Equal(const KernelCall& call) {
  const bool is_negated = call.attrs[0].i != 0;
  const bool must_broadcast = call.attrs[1].i != 0;
  Shape shape;
  Status status = BroadcastTwo(Shape(*call.in[0]), Shape(*call.in[1]), &shape);
  if (!status.ok()) {
    if (must_broadcast) return status;
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape()));
    *MutableData<bool>(*call.out[0]) = is_negated;
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, shape));
  const DType type = call.in[0]->dtype;
  if (type == DType::kString) return CompareStrings(call, shape, is_negated);
  const TileOp* const equal = FindTileOp(is_negated ? "not_equal" : "equal", type, DType::kBool);
  return equal == nullptr ? UnsupportedType("Equal", type) : CompareNumbers(call, shape, *equal);
}

Status StringAdd(const KernelCall& call) {
  Shape shape;
  const Shape x_shape(*call.in[0]);
  const Shape y_shape(*call.in[1]);
  STILLFLOW_RETURN_IF_ERROR(BroadcastTwo(x_shape, y_shape, &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  const auto* x = Data<StringCell*>(*call.in[0]);
  const auto* y = Data<StringCell*>(*call.in[1]);
  BroadcastWalk at_x(x_shape, shape, 0);
  BroadcastWalk at_y(y_shape, shape, 0);
  std::string sum;
  for (int64_t i = 0; i < call.out[0]->count; ++i, at_x.Next(), at_y.Next()) {
    sum.clear();
    for (const StringCell* cell : {x[at_x.index()], y[at_y.index()]}) {
      if (cell != nullptr) sum.append(cell->bytes, cell->size);
    }
    if (!sum.empty() && !SetString(call, call.out[0], i, sum.data(), static_cast<int64_t>(sum.size()))) {
      return OutOfMemory(DType::kString, shape);
    }
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(math, equal){
    {"equal", "x, y | is_negated, incompatible_shape_error", Equal}, {"string_add", "x, y", StringAdd}, {}};

}  // namespace stillflow
