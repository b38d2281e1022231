// png_reader.h: PNG files as pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "io/wire.h"

namespace stillflow::io {

enum class PngStatus { kOk, kInvalid, kTooLarge };

struct PngImage {
  int64_t width = 0;
  int64_t height = 0;
  int channels = 0;
  std::vector<uint8_t> bytes;   // samples of 8 bits,
  std::vector<uint16_t> words;  // or of 16
};

// Whether the bytes begin as PNG files do.
bool IsPng(Bytes file);

// Reads an image with 1 to 4 channels (gray, gray and alpha, RGB, RGBA), or with those of the file for 0, and samples
// of 8 or 16 bits. Colors become gray by their luma; alpha is dropped, or opaque where there is none.
//
// Nothing is allocated that the file could not fill. `image` has its size even if that is kTooLarge.
PngStatus ReadPng(Bytes file, int channels, int bit_depth, PngImage* image);

}  // namespace stillflow::io
