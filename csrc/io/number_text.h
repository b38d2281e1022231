// number_text.h: numbers read from text, as TensorFlow reads them: white space around them is skipped, floats are
// rounded to the nearest, "0x" is hexadecimal for floats, which are 0 where there is only white space, and integers
// must fit.
#pragma once

#include <cstdint>

#include "io/wire.h"

namespace stillflow::io {

// Each returns false, and leaves `value` alone, if the text is no such number.
bool ParseNumber(Bytes text, int32_t* value);
bool ParseNumber(Bytes text, int64_t* value);
bool ParseNumber(Bytes text, float* value);  // infinite where it is too large
bool ParseNumber(Bytes text, double* value);

}  // namespace stillflow::io
