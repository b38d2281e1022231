// snappy.h: decompresses Snappy. Nothing here compresses: TensorFlow writes none either.
#pragma once

#include <string>

#include "io/wire.h"

namespace stillflow::io {

// False for bytes that are not of this form, or that would become more than `most_bytes`.
bool DecompressSnappy(Bytes compressed, size_t most_bytes, std::string* to);

}  // namespace stillflow::io
