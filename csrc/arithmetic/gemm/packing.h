// packing.h: copies of an operand in the order in which tiles read it.
//
// A packed strip holds `width` rows of a, or columns of b, side by side: element (i, l) of the strip, l counting
// along k, lies at to[l * to_width + i]. Where to_width is a whole number of vectors, the rest of the last used
// vector is zero.
#pragma once

#include "arithmetic/gemm/vector.h"

namespace stillflow::gemm {

// Element (i, l) of the strip is from[i * stride + l * k_stride].
template <typename T>
struct Strip {
  const T* from;
  int64_t stride;
  int64_t k_stride;
  int64_t width;
  int64_t k;
};

// Along the strip's width the elements are contiguous. Packs every strip of `to_width` that `strip` is wide, row by
// row, since a row is contiguous.
template <typename T>
void PackContiguous(const Strip<T>& strip, T* to, int64_t to_width) {
  constexpr int kCount = kLanes<T>;
  for (int64_t l = 0; l < strip.k; ++l) {
    const T* from = strip.from + l * strip.k_stride;
    for (int64_t first = 0; first < strip.width; first += to_width) {
      const int64_t width = strip.width - first < to_width ? strip.width - first : to_width;
      const int64_t whole = width / kCount * kCount;
      const int rest = static_cast<int>(width - whole);
      T* at = to + first * strip.k + l * to_width;
      for (int64_t i = 0; i < whole; i += kCount) Store(Load(from + first + i), at + i);
      if (rest != 0) {
        StorePartial<T>(LoadPartial(from + first + whole, rest), at + whole, to_width % kCount == 0 ? kCount : rest);
      }
    }
  }
}

// Along k the elements are contiguous.
template <typename T>
void PackTransposed(const Strip<T>& strip, T* to, int64_t to_width) {
  constexpr int kCount = kLanes<T>;
  const bool fills = to_width % kCount == 0;
  for (int64_t l = 0; l < strip.k; l += kCount) {
    const int depth = strip.k - l < kCount ? static_cast<int>(strip.k - l) : kCount;
    for (int64_t i = 0; i < strip.width; i += kCount) {
      const int count = strip.width - i < kCount ? static_cast<int>(strip.width - i) : kCount;
      const T* from = strip.from + i * strip.stride + l;
      Vector<T> rows[kCount];
      if (count == kCount && depth == kCount) {
        LoadTransposed<T>(from, strip.stride, rows);
      } else {
#pragma GCC unroll 16
        for (int r = 0; r < kCount; ++r) {
          rows[r] = r < count ? LoadPartial(from + r * strip.stride, depth) : Vector<T>{};
        }
        Transpose<T>(rows);
      }
      T* at = to + l * to_width + i;
      if (depth == kCount && (count == kCount || fills)) {
#pragma GCC unroll 16
        for (int r = 0; r < kCount; ++r) Store(rows[r], at + r * to_width);
      } else {
#pragma GCC unroll 16
        for (int r = 0; r < kCount; ++r) {
          if (r < depth) StorePartial<T>(rows[r], at + r * to_width, fills ? kCount : count);
        }
      }
    }
  }
}

template <typename T>
void PackElements(const Strip<T>& strip, T* to, int64_t to_width) {
  for (int64_t l = 0; l < strip.k; ++l) {
    for (int64_t i = 0; i < strip.width; ++i) {
      to[l * to_width + i] = strip.from[i * strip.stride + l * strip.k_stride];
    }
  }
}

// Packs `all` as strips of `to_width`, one after the other.
template <typename T>
void Pack(const Strip<T>& all, T* to, int64_t to_width) {
  if (all.stride == 1) return PackContiguous(all, to, to_width);
  for (int64_t first = 0; first < all.width; first += to_width) {
    Strip<T> strip = all;
    strip.from += first * all.stride;
    strip.width = all.width - first < to_width ? all.width - first : to_width;
    if (all.k_stride == 1) {
      PackTransposed(strip, to + first * all.k, to_width);
    } else {
      PackElements(strip, to + first * all.k, to_width);
    }
  }
}

}  // namespace stillflow::gemm
