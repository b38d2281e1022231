// snappy.h: takes apart what Snappy has compressed. Nothing here compresses: TensorFlow does not, either.
#pragma once

#include <string>

#include "io/wire.h"

namespace stillflow::io {

// False for bytes that are not of this form, or that would become more than `most_bytes`.
bool DecompressSnappy(Bytes compressed, size_t most_bytes, std::string* to);

}  // namespace stillflow::io
