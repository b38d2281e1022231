// deinterleave.h: the columns of a matrix of few columns, each written contiguously.
//
// Pieces of 16 bytes are the rows of small squares that are transposed in registers, as many squares side by side as
// a register holds such pieces.
#pragma once

#include <algorithm>

#include "arithmetic/math/lanes.h"

namespace stillflow {

constexpr int kPartBytes = 16;

// Of whatever type the element is: floats are moved as words.
template <typename T>
STILLFLOW_INLINE void CopyElement(const T* from, T* to) {
  std::memcpy(to, from, sizeof(T));
}

// As many parts of kBytes, 16 or 32, as fill a register: those at `from`, `from` + stride, ... side by side.
template <int kBytes>
STILLFLOW_INLINE Register<uint8_t> LoadParts(const char* from, int64_t stride) {
  const auto part = [=](int i) __attribute__((always_inline)) {
    typename RegisterOf<uint64_t, kBytes>::type loaded;
    std::memcpy(&loaded, from + i * stride, kBytes);
    return loaded;
  };
  if constexpr (kBytes == kRegisterBytes) {
    return (Register<uint8_t>)part(0);
  } else {
#if defined(__AVX512F__)
    if constexpr (kBytes == 32) {
      const __m512i parts = _mm512_castsi256_si512((__m256i)part(0));
      return (Register<uint8_t>)_mm512_inserti64x4(parts, (__m256i)part(1), 1);
    } else {
      __m512i parts = _mm512_castsi128_si512((__m128i)part(0));
      parts = _mm512_inserti32x4(parts, (__m128i)part(1), 1);
      parts = _mm512_inserti32x4(parts, (__m128i)part(2), 2);
      return (Register<uint8_t>)_mm512_inserti32x4(parts, (__m128i)part(3), 3);
    }
#elif defined(__AVX2__)
    return (Register<uint8_t>)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)part(0)), (__m128i)part(1), 1);
#endif
  }
}

// The lower (half 0) or upper halves of each part of a and b, lane by lane in turn.
template <int kHalf, typename Vector, int... kLane>
STILLFLOW_INLINE Vector InterleaveParts(Vector a, Vector b, std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = sizeof...(kLane);
  constexpr int kPart = kLanes * kPartBytes / kRegisterBytes;
  return __builtin_shuffle(
      a, b, Vector{(kLane / kPart * kPart + kLane % kPart / 2 + kHalf * kPart / 2 + kLane % 2 * kLanes)...});
}

// to[j * to_stride + i] = from[i * from_stride + j] for as many i as a register has lanes, and for j from `begin` to
// `end`, of which a part has as many or more.
template <typename T>
STILLFLOW_INLINE void TransposeParts(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t begin,
                                     int64_t end) {
  using Vector = Register<WordOf<T>>;
  constexpr int kPart = kPartBytes / static_cast<int>(sizeof(T));
  using Lanes = std::make_integer_sequence<int, kRegisterBytes / static_cast<int>(sizeof(T))>;
  Vector rows[kPart];
  Vector next[kPart];
  for (int i = 0; i < kPart; ++i) {
    const auto* const row = reinterpret_cast<const char*>(from + i * from_stride);
    rows[i] = (Vector)LoadParts<kPartBytes>(row, kPart * from_stride * static_cast<int64_t>(sizeof(T)));
  }
  // Each round interleaves rows i and i + n/2: a perfect shuffle of the whole square, log2(n) times.
  for (int round = 1; round < kPart; round *= 2) {
    for (int i = 0; i < kPart / 2; ++i) {
      next[2 * i] = InterleaveParts<0>(rows[i], rows[i + kPart / 2], Lanes{});
      next[2 * i + 1] = InterleaveParts<1>(rows[i], rows[i + kPart / 2], Lanes{});
    }
    for (int i = 0; i < kPart; ++i) rows[i] = next[i];
  }
  for (int j = 0; j < kPart; ++j) {
    if (begin <= j && j < end) std::memcpy(to + j * to_stride, &rows[j], kRegisterBytes);
  }
}

// to[j * to_stride + i] = from[i * columns + j] for i < rows, j < columns. `behind` elements behind the last row may
// be read.
template <typename T>
__attribute__((noinline)) void Deinterleave(const T* from, int64_t rows, int64_t columns, T* to, int64_t to_stride,
                                            int64_t behind = 0) {
  constexpr int64_t kPart = kPartBytes / static_cast<int64_t>(sizeof(T));
  constexpr int64_t kStep = kRegisterBytes / static_cast<int64_t>(sizeof(T));
  const int64_t missing = kPart - columns - behind;  // elements that the last row's part goes too far
  const int64_t whole = missing > 0 ? rows - (missing + columns - 1) / columns : rows;
  int64_t i = 0;
  while (whole >= kStep && i < whole) {
    i = std::min(i, whole - kStep);  // the last rows are written twice
    const T* const row = from + i * columns;
    for (int64_t j = 0; j < columns; j += kPart) {
      const int64_t first = columns <= kPart ? 0 : std::min(j, columns - kPart);
      TransposeParts(row + first, columns, to + first * to_stride + i, to_stride, j - first, columns - first);
    }
    i += kStep;
  }
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t k = i; k < rows; ++k) CopyElement(from + k * columns + j, to + j * to_stride + k);
  }
}

}  // namespace stillflow
