// halves.h: runs of 16-bit floats made floats and back, by the instructions that processors have for it.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

// As Widen and Narrow do it, NaN included.
void WidenHalves(const Half* from, int64_t count, float* to);
void WidenHalves(const BFloat16* from, int64_t count, float* to);
void NarrowToHalves(const float* from, int64_t count, Half* to);

}  // namespace stillflow
