#include "arithmetic/math/worked_type.h"

#include "arithmetic/math/halves.h"

namespace stillflow {
namespace {

template <typename T>
void Widened(const void* from, int64_t count, void* to) {
  if constexpr (kIsFloating<T>) {
    WidenHalves(static_cast<const T*>(from), count, static_cast<float*>(to));
  } else {
    for (int64_t i = 0; i < count; ++i) static_cast<int32_t*>(to)[i] = static_cast<const T*>(from)[i];
  }
}

template <typename T>
void Narrowed(const void* from, int64_t count, void* to) {
  if constexpr (std::is_same_v<T, Half>) {
    NarrowToHalves(static_cast<const float*>(from), count, static_cast<Half*>(to));
  } else {
    using W = std::conditional_t<kIsFloating<T>, float, int32_t>;
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(to)[i] = Narrow<T>(static_cast<const W*>(from)[i]);
  }
}

// With the bits of `mask` turned around.
template <typename Word, Word mask>
void Flipped(const void* from, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i) static_cast<Word*>(to)[i] = static_cast<const Word*>(from)[i] ^ mask;
}

template <typename T>
void Reversed(const void* from, int64_t count, void* to) {
  if constexpr (kIsFloating<T>) {
    using W = Wide<T>;
    for (int64_t i = 0; i < count; ++i) static_cast<W*>(to)[i] = -Widen(static_cast<const T*>(from)[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) static_cast<int32_t*>(to)[i] = ~int32_t{static_cast<const T*>(from)[i]};
  }
}

constexpr uint32_t kHighest32 = uint32_t{1} << 31;
constexpr uint64_t kHighest64 = uint64_t{1} << 63;

}  // namespace

WorkedType OrderedAs(DType type) {
  switch (type) {
    case DType::kUInt32:
      return {DType::kInt32, Flipped<uint32_t, kHighest32>, nullptr};
    case DType::kUInt64:
      return {DType::kInt64, Flipped<uint64_t, kHighest64>, nullptr};
    case DType::kBool:
      return {DType::kInvalid, nullptr, nullptr};
    default:
      return CountedAs(type);
  }
}

WorkedType ReversedAs(DType type) {
  switch (type) {
    case DType::kFloat:
      return {type, Reversed<float>, nullptr};
    case DType::kDouble:
      return {type, Reversed<double>, nullptr};
    case DType::kHalf:
      return {DType::kFloat, Reversed<Half>, nullptr};
    case DType::kBFloat16:
      return {DType::kFloat, Reversed<BFloat16>, nullptr};
    case DType::kInt32:
      return {type, Flipped<uint32_t, ~uint32_t{0}>, nullptr};
    case DType::kUInt32:
      return {DType::kInt32, Flipped<uint32_t, ~kHighest32>, nullptr};
    case DType::kInt64:
      return {type, Flipped<uint64_t, ~uint64_t{0}>, nullptr};
    case DType::kUInt64:
      return {DType::kInt64, Flipped<uint64_t, ~kHighest64>, nullptr};
    case DType::kInt16:
      return {DType::kInt32, Reversed<int16_t>, nullptr};
    case DType::kUInt16:
      return {DType::kInt32, Reversed<uint16_t>, nullptr};
    case DType::kInt8:
      return {DType::kInt32, Reversed<int8_t>, nullptr};
    case DType::kUInt8:
      return {DType::kInt32, Reversed<uint8_t>, nullptr};
    default:
      return {DType::kInvalid, nullptr, nullptr};
  }
}

WorkedType CountedAs(DType type) {
  switch (type) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kInt32:
    case DType::kInt64:
      return {type, nullptr, nullptr};
    case DType::kUInt32:
      return {DType::kInt32, nullptr, nullptr};
    case DType::kUInt64:
      return {DType::kInt64, nullptr, nullptr};
    case DType::kHalf:
      return {DType::kFloat, Widened<Half>, Narrowed<Half>};
    case DType::kBFloat16:
      return {DType::kFloat, Widened<BFloat16>, Narrowed<BFloat16>};
    case DType::kInt16:
      return {DType::kInt32, Widened<int16_t>, Narrowed<int16_t>};
    case DType::kUInt16:
      return {DType::kInt32, Widened<uint16_t>, Narrowed<uint16_t>};
    case DType::kInt8:
      return {DType::kInt32, Widened<int8_t>, Narrowed<int8_t>};
    case DType::kUInt8:
    case DType::kBool:
      return {DType::kInt32, Widened<uint8_t>, Narrowed<uint8_t>};
    default:
      return {DType::kInvalid, nullptr, nullptr};
  }
}

}  // namespace stillflow
