// wire.h: the protocol buffer wire format, as far as it is needed here, parsed from untrusted bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace stillflow::io {

struct Bytes {
  const char* data = nullptr;
  size_t size = 0;

  Bytes() = default;
  Bytes(const char* first, size_t count) : data(first), size(count) {}
  explicit Bytes(const std::string& text) : data(text.data()), size(text.size()) {}
  std::string ToString() const { return std::string(data, size); }
};

inline bool operator==(const Bytes& a, const Bytes& b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}
inline bool operator<(const Bytes& a, const Bytes& b) {
  const size_t common = a.size < b.size ? a.size : b.size;
  const int order = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
  return order != 0 ? order < 0 : a.size < b.size;
}

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Takes values off the front of some bytes. Once something is malformed nothing more is read, and `ok` is false.
class WireReader {
 public:
  explicit WireReader(Bytes bytes) : at_(bytes.data), end_(bytes.data + bytes.size) {}

  bool ok() const { return is_ok_; }
  bool done() const { return at_ == end_ || !is_ok_; }
  size_t left() const { return end_ - at_; }
  const char* at() const { return at_; }

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    is_ok_ = false;
    return 0;
  }

  Bytes Take(size_t size) {
    if (size > left()) {
      is_ok_ = false;
      return {};
    }
    const Bytes taken(at_, size);
    at_ += size;
    return taken;
  }

  uint32_t Fixed32() {
    uint32_t value = 0;
    const Bytes bytes = Take(sizeof value);
    if (is_ok_) std::memcpy(&value, bytes.data, sizeof value);
    return value;
  }

  uint64_t Fixed64() {
    uint64_t value = 0;
    const Bytes bytes = Take(sizeof value);
    if (is_ok_) std::memcpy(&value, bytes.data, sizeof value);
    return value;
  }

  // ---- Messages: while (reader.NextField()) switch on `field` and `type`, and take or skip its value ----

  uint32_t field = 0;
  WireType type = WireType::kVarint;

  bool NextField() {
    if (done()) return false;
    const uint64_t tag = Varint();
    field = static_cast<uint32_t>(tag >> 3);
    type = static_cast<WireType>(tag & 7);
    if (field == 0 || tag >> 32 != 0) is_ok_ = false;
    return is_ok_;
  }

  bool Is(uint32_t number, WireType wire_type) const { return field == number && type == wire_type; }
  Bytes LengthDelimited() { return Take(Varint()); }

  void Skip() {
    switch (type) {
      case WireType::kVarint:
        Varint();
        return;
      case WireType::kFixed64:
        Take(8);
        return;
      case WireType::kBytes:
        LengthDelimited();
        return;
      case WireType::kFixed32:
        Take(4);
        return;
    }
    is_ok_ = false;
  }

 private:
  const char* at_;
  const char* end_;
  bool is_ok_ = true;
};

inline void AppendVarint(uint64_t value, std::string* to) {
  while (value >= 128) {
    to->push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  to->push_back(static_cast<char>(value));
}

inline void AppendFixed32(uint32_t value, std::string* to) {
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void AppendTag(uint32_t field, WireType type, std::string* to) {
  AppendVarint(field << 3 | static_cast<uint32_t>(type), to);
}

inline void AppendVarintField(uint32_t field, uint64_t value, std::string* to) {
  AppendTag(field, WireType::kVarint, to);
  AppendVarint(value, to);
}

inline void AppendFloatField(uint32_t field, float value, std::string* to) {
  AppendTag(field, WireType::kFixed32, to);
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void AppendDoubleField(uint32_t field, double value, std::string* to) {
  AppendTag(field, WireType::kFixed64, to);
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void AppendBytesField(uint32_t field, Bytes value, std::string* to) {
  AppendTag(field, WireType::kBytes, to);
  AppendVarint(value.size, to);
  to->append(value.data, value.size);
}

// Whether the bytes are a message, as far as that can be told without its definition.
inline bool IsMessage(Bytes bytes) {
  WireReader reader(bytes);
  while (reader.NextField()) reader.Skip();
  return reader.ok();
}

}  // namespace stillflow::io
