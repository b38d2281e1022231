// png.h: images as PNG files, the same bytes that libpng writes with its own choice of filters.
#pragma once

#include <cstdint>
#include <string>

namespace stillflow::io {

// Appends a PNG file to `out`.
//
//   pixels       height rows of width * channels samples; of 16 bits in the machine's order if `bit_depth` is 16
//   channels     1 gray, 2 gray and alpha, 3 RGB, 4 RGBA
//   compression  zlib's level, or -1 for its default
//
// Returns false if zlib refuses. Sizes are positive, and width * channels * bit_depth is below 2^31.
bool AppendPng(const void* pixels, int64_t width, int64_t height, int channels, int bit_depth, int compression,
               std::string* out);

}  // namespace stillflow::io
