#include "io/tensor_proto.h"

#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr uint32_t kContentField = 4;
constexpr uint32_t kStringField = 8;

// Where the values of a type stand: in numbers of `unit` bytes, which are varints where `is_varint`.
struct Field {
  uint32_t number = 0;
  bool is_varint = false;
  int64_t unit = 0;
};

Field FieldOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return {5, false, 4};
    case DType::kDouble:
      return {6, false, 8};
    case DType::kComplex64:
      return {9, false, 4};
    case DType::kComplex128:
      return {12, false, 8};
    case DType::kInt64:
      return {10, true, 8};
    case DType::kBool:
      return {11, true, 1};
    case DType::kHalf:
    case DType::kBFloat16:
      return {13, true, 2};
    case DType::kUInt32:
      return {16, true, 4};
    case DType::kUInt64:
      return {17, true, 8};
    case DType::kInt32:
    case DType::kUInt8:
    case DType::kInt16:
    case DType::kInt8:
    case DType::kQInt8:
    case DType::kQUInt8:
    case DType::kQInt32:
    case DType::kQInt16:
    case DType::kQUInt16:
    case DType::kUInt16:
      return {7, true, ElementBytes(dtype)};
    default:
      return {};
  }
}

// Calls visit(bytes of one number) for all numbers of the field, packed or not. False for what is malformed.
template <typename Visitor>
bool VisitNumbers(Bytes proto, const Field& field, Visitor visit) {
  const WireType single = field.is_varint   ? WireType::kVarint
                          : field.unit == 4 ? WireType::kFixed32
                                            : WireType::kFixed64;
  const auto take = [&](WireReader* from) {
    const uint64_t value = field.is_varint ? from->Varint() : field.unit == 4 ? from->Fixed32() : from->Fixed64();
    if (from->ok()) visit(reinterpret_cast<const char*>(&value));
  };
  WireReader reader(proto);
  while (reader.NextField()) {
    if (reader.Is(field.number, single)) {
      take(&reader);
    } else if (reader.Is(field.number, WireType::kBytes)) {
      WireReader packed(reader.LengthDelimited());
      while (!packed.done()) take(&packed);
      if (!packed.ok()) return false;
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

// The last field of that number which has bytes.
Bytes BytesField(Bytes proto, uint32_t number) {
  Bytes found;
  WireReader reader(proto);
  while (reader.NextField()) {
    if (reader.Is(number, WireType::kBytes)) {
      found = reader.LengthDelimited();
    } else {
      reader.Skip();
    }
  }
  return found;
}

template <typename Visitor>
bool VisitStrings(Bytes proto, Visitor visit) {
  WireReader reader(proto);
  while (reader.NextField()) {
    if (!reader.Is(kStringField, WireType::kBytes)) {
      reader.Skip();
    } else if (!visit(reader.LengthDelimited())) {
      return false;
    }
  }
  return reader.ok();
}

}  // namespace

bool HasValues(Bytes proto, DType dtype, int64_t count) {
  int64_t found = 0;
  if (dtype == DType::kString) {
    return VisitStrings(proto, [&](Bytes) { return ++found <= count; }) && found == count;
  }
  const Field field = FieldOf(dtype);
  if (field.number == 0) return false;
  const Bytes content = BytesField(proto, kContentField);
  if (content.size > 0) return content.size / ElementBytes(dtype) == static_cast<size_t>(count);
  return VisitNumbers(proto, field, [&](const char*) { ++found; }) &&
         found % (ElementBytes(dtype) / field.unit) == 0 && found / (ElementBytes(dtype) / field.unit) == count;
}

void CopyValues(Bytes proto, DType dtype, void* to) {
  const Field field = FieldOf(dtype);
  const Bytes content = BytesField(proto, kContentField);
  if (content.size > 0) {
    std::memcpy(to, content.data, content.size / ElementBytes(dtype) * ElementBytes(dtype));
    return;
  }
  auto* next = static_cast<char*>(to);
  VisitNumbers(proto, field, [&](const char* bytes) {  // the low bytes of a number come first
    const char is_true = bytes[0] != 0;
    std::memcpy(next, dtype == DType::kBool ? &is_true : bytes, field.unit);
    next += field.unit;
  });
}

bool CopyStrings(Bytes proto, const StringSink& sink) {
  int64_t index = 0;
  return VisitStrings(proto, [&](Bytes value) { return sink(index++, value); });
}

bool AppendValues(DType dtype, const void* data, int64_t count, std::string* proto) {
  const Field field = FieldOf(dtype);
  if (field.number == 0) return false;
  const bool is_unsigned = dtype == DType::kUInt8 || dtype == DType::kQUInt8 || dtype == DType::kUInt16 ||
                           dtype == DType::kQUInt16 || dtype == DType::kUInt32 || dtype == DType::kHalf ||
                           dtype == DType::kBFloat16 || dtype == DType::kBool;
  const int64_t bytes = count * ElementBytes(dtype);
  if (bytes == 0) return true;
  std::string packed;
  const auto* from = static_cast<const char*>(data);
  for (int64_t at = 0; field.is_varint && at < bytes; at += field.unit) {
    const bool is_negative = !is_unsigned && from[at + field.unit - 1] < 0;
    uint64_t value = is_negative ? ~uint64_t{0} : 0;
    std::memcpy(&value, from + at, field.unit);
    AppendVarint(value, &packed);
  }
  AppendBytesField(field.number, field.is_varint ? Bytes(packed) : Bytes(from, bytes), proto);
  return true;
}

void AppendStrings(const StringSource& source, int64_t count, std::string* proto) {
  for (int64_t i = 0; i < count; ++i) AppendBytesField(kStringField, source(i), proto);
}

}  // namespace stillflow::io
