// wire.h: the encoding of protocol buffers, for the few messages that C++ reads and writes itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace stillflow::io {

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// ---- Writing ------------------------------------------------------------------------------------------------------

class WireWriter {
 public:
  explicit WireWriter(std::string* out) : out_(out) {}

  void Varint(int field, uint64_t value) {
    Tag(field, WireType::kVarint);
    Raw(value);
  }
  void Float(int field, float value) {
    Tag(field, WireType::kFixed32);
    out_->append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Double(int field, double value) {
    Tag(field, WireType::kFixed64);
    out_->append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Bytes(int field, const void* data, size_t size) {
    Tag(field, WireType::kBytes);
    Raw(size);
    out_->append(static_cast<const char*>(data), size);
  }
  void Bytes(int field, const std::string& bytes) { Bytes(field, bytes.data(), bytes.size()); }

  // Scalars of proto3 that have their default are left out.
  void VarintUnlessZero(int field, uint64_t value) {
    if (value != 0) Varint(field, value);
  }
  void DoubleUnlessZero(int field, double value) {
    if (value != 0) Double(field, value);
  }
  void FloatUnlessZero(int field, float value) {
    if (value != 0) Float(field, value);
  }
  void BytesUnlessEmpty(int field, const std::string& bytes) {
    if (!bytes.empty()) Bytes(field, bytes);
  }

 private:
  void Tag(int field, WireType type) { Raw(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type)); }
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_->push_back(static_cast<char>(value | 0x80));
    out_->push_back(static_cast<char>(value));
  }

  std::string* out_;
};

// ---- Reading ------------------------------------------------------------------------------------------------------

struct Span {
  const char* data = nullptr;
  size_t size = 0;
};

// Walks over a message's fields. Every function returns false where the bytes are no message; nothing is read beyond
// their end.
class WireReader {
 public:
  WireReader() = default;
  explicit WireReader(Span bytes) : next_(bytes.data), end_(bytes.data + bytes.size) {}

  bool at_end() const { return next_ == end_; }
  size_t remaining() const { return static_cast<size_t>(end_ - next_); }

  bool Tag(uint32_t* field, WireType* type) {
    uint64_t tag;
    if (!Varint(&tag) || tag >> 32 != 0 || tag >> 3 == 0 || (tag & 7) > 5) return false;
    *field = static_cast<uint32_t>(tag >> 3);
    *type = static_cast<WireType>(tag & 7);
    return true;
  }
  bool Varint(uint64_t* value) {
    if (next_ < end_ && static_cast<unsigned char>(*next_) < 0x80) {
      *value = static_cast<unsigned char>(*next_++);
      return true;
    }
    return LongVarint(value);
  }
  bool Bytes(Span* bytes) {
    uint64_t size;
    if (!Varint(&size) || size > remaining()) return false;
    *bytes = {next_, static_cast<size_t>(size)};
    next_ += size;
    return true;
  }
  template <typename T>
  bool Fixed(T* value) {
    if (remaining() < sizeof(T)) return false;
    std::memcpy(value, next_, sizeof(T));
    next_ += sizeof(T);
    return true;
  }
  // What a field holds that nobody asks for; groups are skipped with all in them.
  bool Skip(uint32_t field, WireType type) {
    if (type == WireType::kEndGroup) return false;
    if (type != WireType::kGroup) return SkipValue(type);
    (void)field;
    for (int64_t depth = 1; depth > 0;) {
      if (!Tag(&field, &type)) return false;
      if (type == WireType::kGroup) {
        ++depth;
      } else if (type == WireType::kEndGroup) {
        --depth;
      } else if (!SkipValue(type)) {
        return false;
      }
    }
    return true;
  }

 private:
  bool LongVarint(uint64_t* value) {
    uint64_t result = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (next_ == end_) return false;
      const auto byte = static_cast<unsigned char>(*next_++);
      if (shift < 64) result |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        *value = result;
        return true;
      }
    }
    return false;
  }
  bool SkipValue(WireType type) {
    uint64_t number;
    uint32_t word;
    Span bytes;
    switch (type) {
      case WireType::kVarint:
        return Varint(&number);
      case WireType::kFixed64:
        return Fixed(&number);
      case WireType::kFixed32:
        return Fixed(&word);
      default:
        return Bytes(&bytes);
    }
  }

  const char* next_ = nullptr;
  const char* end_ = nullptr;
};

// Whether the bytes are a message, as far as that can be told without its definition.
inline bool IsMessage(Span bytes) {
  WireReader reader(bytes);
  uint32_t field;
  WireType type;
  while (!reader.at_end()) {
    if (!reader.Tag(&field, &type) || !reader.Skip(field, type)) return false;
  }
  return true;
}

}  // namespace stillflow::io
