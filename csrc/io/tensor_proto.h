// tensor_proto.h: values as the message TensorProto has them in checkpoints of format V1: in the field of their type.
#pragma once

#include <string>

#include "io/data.h"
#include "io/wire.h"
#include "kernel_api/abi.h"

namespace stillflow::io {

// Whether the message has exactly `count` values of that type.
bool HasValues(Bytes proto, DType dtype, int64_t count);

// Take the values out of a message that has them.
void CopyValues(Bytes proto, DType dtype, void* to);
bool CopyStrings(Bytes proto, const StringSink& sink);

// Append the field with all values. False for types that have none.
bool AppendValues(DType dtype, const void* data, int64_t count, std::string* proto);
void AppendStrings(const StringSource& source, int64_t count, std::string* proto);

}  // namespace stillflow::io
