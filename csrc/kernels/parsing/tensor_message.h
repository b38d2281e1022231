// tensor_message.h: tensors as serialized TensorProto messages, and back.
#pragma once

#include "io/tensor_proto.h"
#include "kernels/guarded.h"

namespace stillflow {

// All but strings stand as raw bytes; these in their own field, or, if `is_packed`, as their lengths and then their
// bytes in one.
inline std::string SerializedTensor(const Tensor& tensor, bool is_packed = false) {
  enum { kDType = 1, kTensorShape = 2, kTensorContent = 4, kStringVal = 8 };
  std::string shape, message;
  for (int i = 0; i < tensor.rank; ++i) {
    std::string dim;
    io::MessageWriter(&dim).VarintUnlessZero(1, static_cast<uint64_t>(tensor.dims[i]));
    io::MessageWriter(&shape).Field(2, dim);
  }
  io::MessageWriter writer(&message);
  writer.Varint(kDType, static_cast<uint64_t>(tensor.dtype));
  writer.Field(kTensorShape, shape);
  if (tensor.dtype == DType::kString && is_packed) {
    std::string content;
    for (int64_t i = 0; i < tensor.count; ++i) io::AppendVarint(StringAt(tensor, i).size, &content);
    for (int64_t i = 0; i < tensor.count; ++i) content.append(StringAt(tensor, i).data, StringAt(tensor, i).size);
    if (tensor.count > 0) writer.Field(kTensorContent, io::Bytes(content));
  } else if (tensor.dtype == DType::kString) {
    for (int64_t i = 0; i < tensor.count; ++i) {
      writer.Field(kStringVal, StringAt(tensor, i));
    }
  } else if (tensor.count > 0) {
    writer.Field(kTensorContent,
                 io::Bytes(static_cast<const char*>(tensor.data), tensor.count * ElementBytes(tensor.dtype)));
  }
  return message;
}

// ---- Reading
// --------------------------------------------------------------------------------------------------------

inline bool ReadMessageShape(io::Bytes message, Shape* shape) {
  io::WireReader reader(message);
  while (reader.NextField()) {
    if (!reader.Is(2, io::WireType::kBytes)) {
      reader.Skip();
      continue;
    }
    io::WireReader dim(reader.LengthDelimited());
    int64_t size = 0;
    while (dim.NextField()) {
      if (dim.Is(1, io::WireType::kVarint)) {
        size = static_cast<int64_t>(dim.Varint());
      } else {
        dim.Skip();
      }
    }
    if (!dim.ok() || size < 0 || shape->rank == kMaxRank) return false;
    shape->Add(size);
  }
  return reader.ok();
}

// What is in the values' own fields: as many as there are elements, or one for all of them.
inline Status TakeMessageValues(const KernelCall& call, io::Bytes message, bool* is_valid, Tensor* tensor) {
  const DType dtype = tensor->dtype;
  const bool is_one = tensor->count > 1 && io::HasValues(message, dtype, 1);
  if (!is_one && !io::HasValues(message, dtype, tensor->count)) return Status();
  *is_valid = true;
  if (dtype == DType::kString) {
    auto** const cells = MutableData<StringCell*>(*tensor);
    const bool is_copied = io::CopyStrings(message, [&](int64_t index, io::Bytes value) {
      return SetString(call, tensor, index, value.data, static_cast<int64_t>(value.size));
    });
    if (!is_copied) return OutOfScratch();
    for (int64_t i = 1; is_one && i < tensor->count; ++i) {
      cells[0]->references.fetch_add(1, std::memory_order_relaxed);
      cells[i] = cells[0];
    }
    return Status();
  }
  io::CopyValues(message, dtype, tensor->data);
  const int64_t bytes = ElementBytes(dtype);
  for (int64_t i = 1; is_one && i < tensor->count; ++i) {
    std::memcpy(MutableData<char>(*tensor) + i * bytes, tensor->data, bytes);
  }
  return Status();
}

// Strings that stand as their lengths and then their bytes.
inline Status TakePackedStrings(const KernelCall& call, io::Bytes content, bool* is_valid, Tensor* tensor) {
  io::WireReader lengths(content);
  uint64_t total = 0;
  for (int64_t i = 0; i < tensor->count && lengths.ok(); ++i) {
    const uint64_t length = lengths.Varint();
    if (length > content.size) return Status();
    total += length;
  }
  if (!lengths.ok() || total != lengths.left()) return Status();
  io::WireReader again(content);
  const char* at = lengths.at();
  for (int64_t i = 0; i < tensor->count; ++i) {
    const auto length = static_cast<int64_t>(again.Varint());
    if (!SetString(call, tensor, i, at, length)) return OutOfScratch();
    at += length;
  }
  *is_valid = true;
  return Status();
}

// The tensor of a message. `is_valid` is false for what is none.
inline Status ParseTensorMessage(const KernelCall& call, io::Bytes message, bool* is_valid, Tensor* tensor) {
  *is_valid = false;
  io::WireReader reader(message);
  auto dtype = DType::kInvalid;
  Shape shape;
  io::Bytes content;
  while (reader.NextField()) {
    if (reader.Is(1, io::WireType::kVarint)) {
      dtype = static_cast<DType>(reader.Varint());
    } else if (reader.Is(2, io::WireType::kBytes)) {
      if (!ReadMessageShape(reader.LengthDelimited(), &shape)) return Status();
    } else if (reader.Is(4, io::WireType::kBytes)) {
      content = reader.LengthDelimited();
    } else {
      reader.Skip();
    }
  }
  int64_t count = 0;
  const bool is_kept = dtype != DType::kResource && dtype != DType::kVariant && ElementBytes(dtype) > 0;
  if (!reader.ok() || !is_kept || !CheckedCount(shape, &count).ok()) return Status();
  const bool has_content = content.size > 0 && dtype != DType::kString;
  int64_t bytes = 0;
  if (has_content) {
    if (__builtin_mul_overflow(count, ElementBytes(dtype), &bytes) || static_cast<int64_t>(content.size) != bytes) {
      return Status();
    }
  }
  // Each string has a length of a byte or more: none may be claimed that are not there.
  const bool is_packed = content.size > 0 && dtype == DType::kString;
  if (is_packed && count > static_cast<int64_t>(content.size)) return Status();
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, dtype, shape, tensor));
  if (is_packed) return TakePackedStrings(call, content, is_valid, tensor);
  if (has_content || count == 0) {
    *is_valid = true;
    if (bytes > 0) std::memcpy(tensor->data, content.data, bytes);
    return Status();
  }
  return TakeMessageValues(call, message, is_valid, tensor);
}

}  // namespace stillflow
