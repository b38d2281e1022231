// crc32c.h: the checksum of TensorFlow's files, CRC-32C (Castagnoli), as it is and masked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stillflow::io {

// The checksum of what has `crc` so far, followed by these bytes; that of nothing is 0.
uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size);
inline uint32_t Crc32c(const void* data, size_t size) { return ExtendCrc32c(0, data, size); }

// The checksum of some bytes followed by `second_size` others, of the checksums of both.
uint32_t JoinCrc32c(uint32_t first, uint32_t second, uint64_t second_size);

// ExtendCrc32c by table alone, for processors without the instruction.
uint32_t ExtendCrc32cByTable(uint32_t crc, const void* data, size_t size);

// Files store checksums masked, so that a checksum of bytes that hold checksums stays a good one.
constexpr uint32_t kCrcMaskDelta = 0xA282EAD8u;
inline uint32_t MaskCrc(uint32_t crc) { return (crc >> 15 | crc << 17) + kCrcMaskDelta; }
inline uint32_t UnmaskCrc(uint32_t masked) {
  const uint32_t rotated = masked - kCrcMaskDelta;
  return rotated >> 17 | rotated << 15;
}

}  // namespace stillflow::io
