#include "kernels/strings/unicode_text.h"

#include <cctype>

namespace stillflow {
namespace {

constexpr int32_t kMalformed = -1;
constexpr int32_t kReplacement = 0xFFFD;

struct EncodingName {
  const char* text;
  Encoding encoding;
};

constexpr EncodingName kNames[] = {
    {"utf8", Encoding::kUtf8},           {"utf16", Encoding::kUtf16},   {"utf16be", Encoding::kUtf16Big},
    {"utf16le", Encoding::kUtf16Little}, {"utf32", Encoding::kUtf32},   {"utf32be", Encoding::kUtf32Big},
    {"utf32le", Encoding::kUtf32Little}, {"latin1", Encoding::kLatin1}, {"iso88591", Encoding::kLatin1},
    {"usascii", Encoding::kAscii},       {"ascii", Encoding::kAscii},
};

bool IsHigh(uint32_t unit) { return (unit & 0xFC00) == 0xD800; }
bool IsLow(uint32_t unit) { return (unit & 0xFC00) == 0xDC00; }
bool IsSurrogate(uint32_t unit) { return (unit & 0xF800) == 0xD800; }

int32_t Paired(uint32_t high, uint32_t low) {
  return static_cast<int32_t>(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF));
}

void AppendUtf8(int32_t code, std::string* text) {
  const auto c = static_cast<uint32_t>(code);
  if (c < 0x80) {
    text->push_back(static_cast<char>(c));
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(kFirst[more] | (c >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) text->push_back(static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F)));
}

void AppendBigEndian(uint32_t value, int bytes, std::string* text) {
  for (int i = bytes - 1; i >= 0; --i) text->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

bool EncodingOf(io::Bytes name, Encoding* encoding) {
  std::string plain;
  for (size_t i = 0; i < name.size; ++i) {
    const auto c = static_cast<unsigned char>(name.data[i]);
    if (c != '-' && c != '_' && c != ' ') plain.push_back(static_cast<char>(std::tolower(c)));
  }
  for (const EncodingName& each : kNames) {
    if (plain == each.text) {
      *encoding = each.encoding;
      return true;
    }
  }
  return false;
}

CharacterReader::CharacterReader(io::Bytes text, Encoding encoding) : text_(text), encoding_(encoding) {
  is_little_ = encoding == Encoding::kUtf16Little || encoding == Encoding::kUtf32Little;
  const int bytes = encoding == Encoding::kUtf16 ? 2 : encoding == Encoding::kUtf32 ? 4 : 0;
  if (bytes == 0 || text.size < static_cast<size_t>(bytes)) return;
  // Without a mark of the byte order it is the big-endian one.
  for (bool is_little : {false, true}) {
    is_little_ = is_little;
    if (Unit(0, bytes) == 0xFEFF) {
      at_ = static_cast<size_t>(bytes);
      return;
    }
  }
  is_little_ = false;
}

uint32_t CharacterReader::Unit(size_t i, int bytes) const {
  uint32_t unit = 0;
  for (int j = 0; j < bytes; ++j) unit = unit << 8 | Byte(i + static_cast<size_t>(is_little_ ? bytes - 1 - j : j));
  return unit;
}

// How many bytes the next character has, or what stands in its place.
size_t CharacterReader::Utf8(int32_t* code) const {
  *code = kMalformed;
  const uint32_t first = Byte(0);
  if (first < 0x80) {
    *code = static_cast<int32_t>(first);
    return 1;
  }
  const size_t size = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (size == 1) return 1;
  // The second byte excludes what is too long, surrogates, and what lies beyond the last character.
  const uint32_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const uint32_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  uint32_t value = first & (0x7F >> size);
  for (size_t i = 1; i < size; ++i) {
    if (i >= Left() || Byte(i) < (i == 1 ? least : 0x80) || Byte(i) > (i == 1 ? most : 0xBF)) return i;
    value = value << 6 | (Byte(i) & 0x3F);
  }
  *code = static_cast<int32_t>(value);
  return size;
}

size_t CharacterReader::Utf16(int32_t* code) const {
  *code = kMalformed;
  if (Left() < 2) return Left();
  const uint32_t first = Unit(0, 2);
  if (!IsSurrogate(first)) {
    *code = static_cast<int32_t>(first);
    return 2;
  }
  if (!IsHigh(first)) return 2;
  if (Left() < 4) return Left();
  const uint32_t second = Unit(2, 2);
  if (!IsLow(second)) return 2;
  *code = Paired(first, second);
  return 4;
}

size_t CharacterReader::Utf32(int32_t* code) const {
  *code = kMalformed;
  if (Left() < 4) return Left();
  const uint32_t value = Unit(0, 4);
  if (value <= 0x10FFFF && !IsSurrogate(value)) *code = static_cast<int32_t>(value);
  return 4;
}

bool CharacterReader::Next(Character* character) {
  if (at_ >= text_.size) return false;
  int32_t code = kMalformed;
  size_t size = 1;
  switch (encoding_) {
    case Encoding::kUtf8:
      size = Utf8(&code);
      break;
    case Encoding::kUtf16:
    case Encoding::kUtf16Big:
    case Encoding::kUtf16Little:
      size = Utf16(&code);
      break;
    case Encoding::kUtf32:
    case Encoding::kUtf32Big:
    case Encoding::kUtf32Little:
      size = Utf32(&code);
      break;
    case Encoding::kLatin1:
      code = static_cast<int32_t>(Byte(0));
      break;
    case Encoding::kAscii:
      if (Byte(0) < 0x80) code = static_cast<int32_t>(Byte(0));
      break;
  }
  *character = {code, static_cast<int64_t>(begin_), code == kMalformed};
  at_ += size;
  begin_ = at_;
  return true;
}

void CharacterWriter::Append(int32_t code) {
  if (code < 0x10000) {
    units_.push_back(static_cast<char16_t>(code));
    return;
  }
  const auto above = static_cast<uint32_t>(code) - 0x10000;
  units_.push_back(static_cast<char16_t>(0xD800 | above >> 10));
  units_.push_back(static_cast<char16_t>(0xDC00 | (above & 0x3FF)));
}

std::string CharacterWriter::Encoded(Encoding encoding) const {
  std::string text;
  for (size_t i = 0; i < units_.size(); ++i) {
    if (encoding == Encoding::kUtf16Big) {
      AppendBigEndian(units_[i], 2, &text);
      continue;
    }
    int32_t code = units_[i];
    if (IsHigh(units_[i]) && i + 1 < units_.size() && IsLow(units_[i + 1])) {
      code = Paired(units_[i], units_[i + 1]);
      ++i;
    }
    if (encoding == Encoding::kUtf8) {
      AppendUtf8(IsSurrogate(static_cast<uint32_t>(code)) ? kReplacement : code, &text);
    } else {
      AppendBigEndian(static_cast<uint32_t>(code), 4, &text);
    }
  }
  return text;
}

}  // namespace stillflow
