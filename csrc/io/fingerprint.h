// fingerprint.h: hashes of strings that TensorFlow's files and bucket numbers depend on.
#pragma once

#include <cstdint>

#include "io/wire.h"

namespace stillflow::io {

// TensorFlow's Hash64: MurmurHash64A with a seed of its own.
uint64_t Hash64(Bytes bytes);

// FarmHash's Fingerprint64.
uint64_t Fingerprint64(Bytes bytes);

struct Fingerprint128Words {
  uint64_t low;
  uint64_t high;
};

// FarmHash's Fingerprint128, which is CityHash128.
Fingerprint128Words Fingerprint128(Bytes bytes);

// SipHash-2-4 with a key of two words.
uint64_t KeyedHash64(Bytes bytes, uint64_t key0, uint64_t key1);

}  // namespace stillflow::io
