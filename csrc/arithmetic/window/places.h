// places.h: loops over the places of windows, over the pixels under each, and over the channels of these.
#pragma once

#include "arithmetic/math/lanes.h"
#include "arithmetic/window/axis.h"

namespace stillflow {

// A box of pixels of an image.
struct PixelBox {
  Range planes, rows, columns;

  int64_t Count() const {
    return (planes.end - planes.begin) * (rows.end - rows.begin) * (columns.end - columns.begin);
  }
};

// The pixels under a window at a place; there is no dilation.
inline PixelBox PixelsUnder(const WindowAxis* axes, int64_t plane, int64_t row, int64_t column) {
  return {axes[0].Inside(plane), axes[1].Inside(row), axes[2].Inside(column)};
}
// The places whose windows cover a pixel.
inline PixelBox PlacesOver(const WindowAxis* axes, int64_t plane, int64_t row, int64_t column) {
  return {axes[0].Covering(plane), axes[1].Covering(row), axes[2].Covering(column)};
}

// Calls body(pixel) for the pixels of a box in ascending order, counted in an image of so many rows and columns.
template <typename Body>
STILLFLOW_INLINE void ForPixels(const PixelBox& box, int64_t row_count, int64_t column_count, const Body& body) {
  for (int64_t z = box.planes.begin; z < box.planes.end; ++z) {
    for (int64_t y = box.rows.begin; y < box.rows.end; ++y) {
      const int64_t line = (z * row_count + y) * column_count;
      for (int64_t x = box.columns.begin; x < box.columns.end; ++x) body(line + x);
    }
  }
}

// Cuts `batch` images of planes x rows x columns into lines of columns, and calls body(image, plane, row, index of
// the line's first pixel) for each, several lines to a chunk of about `pixels`.
template <typename Body>
Status ForLines(const KernelCall& call, int64_t batch, int64_t planes, int64_t rows, int64_t columns, int64_t pixels,
                const Body& body) {
  const int64_t lines_at_once = std::max<int64_t>(pixels / std::max<int64_t>(columns, 1), 1);
  return ForEachChunk(call, batch * planes * rows, lines_at_once, [&](Range range) {
    for (int64_t line = range.begin; line < range.end; ++line) {
      const int64_t row = line % rows, rest = line / rows;
      body(rest / planes, rest % planes, row, line * columns);
    }
  });
}

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
  // Of elements that are widened.
  template <typename From>
  STILLFLOW_INLINE explicit Piece(const From* from) {
    if constexpr (std::is_same_v<From, T>) {
      std::memcpy(parts, from, sizeof parts);
    } else {
      T wide[kCount];
      for (int i = 0; i < kCount; ++i) wide[i] = Widen(from[i]);
      std::memcpy(parts, wide, sizeof parts);
    }
  }
  template <typename To>
  STILLFLOW_INLINE void Store(To* to) const {
    if constexpr (std::is_same_v<To, T>) {
      std::memcpy(to, parts, sizeof parts);
    } else {
      T wide[kCount];
      std::memcpy(wide, parts, sizeof parts);
      for (int i = 0; i < kCount; ++i) to[i] = Narrow<To>(wide[i]);
    }
  }
  // Each part becomes body(part, the other's).
  template <typename Other, typename Body>
  STILLFLOW_INLINE void Combine(const Other& other, const Body& body) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) parts[i] = body(parts[i], other.parts[i]);
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
