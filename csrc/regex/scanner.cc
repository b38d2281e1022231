// scanner.cc: the characters of patterns, numbers and escapes among them.
#include "regex/scanner.h"

#include <cstring>

#include "regex/character_classes.h"
#include "regex/syntax.h"

namespace stillflow::regex {
namespace {

int HexadecimalDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

bool Scanner::Fail(const char* what, const char* from, const char* to) {
  *error_ = what;
  if (from != to) error_->append(": ").append(from, to);
  return false;
}

bool Scanner::IsUtf8() {
  for (const char* p = begin_; p < end_;) {
    int32_t rune;
    p += DecodeRune(p, end_ - p, &rune);
    if (rune < 0) return Fail("invalid UTF-8", begin_, begin_);
  }
  return true;
}

bool Scanner::StartsWith(const char* text) const {
  const size_t size = std::strlen(text);
  return static_cast<size_t>(end_ - at_) >= size && std::memcmp(at_, text, size) == 0;
}

int32_t Scanner::NextRune() {
  int32_t rune;
  at_ += DecodeRune(at_, end_ - at_, &rune);
  return rune;
}

bool Scanner::ReadCount(int* count) {
  if (at_ == end_ || *at_ < '0' || *at_ > '9') return false;
  *count = 0;
  for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
    if (*count >= 100000000) return false;
    *count = *count * 10 + (*at_ - '0');
  }
  return true;
}

bool Scanner::ReadEscape(int32_t* rune) {
  const char* start = at_;
  if (at_ + 1 >= end_) {
    *error_ = "trailing \\";
    return false;
  }
  ++at_;
  const int32_t c = NextRune();
  const bool is_alphanumeric = c < 0x80 && c != '_' && IsWordByte(static_cast<char>(c));
  if (c < 0x80 && !is_alphanumeric) {
    *rune = c;
    return true;
  }
  constexpr char kLetters[] = "afnrtv", kMeanings[] = "\a\f\n\r\t\v";
  if (const char* found = c < 0x80 ? std::strchr(kLetters, c) : nullptr; found != nullptr && c != 0) {
    *rune = kMeanings[found - kLetters];
    return true;
  }
  if (c >= '0' && c <= '7') {
    // \1 to \7 alone would be references to groups.
    if (c == '0' || (at_ < end_ && *at_ >= '0' && *at_ <= '7')) {
      *rune = c - '0';
      for (int i = 0; i < 2 && at_ < end_ && *at_ >= '0' && *at_ <= '7'; ++i) *rune = *rune * 8 + (*at_++ - '0');
      return true;
    }
  } else if (c == 'x') {
    if (ReadHexadecimal(rune)) return true;
  }
  return Fail("invalid escape sequence", start, at_);
}

// After "\x": two digits, or any number of them in braces.
bool Scanner::ReadHexadecimal(int32_t* rune) {
  if (at_ == end_) return false;
  *rune = 0;
  if (*at_ == '{') {
    ++at_;
    int count = 0;
    for (; at_ < end_; ++count) {
      const int digit = HexadecimalDigit(*at_);
      if (digit < 0) break;
      ++at_;
      *rune = *rune * 16 + digit;
      if (*rune > kMaxRune) return false;
    }
    if (at_ == end_) return false;
    const bool is_closed = *at_ == '}';
    NextRune();
    return is_closed && count > 0;
  }
  for (int i = 0; i < 2; ++i) {
    if (at_ == end_) return false;
    const int digit = HexadecimalDigit(*at_);
    NextRune();
    if (digit < 0) return false;
    *rune = *rune * 16 + digit;
  }
  return true;
}

}  // namespace stillflow::regex
