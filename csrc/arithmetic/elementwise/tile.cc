#include "arithmetic/elementwise/tile.h"

#include <algorithm>

#include "arithmetic/math/worked_type.h"

namespace stillflow {

void RunWidened(const TileOp& op, const TileCall& call) {
  constexpr int64_t kStagedElements = 1024;
  constexpr int64_t kWideBytes = 4;  // of a float, or an int32
  alignas(64) char staged[4][kStagedElements * kWideBytes];
  const WorkedType worked = CountedAs(op.type);
  const bool is_narrowed = op.result == op.type;
  const int64_t in_bytes = ElementBytes(op.type);
  const int64_t out_bytes = ElementBytes(op.result);
  TileCall part = call;
  for (int64_t begin = 0; begin < call.count; begin += kStagedElements) {
    part.count = std::min(kStagedElements, call.count - begin);
    for (int k = 0; k < op.arity; ++k) {
      const bool is_scalar = (call.scalars >> k & 1) != 0;
      if (is_scalar && begin > 0) continue;
      const char* const from = static_cast<const char*>(call.in[k]) + (is_scalar ? 0 : begin * in_bytes);
      worked.convert(from, is_scalar ? 1 : part.count, staged[k]);
      part.in[k] = staged[k];
    }
    char* const to = static_cast<char*>(call.out) + begin * out_bytes;
    part.out = is_narrowed ? staged[3] : to;
    op.run(part);
    if (is_narrowed) worked.restore(staged[3], part.count, to);
  }
}

}  // namespace stillflow
