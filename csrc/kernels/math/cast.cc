// cast: what elementwise programs do not convert.
//
//   in[0]   x  any type
//   out[0]  y  the same shape, of the type that is attribute 0
//
// Quantized numbers are converted as the integers that they are stored as. Where attribute 1 is true, what a float of
// fewer bits cannot hold is cut off instead of rounded. Each chunk writes its own elements.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "arithmetic/elementwise/tile.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 1024;
constexpr int64_t kMostElementBytes = 16;

DType StoredType(DType type) {
  switch (type) {
    case DType::kQInt8:
      return DType::kInt8;
    case DType::kQUInt8:
      return DType::kUInt8;
    case DType::kQInt16:
      return DType::kInt16;
    case DType::kQUInt16:
      return DType::kUInt16;
    case DType::kQInt32:
      return DType::kInt32;
    default:
      return type;
  }
}

// Bits of the mantissa, the hidden one included; 0 of types that are no floats.
int MantissaBits(DType type) {
  switch (PartType(type)) {
    case DType::kDouble:
      return 53;
    case DType::kFloat:
      return 24;
    case DType::kHalf:
      return 11;
    case DType::kBFloat16:
      return 8;
    default:
      return 0;
  }
}

// How many bits a conversion that truncates clears before it rounds: TensorFlow truncates to bfloat16 from floats
// alone.
int ClearedBits(DType from, DType to) {
  const bool is_known =
      MantissaBits(from) >= 24 && MantissaBits(to) > 0 && (to != DType::kBFloat16 || from == DType::kFloat);
  return is_known ? std::max(MantissaBits(from) - MantissaBits(to), 0) : 0;
}

// Clears the lowest bits of all numbers; NaN keeps them, or it might become infinity.
template <typename Float, typename Word>
void ClearBits(Float* numbers, int64_t count, int bits) {
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(numbers[i])) continue;
    Word word;
    std::memcpy(&word, &numbers[i], sizeof word);
    word &= ~Word{0} << bits;
    std::memcpy(&numbers[i], &word, sizeof word);
  }
}

// Conversions from one type to another, one after the other: between real and complex types of different precision
// through the type of the complex number's parts.
struct Conversions {
  const TileOp* steps[2] = {};

  bool Find(DType from, DType to) {
    steps[0] = FindTileOp("cast", from, to);
    if (steps[0] != nullptr || IsComplex(from) == IsComplex(to)) return steps[0] != nullptr;
    const DType part = PartType(IsComplex(from) ? from : to);
    steps[0] = FindTileOp("cast", from, part);
    steps[1] = FindTileOp("cast", part, to);
    return steps[0] != nullptr && steps[1] != nullptr;
  }
};

Status Cast(const KernelCall& call) {
  const Tensor& x = *call.in[0];
  const auto result = static_cast<DType>(call.attrs[0].i);
  const DType from = StoredType(x.dtype);
  const DType to = StoredType(result);
  Conversions conversions;
  if (!conversions.Find(from, to)) {
    return Error(Code::kUnimplemented, "Cast %s to %s is not supported", Name(x.dtype), Name(result));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, result, Shape(x)));
  const int cleared_bits = call.attrs[1].i != 0 ? ClearedBits(from, to) : 0;
  const int64_t from_bytes = ElementBytes(from);
  const int64_t to_bytes = ElementBytes(to);
  return ForEachChunk(call, x.count, kElementsPerChunk, [&](Range range) {
    alignas(64) char cleared[kElementsPerChunk * kMostElementBytes];
    alignas(64) char between[kElementsPerChunk * kMostElementBytes];
    TileCall tile = {};
    tile.count = range.end - range.begin;
    tile.in[0] = static_cast<const char*>(x.data) + range.begin * from_bytes;
    if (cleared_bits > 0) {
      std::memcpy(cleared, tile.in[0], tile.count * from_bytes);
      const int64_t parts = tile.count * PartCount(from);
      if (PartType(from) == DType::kDouble) {
        ClearBits<double, uint64_t>(reinterpret_cast<double*>(cleared), parts, cleared_bits);
      } else {
        ClearBits<float, uint32_t>(reinterpret_cast<float*>(cleared), parts, cleared_bits);
      }
      tile.in[0] = cleared;
    }
    tile.out = static_cast<char*>(call.out[0]->data) + range.begin * to_bytes;
    if (conversions.steps[1] != nullptr) {
      void* const last = tile.out;
      tile.out = between;
      RunTileOp(*conversions.steps[0], tile);
      tile.in[0] = between;
      tile.out = last;
    }
    RunTileOp(*(conversions.steps[1] != nullptr ? conversions.steps[1] : conversions.steps[0]), tile);
  });
}

}  // namespace

STILLFLOW_KERNELS(math, cast){{"cast", "x | DstT, Truncate", Cast}, {}};

}  // namespace stillflow
