// message_fields.h: the fields of numbers in messages about trees, read and written as protocol buffers do.
#pragma once

#include <string>
#include <vector>

#include "io/message_writer.h"

namespace stillflow::boosted_trees {

inline void WriteFloat(uint32_t field, float value, io::MessageWriter* writer) {
  if (value != 0) writer->Float(field, value);
}

inline void WriteInt(uint32_t field, int64_t value, io::MessageWriter* writer) {
  writer->VarintUnlessZero(field, static_cast<uint64_t>(value));
}

inline void WriteFloats(uint32_t field, const std::vector<float>& values, io::MessageWriter* writer) {
  if (values.empty()) return;
  writer->Field(field, io::Bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

template <typename T>
void WriteInts(uint32_t field, const std::vector<T>& values, io::MessageWriter* writer) {
  if (values.empty()) return;
  std::string packed;
  for (const T value : values) io::AppendVarint(static_cast<uint64_t>(static_cast<int64_t>(value)), &packed);
  writer->Field(field, packed);
}

inline int32_t ReadInt(io::WireReader* reader) { return static_cast<int32_t>(reader->Varint()); }

inline float ReadFloat(io::WireReader* reader) {
  const uint32_t bits = reader->Fixed32();
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// One more number, or a packed list of them.
inline bool ReadFloats(io::WireReader* reader, std::vector<float>* values) {
  if (reader->type == io::WireType::kFixed32) {
    values->push_back(ReadFloat(reader));
    return reader->ok();
  }
  if (reader->type != io::WireType::kBytes) return false;
  io::WireReader packed(reader->LengthDelimited());
  while (!packed.done()) values->push_back(ReadFloat(&packed));
  return packed.ok();
}

template <typename T>
bool ReadInts(io::WireReader* reader, std::vector<T>* values) {
  if (reader->type == io::WireType::kVarint) {
    values->push_back(static_cast<T>(reader->Varint()));
    return reader->ok();
  }
  if (reader->type != io::WireType::kBytes) return false;
  io::WireReader packed(reader->LengthDelimited());
  while (!packed.done()) values->push_back(static_cast<T>(packed.Varint()));
  return packed.ok();
}

}  // namespace stillflow::boosted_trees
