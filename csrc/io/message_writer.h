// message_writer.h: the fields of a message, written one after the other.
#pragma once

#include "io/wire.h"

namespace stillflow::io {

class MessageWriter {
 public:
  explicit MessageWriter(std::string* out) : out_(out) {}

  void Varint(uint32_t field, uint64_t value) { AppendVarintField(field, value, out_); }
  void Float(uint32_t field, float value) { AppendFloatField(field, value, out_); }
  void Field(uint32_t field, Bytes value) { AppendBytesField(field, value, out_); }
  void Field(uint32_t field, const std::string& value) { Field(field, Bytes(value)); }

  // Scalars of proto3 that have their default are left out.
  void VarintUnlessZero(uint32_t field, uint64_t value) {
    if (value != 0) Varint(field, value);
  }
  void DoubleUnlessZero(uint32_t field, double value) {
    if (value != 0) AppendDoubleField(field, value, out_);
  }
  void FieldUnlessEmpty(uint32_t field, const std::string& value) {
    if (!value.empty()) Field(field, value);
  }

 private:
  std::string* out_;
};

}  // namespace stillflow::io
