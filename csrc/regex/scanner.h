// scanner.h: reads the characters of a pattern, and numbers and escapes among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace stillflow::regex {

class Scanner {
 public:
  Scanner(const char* pattern, size_t size, std::string* error)
      : begin_(pattern), at_(pattern), end_(pattern + size), error_(error) {}

 protected:
  // Says what is wrong, and with which part of the pattern; returns false.
  bool Fail(const char* what, const char* from, const char* to);

  bool IsUtf8();
  bool StartsWith(const char* text) const;
  int32_t NextRune();
  // A decimal number. False if there is none, or it has too many digits.
  bool ReadCount(int* count);
  // The character that a backslash and what follows it stand for.
  bool ReadEscape(int32_t* rune);

  const char* begin_;
  const char* at_;  // what is read next
  const char* end_;
  std::string* error_;

 private:
  bool ReadHexadecimal(int32_t* rune);
};

}  // namespace stillflow::regex
