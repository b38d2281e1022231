#include "io/fingerprint.h"

#include <cstring>
#include <utility>

namespace stillflow::io {
namespace {

// Little endian, as all machines are that this runs on.
uint64_t Word(const char* data) {
  uint64_t value;
  std::memcpy(&value, data, sizeof value);
  return value;
}
uint64_t HalfWord(const char* data) {
  uint32_t value;
  std::memcpy(&value, data, sizeof value);
  return value;
}
uint64_t Byte(const char* data) { return static_cast<unsigned char>(*data); }
uint64_t RotateRight(uint64_t value, int bits) { return value >> bits | value << (64 - bits); }
uint64_t RotateLeft(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

// ---- FarmHash -----------------------------------------------------------------------------------------------------

constexpr uint64_t kPrime0 = 0xC3A5C85C97CB3127u;
constexpr uint64_t kPrime1 = 0xB492B66FBE98F273u;
constexpr uint64_t kPrime2 = 0x9AE16A3B2F90404Fu;

using Pair = std::pair<uint64_t, uint64_t>;

uint64_t ShiftMix(uint64_t value) { return value ^ value >> 47; }

uint64_t Mix(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = ShiftMix((u ^ v) * factor);
  return ShiftMix((v ^ a) * factor) * factor;
}

uint64_t UpTo16(const char* s, uint64_t size) {
  const uint64_t factor = kPrime2 + size * 2;
  if (size >= 8) {
    const uint64_t a = Word(s) + kPrime2;
    const uint64_t b = Word(s + size - 8);
    return Mix(RotateRight(b, 37) * factor + a, (RotateRight(a, 25) + b) * factor, factor);
  }
  if (size >= 4) return Mix(size + (HalfWord(s) << 3), HalfWord(s + size - 4), factor);
  if (size == 0) return kPrime2;
  // These are sums of 32 bits.
  const auto y = static_cast<uint32_t>(Byte(s) + (Byte(s + (size >> 1)) << 8));
  const auto z = static_cast<uint32_t>(size + (Byte(s + size - 1) << 2));
  return ShiftMix(y * kPrime2 ^ z * kPrime0) * kPrime2;
}

uint64_t UpTo32(const char* s, uint64_t size) {
  const uint64_t factor = kPrime2 + size * 2;
  const uint64_t a = Word(s) * kPrime1;
  const uint64_t b = Word(s + 8);
  const uint64_t c = Word(s + size - 8) * factor;
  const uint64_t d = Word(s + size - 16) * kPrime2;
  return Mix(RotateRight(a + b, 43) + RotateRight(c, 30) + d, a + RotateRight(b + kPrime2, 18) + c, factor);
}

uint64_t UpTo64(const char* s, uint64_t size) {
  const uint64_t factor = kPrime2 + size * 2;
  const uint64_t a = Word(s) * kPrime2;
  const uint64_t b = Word(s + 8);
  const uint64_t c = Word(s + size - 8) * factor;
  const uint64_t d = Word(s + size - 16) * kPrime2;
  const uint64_t y = RotateRight(a + b, 43) + RotateRight(c, 30) + d;
  const uint64_t z = Mix(y, a + RotateRight(b + kPrime2, 18) + c, factor);
  const uint64_t e = Word(s + 16) * factor;
  const uint64_t f = Word(s + 24);
  const uint64_t g = (y + Word(s + size - 32)) * factor;
  const uint64_t h = (z + Word(s + size - 24)) * factor;
  return Mix(RotateRight(e + f, 43) + RotateRight(g, 30) + h, e + RotateRight(f + a, 18) + g, factor);
}

Pair Mix32Bytes(const char* s, uint64_t a, uint64_t b) {
  a += Word(s);
  b = RotateRight(b + a + Word(s + 24), 21);
  const uint64_t c = a;
  a += Word(s + 8) + Word(s + 16);
  return {a + Word(s + 24), b + RotateRight(a, 44) + c};
}

struct Blocks {
  uint64_t x, y, z;
  Pair v{0, 0}, w{0, 0};

  void Add(const char* s) {
    x = RotateRight(x + y + v.first + Word(s + 8), 37) * kPrime1;
    y = RotateRight(y + v.second + Word(s + 48), 42) * kPrime1;
    x ^= w.second;
    y += v.first + Word(s + 40);
    z = RotateRight(z + w.first, 33) * kPrime1;
    v = Mix32Bytes(s, v.second * kPrime1, x + w.first);
    w = Mix32Bytes(s + 32, z + w.second, y + Word(s + 16));
    std::swap(z, x);
  }

  // `s` are the last 64 bytes, of which `rest` + 1 were not added.
  uint64_t Finish(const char* s, uint64_t rest) {
    const uint64_t factor = kPrime1 + ((z & 0xFF) << 1);
    w.first += rest;
    v.first += w.first;
    w.first += v.first;
    x = RotateRight(x + y + v.first + Word(s + 8), 37) * factor;
    y = RotateRight(y + v.second + Word(s + 48), 42) * factor;
    x ^= w.second * 9;
    y += v.first * 9 + Word(s + 40);
    z = RotateRight(z + w.first, 33) * factor;
    v = Mix32Bytes(s, v.second * factor, x + w.first);
    w = Mix32Bytes(s + 32, z + w.second, y + Word(s + 16));
    std::swap(z, x);
    return Mix(Mix(v.first, w.first, factor) + ShiftMix(y) * kPrime0 + z, Mix(v.second, w.second, factor) + x,
               factor);
  }
};

// ---- SipHash ------------------------------------------------------------------------------------------------------

struct Sip {
  uint64_t v0, v1, v2, v3;

  void Rounds(int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v1 = RotateLeft(v1, 13) ^ v0;
      v0 = RotateLeft(v0, 32);
      v2 += v3;
      v3 = RotateLeft(v3, 16) ^ v2;
      v0 += v3;
      v3 = RotateLeft(v3, 21) ^ v0;
      v2 += v1;
      v1 = RotateLeft(v1, 17) ^ v2;
      v2 = RotateLeft(v2, 32);
    }
  }
  void Add(uint64_t word) {
    v3 ^= word;
    Rounds(2);
    v0 ^= word;
  }
};

// Up to 7 bytes as a word.
uint64_t Tail(const char* data, uint64_t size) {
  uint64_t word = 0;
  for (uint64_t i = 0; i < size; ++i) word |= Byte(data + i) << (8 * i);
  return word;
}

}  // namespace

uint64_t Hash64(Bytes bytes) {
  constexpr uint64_t kFactor = 0xC6A4A7935BD1E995u;
  constexpr uint64_t kSeed = 0xDECAFCAFFEu;
  constexpr int kShift = 47;
  uint64_t hash = kSeed ^ bytes.size * kFactor;
  const char* next = bytes.data;
  for (const char* const end = next + bytes.size / 8 * 8; next < end; next += 8) {
    uint64_t word = Word(next) * kFactor;
    word = (word ^ word >> kShift) * kFactor;
    hash = (hash ^ word) * kFactor;
  }
  if (bytes.size % 8 != 0) hash = (hash ^ Tail(next, bytes.size % 8)) * kFactor;
  hash = (hash ^ hash >> kShift) * kFactor;
  return hash ^ hash >> kShift;
}

uint64_t Fingerprint64(Bytes bytes) {
  const char* s = bytes.data;
  const uint64_t size = bytes.size;
  if (size <= 16) return UpTo16(s, size);
  if (size <= 32) return UpTo32(s, size);
  if (size <= 64) return UpTo64(s, size);
  constexpr uint64_t kSeed = 81;
  Blocks blocks;
  blocks.x = kSeed * kPrime2;
  blocks.y = kSeed * kPrime1 + 113;
  blocks.z = ShiftMix(blocks.y * kPrime2 + 113) * kPrime2;
  const uint64_t rest = (size - 1) & 63;
  const char* const end = s + (size - 1) / 64 * 64;
  for (const char* next = s; next < end; next += 64) {
    if (next == s) blocks.x += Word(s);
    blocks.Add(next);
  }
  return blocks.Finish(end + rest - 63, rest);
}

namespace {

// ---- CityHash128 --------------------------------------------------------------------------------------------------

uint64_t MixPair(uint64_t u, uint64_t v) { return Mix(u, v, 0x9DDFEA08EB382D69u); }

uint64_t Scrambled(const char* s) { return ShiftMix(Word(s) * kPrime1) * kPrime1; }

Fingerprint128Words ShortHash128(const char* s, uint64_t size, Pair seed) {
  uint64_t a = seed.first, b = seed.second, c, d;
  if (size <= 16) {
    a = ShiftMix(a * kPrime1) * kPrime1;
    c = b * kPrime1 + UpTo16(s, size);
    d = ShiftMix(a + (size >= 8 ? Word(s) : c));
  } else {
    c = MixPair(Word(s + size - 8) + kPrime1, a);
    d = MixPair(b + size, c + Word(s + size - 16));
    a += d;
    for (int64_t left = static_cast<int64_t>(size) - 16; left > 0; left -= 16, s += 16) {
      a = (a ^ Scrambled(s)) * kPrime1;
      b ^= a;
      c = (c ^ Scrambled(s + 8)) * kPrime1;
      d ^= c;
    }
  }
  a = MixPair(a, c);
  b = MixPair(d, b);
  return {a ^ b, MixPair(b, a)};
}

Fingerprint128Words LongHash128(const char* s, uint64_t size, Pair seed) {
  Blocks h;
  h.x = seed.first;
  h.y = seed.second;
  h.z = size * kPrime1;
  h.v.first = RotateRight(h.y ^ kPrime1, 49) * kPrime1 + Word(s);
  h.v.second = RotateRight(h.v.first, 42) * kPrime1 + Word(s + 8);
  h.w.first = RotateRight(h.y + h.z, 35) * kPrime1 + h.x;
  h.w.second = RotateRight(h.x + Word(s + 88), 53) * kPrime1;
  for (; size >= 128; size -= 128, s += 128) {
    h.Add(s);
    h.Add(s + 64);
  }
  h.x += RotateRight(h.v.first + h.z, 49) * kPrime0;
  h.y = h.y * kPrime0 + RotateRight(h.w.second, 37);
  h.z = h.z * kPrime0 + RotateRight(h.w.first, 27);
  h.w.first *= 9;
  h.v.first *= kPrime0;
  // The rest in steps of 32 bytes from its end, the last of which may reach back before it.
  for (uint64_t done = 0; done < size;) {
    done += 32;
    const char* tail = s + size - done;
    h.y = RotateRight(h.x + h.y, 42) * kPrime0 + h.v.second;
    h.w.first += Word(tail + 16);
    h.x = h.x * kPrime0 + h.w.first;
    h.z += h.w.second + Word(tail);
    h.w.second += h.v.first;
    h.v = Mix32Bytes(tail, h.v.first + h.z, h.v.second);
    h.v.first *= kPrime0;
  }
  h.x = MixPair(h.x, h.v.first);
  h.y = MixPair(h.y + h.z, h.w.first);
  return {MixPair(h.x + h.v.second, h.w.second) + h.y, MixPair(h.x + h.w.second, h.y + h.v.second)};
}

}  // namespace

Fingerprint128Words Fingerprint128(Bytes bytes) {
  const char* s = bytes.data;
  uint64_t size = bytes.size;
  Pair seed{kPrime0, kPrime1};
  if (size >= 16) {
    seed = {Word(s), Word(s + 8) + kPrime0};
    s += 16;
    size -= 16;
  }
  return size < 128 ? ShortHash128(s, size, seed) : LongHash128(s, size, seed);
}

uint64_t KeyedHash64(Bytes bytes, uint64_t key0, uint64_t key1) {
  Sip sip = {key0 ^ 0x736F6D6570736575u, key1 ^ 0x646F72616E646F6Du, key0 ^ 0x6C7967656E657261u,
             key1 ^ 0x7465646279746573u};
  const char* next = bytes.data;
  for (const char* const end = next + bytes.size / 8 * 8; next < end; next += 8) sip.Add(Word(next));
  sip.Add(static_cast<uint64_t>(bytes.size) << 56 | Tail(next, bytes.size % 8));
  sip.v2 ^= 0xFF;
  sip.Rounds(4);
  return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

}  // namespace stillflow::io
