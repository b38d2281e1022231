// taken.h: which element under a window a maximum is.
//
// Elements are passed over that are not larger than those before them: the first of equal ones is taken, and NaN only
// if it is the first of all.
#pragma once

#include "arithmetic/math/pieces.h"
#include "arithmetic/window/places.h"

namespace stillflow {

// Numbers of pixels, as wide as what is compared, so that a choice among vectors is a blend.
template <typename C>
using PixelNumber = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;

// The largest of kCount channels, each, and the pixel that it is from.
template <typename C, int kCount>
struct Taken {
  Piece<C, kCount> largest;
  Piece<PixelNumber<C>, kCount> pixel;
};

// Of the pixels of a box of an image, which is not empty, channels from `c` on.
template <typename C, int kCount, typename T>
STILLFLOW_INLINE Taken<C, kCount> FindTaken(const PixelBox& box, const WindowAxis* axes, int64_t channels,
                                            const T* image, int64_t c) {
  using P = Piece<C, kCount>;
  using Numbers = Piece<PixelNumber<C>, kCount>;
  const int64_t start = (box.planes.begin * axes[1].input + box.rows.begin) * axes[2].input + box.columns.begin;
  Taken<C, kCount> taken = {P(image + start * channels + c), Numbers(static_cast<PixelNumber<C>>(start))};
  ForPixels(box, axes[1].input, axes[2].input, [&](int64_t pixel) {
    const P next(image + pixel * channels + c);
    const Numbers number(static_cast<PixelNumber<C>>(pixel));
#pragma GCC unroll 4
    for (int i = 0; i < P::kParts; ++i) {
      const auto is_larger = next.parts[i] > taken.largest.parts[i];
      taken.largest.parts[i] = is_larger ? next.parts[i] : taken.largest.parts[i];
      taken.pixel.parts[i] = is_larger ? number.parts[i] : taken.pixel.parts[i];
    }
  });
  return taken;
}

// ForChannels where registers of T can be compared with numbers of pixels; single channels otherwise.
template <typename T, typename Body>
STILLFLOW_INLINE void ForComparedChannels(int64_t channels, const Body& body) {
  if constexpr (kIsFloating<T>) {
    ForChannels<Computed<T>>(channels, body);
  } else {
    for (int64_t c = 0; c < channels; ++c) body(c, std::integral_constant<int, 1>{});
  }
}

}  // namespace stillflow
