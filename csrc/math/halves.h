// halves.h: runs of 16-bit floats made floats and back, by the instructions that processors have for it.
#pragma once

#include "math/lanes.h"

namespace stillflow {

// As Widen and Narrow do it, NaN included.
void WidenHalves(const Half* from, int64_t count, float* to);
void NarrowToHalves(const float* from, int64_t count, Half* to);

// The instruction alone, which makes another NaN of one.
#if defined(__F16C__)
constexpr bool kHasHalfLanes = true;
STILLFLOW_INLINE Register<float> LoadLanes(const Half* from) {
#if defined(__AVX512F__)
  constexpr __mmask16 kAllLanes = 0xFFFF;  // without it the compiler warns of what its own header leaves unset
  return _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
}
#else
constexpr bool kHasHalfLanes = false;
#endif

}  // namespace stillflow
