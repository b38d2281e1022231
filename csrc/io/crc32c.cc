#include "io/crc32c.h"

#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace stillflow::io {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78u;  // reflected
constexpr int kSlices = 8;

struct ByteTables {
  uint32_t at[kSlices][256];
};

// at[k][b]: what byte b, followed by k zero bytes, does to the checksum.
constexpr ByteTables MakeByteTables() {
  ByteTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    tables.at[0][byte] = crc;
  }
  for (int slice = 1; slice < kSlices; ++slice) {
    for (int byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables.at[slice - 1][byte];
      tables.at[slice][byte] = before >> 8 ^ tables.at[0][before & 255];
    }
  }
  return tables;
}
constexpr ByteTables kTables = MakeByteTables();

uint64_t Load64(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Checksums are polynomials over two elements, the first coefficient in the highest bit; this is their product
// modulo the generator.
uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a != 0; a <<= 1) {
    if (a >> 31 != 0) product ^= b;
    b = b >> 1 ^ (b & 1 ? kPolynomial : 0);
  }
  return product;
}

// What a checksum is multiplied by when `size` zero bytes follow.
uint32_t FactorOfBytes(uint64_t size) {
  uint32_t factor = uint32_t{1} << 31;  // 1
  uint32_t square = uint32_t{1} << 23;  // x to the power of 8
  for (; size != 0; size >>= 1) {
    if (size & 1) factor = Multiply(factor, square);
    square = Multiply(square, square);
  }
  return factor;
}

// All functions below work on the inverted checksum.
uint32_t ByTable(uint32_t crc, const uint8_t* bytes, size_t size) {
  for (; size >= 8; bytes += 8, size -= 8) {
    const uint64_t word = Load64(bytes) ^ crc;  // every machine that we run on is little-endian
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= kTables.at[7 - i][word >> 8 * i & 255];
  }
  for (; size > 0; ++bytes, --size) crc = crc >> 8 ^ kTables.at[0][(crc ^ *bytes) & 255];
  return crc;
}

#if defined(__x86_64__)

// The instruction takes three cycles and may start every cycle: three lanes of this size keep it busy, and are
// joined by moving a lane's checksum over the bytes after it.
constexpr size_t kLaneBytes = 2048;

struct LaneShift {
  uint32_t at[4][256];

  LaneShift() {
    const uint32_t factor = FactorOfBytes(kLaneBytes);
    for (int place = 0; place < 4; ++place) {
      for (uint32_t byte = 0; byte < 256; ++byte) at[place][byte] = Multiply(byte << 8 * place, factor);
    }
  }

  uint32_t operator()(uint32_t crc) const {
    return at[0][crc & 255] ^ at[1][crc >> 8 & 255] ^ at[2][crc >> 16 & 255] ^ at[3][crc >> 24];
  }
};

__attribute__((target("sse4.2"))) uint32_t ByInstruction(uint32_t crc, const uint8_t* bytes, size_t size) {
  if (size >= 3 * kLaneBytes) {
    static const LaneShift shift;
    for (; size >= 3 * kLaneBytes; bytes += 3 * kLaneBytes, size -= 3 * kLaneBytes) {
      uint64_t first = crc, second = 0, third = 0;
      for (size_t i = 0; i < kLaneBytes; i += 8) {
        first = _mm_crc32_u64(first, Load64(bytes + i));
        second = _mm_crc32_u64(second, Load64(bytes + kLaneBytes + i));
        third = _mm_crc32_u64(third, Load64(bytes + 2 * kLaneBytes + i));
      }
      const uint32_t joined = shift(static_cast<uint32_t>(first)) ^ static_cast<uint32_t>(second);
      crc = shift(joined) ^ static_cast<uint32_t>(third);
    }
  }
  for (; size >= 8; bytes += 8, size -= 8) crc = static_cast<uint32_t>(_mm_crc32_u64(crc, Load64(bytes)));
  for (; size > 0; ++bytes, --size) crc = _mm_crc32_u8(crc, *bytes);
  return crc;
}

bool HasInstruction() { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__ARM_FEATURE_CRC32)

uint32_t ByInstruction(uint32_t crc, const uint8_t* bytes, size_t size) {
  for (; size >= 8; bytes += 8, size -= 8) crc = __crc32cd(crc, Load64(bytes));
  for (; size > 0; ++bytes, --size) crc = __crc32cb(crc, *bytes);
  return crc;
}

bool HasInstruction() { return true; }

#else

uint32_t ByInstruction(uint32_t crc, const uint8_t* bytes, size_t size) { return ByTable(crc, bytes, size); }
bool HasInstruction() { return false; }

#endif

}  // namespace

uint32_t JoinCrc32c(uint32_t first, uint32_t second, uint64_t second_size) {
  return Multiply(first, FactorOfBytes(second_size)) ^ second;
}

uint32_t ExtendCrc32cByTable(uint32_t crc, const void* data, size_t size) {
  return ~ByTable(~crc, static_cast<const uint8_t*>(data), size);
}

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) {
  static const auto extend = HasInstruction() ? ByInstruction : ByTable;
  return ~extend(~crc, static_cast<const uint8_t*>(data), size);
}

}  // namespace stillflow::io
