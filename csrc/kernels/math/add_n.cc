// add_n: the sum of tensors of one shape.
//
//   in[i]  numbers of one type and shape, or variants whose kind of value has a sum
//   out[0] of that shape: (in[0] + in[1]) + in[2] ..., each sum rounded to the type
#include <algorithm>
#include <utility>

#include "arithmetic/elementwise/tile.h"
#include "memory/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

// So few that a tile's sums stay in the first-level cache until all inputs have been added.
constexpr int64_t kTileElements = 1024;
constexpr int64_t kWidestBytes = 16;

class Adder {
 public:
  Adder(const KernelCall& call, const TileOp& add) : call_(call), add_(add), bytes_(ElementBytes(add.type)) {}

  void Sum(Range range) const {
    for (int64_t begin = range.begin; begin < range.end; begin += kTileElements) {
      SumTile({begin, std::min(begin + kTileElements, range.end)}, At(*call_.out[0], begin));
    }
  }

  // Past the caches.
  void Stream(Range range) const {
    alignas(64) char sums[kTileElements * kWidestBytes];
    ReadAhead ahead;
    for (int i = 0; i < call_.in_count; ++i) ahead.Add(At(*call_.in[i], 2 * kTileElements), 64);
    for (int64_t begin = range.begin; begin < range.end; begin += kTileElements) {
      const int64_t end = std::min(begin + kTileElements, range.end);
      SumTile({begin, end}, sums);
      StreamBytes(MutableData<char>(*call_.out[0]), sums, (end - begin) * bytes_, begin * bytes_, ahead);
    }
    EndStream();
  }

 private:
  char* At(const Tensor& tensor, int64_t i) const { return static_cast<char*>(tensor.data) + i * bytes_; }

  // `to` may be the first input's place.
  void SumTile(Range range, void* to) const {
    TileCall tile = {};
    tile.count = range.end - range.begin;
    tile.in[0] = At(*call_.in[0], range.begin);
    tile.out = to;
    if (call_.in_count == 1 && to != tile.in[0]) std::memcpy(to, tile.in[0], tile.count * bytes_);
    for (int i = 1; i < call_.in_count; ++i, tile.in[0] = to) {
      tile.in[1] = At(*call_.in[i], range.begin);
      RunTileOp(add_, tile);
    }
  }

  const KernelCall& call_;
  const TileOp& add_;
  const int64_t bytes_;
};

// The sum of element `i` of all inputs, with a reference.
Status AddVariants(const KernelCall& call, int64_t i, Variant** sum) {
  *sum = Data<Variant*>(*call.in[0])[i];
  if (*sum != nullptr) (*sum)->references.fetch_add(1, std::memory_order_relaxed);
  for (int input = 1; input < call.in_count; ++input) {
    const Variant* const next = Data<Variant*>(*call.in[input])[i];
    if (*sum == nullptr || next == nullptr || (*sum)->add == nullptr || (*sum)->add != next->add) {
      return Error(Code::kInternal, "No unary variant binary_op function found for binary variant op enum: ADD");
    }
    Variant* const before = *sum;
    Status status = before->add(*call.services, *before, *next, sum);
    if (!status.ok()) *sum = before;
    if (status.ok() && before->references.fetch_sub(1, std::memory_order_acq_rel) == 1) before->destroy(before);
    STILLFLOW_RETURN_IF_ERROR(std::move(status));
  }
  return Status();
}

Status AddN(const KernelCall& call) {
  const Shape shape(*call.in[0]);
  for (int i = 1; i < call.in_count; ++i) {
    if (!(Shape(*call.in[i]) == shape)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Inputs to operation of type AddN must have the same size and shape.  Input 0: %s != input %d: %s",
          ShapeText(shape).c_str(), i, ShapeText(*call.in[i]).c_str());
    }
  }
  const DType type = call.in[0]->dtype;
  if (type == DType::kVariant) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
    for (int64_t i = 0; i < call.out[0]->count; ++i) {
      STILLFLOW_RETURN_IF_ERROR(AddVariants(call, i, &MutableData<Variant*>(*call.out[0])[i]));
    }
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, type, shape));
  const TileOp* const add = FindTileOp("add", type, type);
  if (add == nullptr) return UnsupportedType("AddN", type);
  const Adder adder(call, *add);
  const bool is_streamed = IsStreamed(*call.out[0]) && call.in_count > 1 && call.out[0]->data != call.in[0]->data;
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk,
                      [&](Range range) { is_streamed ? adder.Stream(range) : adder.Sum(range); });
}

}  // namespace

STILLFLOW_KERNELS(math, add_n){{"add_n", "inputs...", AddN}, {}};

}  // namespace stillflow
