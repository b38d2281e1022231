#include "arithmetic/elementwise/tile.h"

#include <algorithm>

#include "arithmetic/math/halves.h"

namespace stillflow {
namespace {

constexpr int64_t kStagedElements = 1024;

template <typename T>
const float* WidenAll(const void* from, int64_t count, float* to) {
  WidenHalves(static_cast<const T*>(from), count, to);
  return to;
}

template <typename T>
void NarrowAll(const float* from, int64_t count, T* to) {
  if constexpr (std::is_same_v<T, Half>) {
    NarrowToHalves(from, count, to);
  } else {
    ForElements<kStep<T, float>>(
        count, [=](int64_t i) __attribute__((always_inline)) { to[i] = Narrow<T>(from[i]); });
  }
}

template <typename T>
void RunOn(const TileOp& op, const TileCall& call) {
  alignas(64) float staged[4][kStagedElements];
  const bool is_rounded = op.result == op.type;
  const auto out_bytes = ElementBytes(op.result);
  TileCall part = call;
  for (int64_t begin = 0; begin < call.count; begin += kStagedElements) {
    part.count = std::min(kStagedElements, call.count - begin);
    for (int k = 0; k < op.arity; ++k) {
      const T* x = static_cast<const T*>(call.in[k]);
      if ((call.scalars >> k & 1) == 0) {
        part.in[k] = WidenAll<T>(x + begin, part.count, staged[k]);
      } else if (begin == 0) {
        part.in[k] = WidenAll<T>(x, 1, staged[k]);
      }
    }
    part.out = is_rounded ? static_cast<void*>(staged[3]) : static_cast<char*>(call.out) + begin * out_bytes;
    op.run(part);
    if (!is_rounded) continue;
    NarrowAll(staged[3], part.count, static_cast<T*>(call.out) + begin);
  }
}

}  // namespace

void RunWidened(const TileOp& op, const TileCall& call) {
  op.type == DType::kHalf ? RunOn<Half>(op, call) : RunOn<BFloat16>(op, call);
}

}  // namespace stillflow
