// patches.h: the patches of images that a window covers at each of its places, as an operand of a product.
//
// A patch is a row of (planes, rows, columns, channels of the window) elements; what lies outside of the image is
// zero. Panels are copied from the image: patches are nowhere written out.
#pragma once

#include "arithmetic/gemm/panel_source.h"
#include "arithmetic/math/scalar.h"
#include "arithmetic/window/patch_axis.h"

namespace stillflow {

// Images with channels last. `channels` of each pixel are used, from the first one on.
template <typename T>
struct Images {
  const T* data;
  int64_t pixel_stride;
  int64_t channels;
};

// Copies, or zeros, of a few elements: two moves that may overlap, where a call would take longer than the copy.
template <int kBytes>
STILLFLOW_INLINE void MoveEnds(char* to, const char* from, int64_t bytes) {
  char first[kBytes], last[kBytes];
  __builtin_memcpy(first, from, kBytes);
  __builtin_memcpy(last, from + bytes - kBytes, kBytes);
  __builtin_memcpy(to, first, kBytes);
  __builtin_memcpy(to + bytes - kBytes, last, kBytes);
}
STILLFLOW_INLINE void MoveBytes(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kMostInline = 512;
  if (bytes > kMostInline) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 32) {
    for (int64_t i = 0; i + 32 < bytes; i += 32) __builtin_memcpy(to + i, from + i, 32);
    __builtin_memcpy(to + bytes - 32, from + bytes - 32, 32);
  } else if (bytes >= 16) {
    MoveEnds<16>(to, from, bytes);
  } else if (bytes >= 8) {
    MoveEnds<8>(to, from, bytes);
  } else if (bytes >= 4) {
    MoveEnds<4>(to, from, bytes);
  } else if (bytes == 2) {
    __builtin_memcpy(to, from, 2);
  }
}
template <typename T>
STILLFLOW_INLINE void MoveElements(T* to, const T* from, int64_t count) {
  MoveBytes(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
            count * static_cast<int64_t>(sizeof(T)));
}
template <typename T>
STILLFLOW_INLINE void FillZeros(T* to, int64_t count) {
  if (count > 0) std::memset(to, 0, count * sizeof(T));
}

template <typename T>
class Patches final : public PanelSource<T> {
 public:
  // Whether the lines of the operand are the places of the window and k runs through a patch, or the other way round.
  enum class Lines { kPlaces, kElements };

  // Places are counted from `first_place`.
  Patches(Lines lines, const Images<T>& images, const PatchAxis* axes, int64_t first_place = 0)
      : PanelSource<T>(lines == Lines::kPlaces ? PanelSource<T>::Order::kAlongK : PanelSource<T>::Order::kAlongLines),
        images_(images),
        planes_(axes[0]),
        rows_(axes[1]),
        columns_(axes[2]),
        first_place_(first_place),
        row_stride_(columns_.size * images.pixel_stride),
        row_elements_(columns_.taps * images.channels),
        is_dense_(columns_.tap_step == 1 && images.pixel_stride == images.channels) {}

  void Copy(Range lines, Range k, T* to, int64_t stride) const override {
    const bool lines_are_places = this->order() == PanelSource<T>::Order::kAlongK;
    CopyPatches(lines_are_places ? lines : k, lines_are_places ? k : lines, to, stride);
  }

 private:
  // The part [begin, end) of the elements of one (plane, row) of taps, and the numbers of these.
  struct Piece {
    int64_t plane_tap, row_tap, begin, end;
  };

  void CopyPatches(Range places, Range elements, T* to, int64_t stride) const {
    const int64_t tap_row = elements.begin / row_elements_;
    const Piece first = {tap_row / rows_.taps, tap_row % rows_.taps, elements.begin - tap_row * row_elements_, 0};
    const int64_t count = elements.end - elements.begin;
    const int64_t place = first_place_ + places.begin;
    int64_t column = place % columns_.places;
    int64_t rest = place / columns_.places;
    int64_t row = rest % rows_.places;
    rest /= rows_.places;
    int64_t plane = rest % planes_.places;
    int64_t image = rest / planes_.places;
    for (int64_t i = places.begin; i < places.end; ++i, to += stride) {
      CopyPatch(image, plane, row, column, first, count, to);
      if (++column == columns_.places) {
        column = 0;
        if (++row == rows_.places) {
          row = 0;
          if (++plane == planes_.places) {
            plane = 0;
            ++image;
          }
        }
      }
    }
  }

  // `count` elements of one patch, from those of `piece` on.
  STILLFLOW_INLINE void CopyPatch(int64_t image, int64_t plane, int64_t row, int64_t column, Piece piece,
                                  int64_t count, T* to) const {
    const int64_t first_column = column * columns_.step + columns_.first;
    while (count > 0) {
      piece.end = std::min(piece.begin + count, row_elements_);
      const int64_t z = plane * planes_.step + planes_.first + piece.plane_tap * planes_.tap_step;
      const int64_t y = row * rows_.step + rows_.first + piece.row_tap * rows_.tap_step;
      const int64_t length = piece.end - piece.begin;
      if (z < 0 || z >= planes_.size || y < 0 || y >= rows_.size) {
        FillZeros(to, length);
      } else {
        const T* from = images_.data + ((image * planes_.size + z) * rows_.size + y) * row_stride_;
        if (is_dense_) {
          CopyRun(from, first_column, piece, to);
        } else {
          CopyTaps(from, first_column, piece, to);
        }
      }
      to += length;
      count -= length;
      piece.begin = 0;
      if (++piece.row_tap == rows_.taps) {
        piece.row_tap = 0;
        ++piece.plane_tap;
      }
    }
  }

  // The taps of a row are neighbours in the image's.
  STILLFLOW_INLINE void CopyRun(const T* from, int64_t column, const Piece& piece, T* to) const {
    const int64_t offset = column * images_.channels;  // of the row's first tap
    const int64_t begin = std::max(piece.begin, -offset);
    const int64_t end = std::min(piece.end, row_stride_ - offset);
    if (begin >= end) return FillZeros(to, piece.end - piece.begin);
    if (begin > piece.begin) FillZeros(to, begin - piece.begin);
    MoveElements(to + (begin - piece.begin), from + offset + begin, end - begin);
    if (piece.end > end) FillZeros(to + (end - piece.begin), piece.end - end);
  }

  void CopyTaps(const T* from, int64_t column, const Piece& piece, T* to) const {
    const int64_t channels = images_.channels;
    int64_t tap = piece.begin / channels;
    int64_t channel = piece.begin - tap * channels;
    for (int64_t at = piece.begin; at < piece.end; ++tap) {
      const int64_t length = std::min(channels - channel, piece.end - at);
      const int64_t x = column + tap * columns_.tap_step;
      if (x < 0 || x >= columns_.size) {
        FillZeros(to, length);
      } else {
        MoveElements(to, from + x * images_.pixel_stride + channel, length);
      }
      to += length;
      at += length;
      channel = 0;
    }
  }

  const Images<T> images_;
  const PatchAxis planes_, rows_, columns_;
  const int64_t first_place_, row_stride_, row_elements_;
  const bool is_dense_;
};

}  // namespace stillflow
