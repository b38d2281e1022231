// unicode_text.h: text in the encodings of Unicode, and in the two of single bytes that are its beginning.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/guarded.h"

namespace stillflow {

enum class Encoding { kUtf8, kUtf16, kUtf16Big, kUtf16Little, kUtf32, kUtf32Big, kUtf32Little, kLatin1, kAscii };

// False for a name of no encoding here. Case, "-", "_" and " " do not count.
bool EncodingOf(io::Bytes name, Encoding* encoding);

struct Character {
  int32_t code;   // meaningless if it is malformed
  int64_t begin;  // its first byte
  bool is_malformed;
};

// Reads characters from left to right. Of what is malformed each longest beginning of a character counts as one.
class CharacterReader {
 public:
  CharacterReader(io::Bytes text, Encoding encoding);
  // False at the end.
  bool Next(Character* character);

 private:
  size_t Left() const { return text_.size - at_; }
  uint32_t Byte(size_t i) const { return static_cast<unsigned char>(text_.data[at_ + i]); }
  uint32_t Unit(size_t i, int bytes) const;
  size_t Utf8(int32_t* code) const;
  size_t Utf16(int32_t* code) const;
  size_t Utf32(int32_t* code) const;

  io::Bytes text_;
  Encoding encoding_;
  bool is_little_ = false;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the next character: a mark of the byte order belongs to the first
};

// Code points as text. As in UTF-16, surrogates that form a pair are one character; others become U+FFFD in UTF-8.
class CharacterWriter {
 public:
  void Append(int32_t code);
  // The text so far, in kUtf8, kUtf16Big or kUtf32Big.
  std::string Encoded(Encoding encoding) const;

 private:
  std::u16string units_;
};

}  // namespace stillflow
