#include "io/snappy.h"

namespace stillflow::io {
namespace {

constexpr size_t kMostExpansion = 32;  // an element of three bytes copies at most 64

// Appends `length` bytes from `offset` bytes back; the two may overlap, and then repeat.
bool CopyBack(size_t offset, size_t length, size_t most_bytes, std::string* to) {
  if (offset == 0 || offset > to->size() || length > most_bytes - to->size()) return false;
  for (size_t i = 0; i < length; ++i) to->push_back((*to)[to->size() - offset]);
  return true;
}

uint32_t LittleEndian(Bytes bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size; ++i)
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes.data[i])) << 8 * i;
  return value;
}

}  // namespace

bool DecompressSnappy(Bytes compressed, size_t most_bytes, std::string* to) {
  WireReader reader(compressed);
  const uint64_t size = reader.Varint();
  if (!reader.ok() || size > most_bytes || size > compressed.size * kMostExpansion) return false;
  to->clear();
  to->reserve(size);
  while (!reader.done()) {
    const auto tag = static_cast<uint8_t>(*reader.Take(1).data);
    size_t length = (tag >> 2) + 1;
    if ((tag & 3) == 0) {  // literal
      if (length > 60) length = LittleEndian(reader.Take(length - 60)) + size_t{1};
      const Bytes literal = reader.Take(length);
      if (!reader.ok() || literal.size > size - to->size()) return false;
      to->append(literal.data, literal.size);
      continue;
    }
    size_t offset = 0;
    if ((tag & 3) == 1) {
      length = (tag >> 2 & 7) + 4;
      offset = static_cast<size_t>(tag >> 5) << 8 | LittleEndian(reader.Take(1));
    } else {
      offset = LittleEndian(reader.Take((tag & 3) == 2 ? 2 : 4));
    }
    if (!reader.ok() || !CopyBack(offset, length, size, to)) return false;
  }
  return reader.ok() && to->size() == size;
}

}  // namespace stillflow::io
