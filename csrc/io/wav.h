// wav.h: WAV files of 16-bit PCM samples, written, and parsed from untrusted bytes.
#pragma once

#include <cstdint>
#include <string>

#include "io/wire.h"

namespace stillflow::io {

// Where the samples of a file are, frame by frame, and what they are.
struct WavSamples {
  const char* data = nullptr;  // little-endian int16
  int64_t frames = 0;
  int channels = 0;
  uint32_t rate = 0;

  float At(int64_t frame, int channel) const;
};

// Finds the samples of `file`. Returns what is wrong with it, or "".
std::string FindWavSamples(Bytes file, WavSamples* samples);

// [frames, channels] samples from -1 to 1 as a file, which the caller has checked to be smaller than 2^32 bytes.
std::string WavFile(const float* samples, int64_t frames, int64_t channels, uint32_t rate);

}  // namespace stillflow::io
