// pieces.h: rows cut into register-sized pieces, so that accumulators of sums over many rows stay in registers.
#pragma once

#include "arithmetic/math/lanes.h"
#include "kernel_api/kernel.h"

namespace stillflow {

// Calls body(first channel, count) for channels in pieces: as many as fill 4 registers, or one, or single ones. The
// count is a constant, so that sums of a piece stay in registers.
template <typename T, typename Body>
STILLFLOW_INLINE void ForChannels(int64_t channels, const Body& body) {
  constexpr int kLanes = kRegisterBytes / static_cast<int>(sizeof(T));
  int64_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) body(c, std::integral_constant<int, 4 * kLanes>{});
  for (; c + kLanes <= channels; c += kLanes) body(c, std::integral_constant<int, kLanes>{});
  for (; c < channels; ++c) body(c, std::integral_constant<int, 1>{});
}

// Some elements of one type, in registers if they are many. T: what is computed with.
template <typename T, int kCount>
struct Piece {
  static constexpr int kLanes = kRegisterBytes / static_cast<int>(sizeof(T));
  static constexpr bool kIsSingle = kCount < kLanes;
  static constexpr int kParts = kIsSingle ? 1 : kCount / kLanes;
  using Part = std::conditional_t<kIsSingle, T, Register<T>>;

  Part parts[kParts];

  STILLFLOW_INLINE Piece() : Piece(T{}) {}
  STILLFLOW_INLINE explicit Piece(T value) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) parts[i] = value - Part{};
  }
  // Of elements that are widened. Parts are loaded and stored one by one: a copy of all of them at once goes through
  // memory, in moves that the loads behind it have to wait for.
  template <typename From>
  STILLFLOW_INLINE explicit Piece(const From* from) {
    if constexpr (std::is_same_v<From, T>) {
      Load(from);
    } else {
      T wide[kCount];
      for (int i = 0; i < kCount; ++i) wide[i] = Widen(from[i]);
      Load(wide);
    }
  }
  template <typename To>
  STILLFLOW_INLINE void Store(To* to) const {
    if constexpr (std::is_same_v<To, T>) {
      StoreParts(to);
    } else {
      T wide[kCount];
      StoreParts(wide);
      for (int i = 0; i < kCount; ++i) to[i] = Narrow<To>(wide[i]);
    }
  }
  // Each part becomes body(part, the other's).
  template <typename Other, typename Body>
  STILLFLOW_INLINE void Combine(const Other& other, const Body& body) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) parts[i] = body(parts[i], other.parts[i]);
  }

 private:
  static constexpr int kPartSize = kIsSingle ? 1 : kLanes;

  STILLFLOW_INLINE void Load(const T* from) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) std::memcpy(&parts[i], from + i * kPartSize, sizeof(Part));
  }
  STILLFLOW_INLINE void StoreParts(T* to) const {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) std::memcpy(to + i * kPartSize, &parts[i], sizeof(Part));
  }
};

// The type that elements of a type are computed in: integers in their own.
template <typename T, bool kIsFloat = kIsFloating<T>>
struct ComputedIn {
  using type = T;
};
template <typename T>
struct ComputedIn<T, true> {
  using type = Wide<T>;
};
template <typename T>
using Computed = typename ComputedIn<T>::type;

}  // namespace stillflow
