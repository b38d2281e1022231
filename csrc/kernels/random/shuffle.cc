// random_shuffle: a random permutation along the first dimension.
//
//   in[0]  value   of any type and shape
//   out[0] output  of the same; a scalar, or what has at most one part or element, as it is
//   state  the node's stream, of which a run takes a word per part
#include <algorithm>

#include "arithmetic/random/stream.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 64 << 10;

// Puts 0 .. count - 1 into random order.
void Shuffle(sf_philox base, int64_t count, int64_t* order) {
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  WordReader words(base);
  for (int64_t i = 0; i + 1 < count; ++i) {
    std::swap(order[i], order[i + static_cast<int64_t>(words.Next() % static_cast<uint64_t>(count - i))]);
  }
}

// Copies parts of a fixed size where there is one: it makes a copy an instruction.
template <int64_t kBytes>
Status CopyParts(const KernelCall& call, const int64_t* order, int64_t part_bytes) {
  const int64_t bytes = kBytes > 0 ? kBytes : part_bytes;
  const char* const from = Data<char>(*call.in[0]);
  char* const to = MutableData<char>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->dims[0], std::max<int64_t>(kBytesPerChunk / bytes, 1), [&](Range parts) {
    for (int64_t i = parts.begin; i < parts.end; ++i) {
      std::memcpy(to + i * bytes, from + order[i] * bytes, kBytes > 0 ? kBytes : bytes);
    }
  });
}

Status RandomShuffle(const KernelCall& call) {
  const Tensor& value = *call.in[0];
  const int64_t parts = value.rank == 0 ? 1 : value.dims[0];
  if (parts <= 1 || value.count <= 1) {
    Alias(call, 0, 0, Shape(value));
    return Status();
  }
  const Scratch order(call, parts * static_cast<int64_t>(sizeof(int64_t)));
  if (!order.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, value.dtype, Shape(value)));
  Shuffle(TakeBlocks(call, (parts - 1 + 3) / 4, 1), parts, order.data<int64_t>());
  const int64_t part_bytes = value.count / parts * ElementBytes(value.dtype);
  Status status;
  if (part_bytes == 4) {
    status = CopyParts<4>(call, order.data<int64_t>(), part_bytes);
  } else if (part_bytes == 8) {
    status = CopyParts<8>(call, order.data<int64_t>(), part_bytes);
  } else {
    status = CopyParts<0>(call, order.data<int64_t>(), part_bytes);
  }
  if (status.ok()) {
    RetainStrings(*call.out[0]);
  } else if (HasCells(value.dtype)) {
    std::memset(call.out[0]->data, 0, value.count * sizeof(StringCell*));  // cells that are not its own
  }
  return status;
}

}  // namespace

STILLFLOW_KERNELS(random, shuffle){{"random_shuffle", "value", RandomShuffle}, {}};

}  // namespace stillflow
