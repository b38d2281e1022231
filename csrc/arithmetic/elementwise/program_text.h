// program_text.h: how kernels write programs of their own, and name the rows that these run over.
#pragma once

#include <cstdio>
#include <string>

#include "arithmetic/elementwise/rows.h"

namespace stillflow {

// Writes the text of an elementwise program (program.h) whose values all have one type.
class ProgramText {
 public:
  ProgramText(const char* type, int input_count) : type_(type), next_(input_count) {}
  // Returns the register that an operation over registers sets.
  int Add(const char* name, int a, int b = -1, int c = -1) {
    char text[96];
    int length =
        std::snprintf(text, sizeof text, "%s%s %s %s %d", text_.empty() ? "" : "; ", name, type_, type_, next_);
    for (const int operand : {a, b, c}) {
      if (operand >= 0) length += std::snprintf(text + length, sizeof text - length, " %d", operand);
    }
    text_ += text;
    return next_++;
  }
  std::string With(std::initializer_list<int> outputs) const {
    std::string text = text_ + " |";
    for (const int output : outputs) text += " " + std::to_string(output);
    return text;
  }

 private:
  const char* type_;
  int next_;
  std::string text_;
};

// Operands: a matrix of rows `width` elements apart, one row for all, one element for all.
template <typename T>
RowOperand Rows(const T* data, int64_t width) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  return {reinterpret_cast<char*>(const_cast<T*>(data)), width * kBytes, kBytes};
}
template <typename T>
RowOperand Row(const T* data) {
  return {reinterpret_cast<char*>(const_cast<T*>(data)), 0, sizeof(T)};
}
template <typename T>
RowOperand Single(const T* data) {
  return {reinterpret_cast<char*>(const_cast<T*>(data)), 0, 0};
}

}  // namespace stillflow
