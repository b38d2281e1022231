// places.h: loops over the places of windows, and over the pixels under each.
#pragma once

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

}  // namespace stillflow
