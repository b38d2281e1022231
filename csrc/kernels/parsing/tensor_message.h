// tensor_message.h: tensors as serialized TensorProto messages.
#pragma once

#include "kernels/guarded.h"

namespace stillflow {

// Strings stand in their own field, all else as raw bytes.
inline std::string SerializedTensor(const Tensor& tensor) {
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
  if (tensor.dtype == DType::kString) {
    for (int64_t i = 0; i < tensor.count; ++i) {
      writer.Field(kStringVal, StringAt(tensor, i));
    }
  } else if (tensor.count > 0) {
    writer.Field(kTensorContent,
                 io::Bytes(static_cast<const char*>(tensor.data), tensor.count * ElementBytes(tensor.dtype)));
  }
  return message;
}

}  // namespace stillflow
