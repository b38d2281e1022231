// halves.h: runs of 16-bit floats made floats and back, by the instructions that processors have for it.
#pragma once

#include "arithmetic/math/lanes.h"

namespace stillflow {

// As Widen and Narrow do it, NaN included.
void WidenHalves(const Half* from, int64_t count, float* to);
void WidenHalves(const BFloat16* from, int64_t count, float* to);
void NarrowToHalves(const float* from, int64_t count, Half* to);

// The instructions alone, which make another NaN of one, and whether there is one.
#if defined(__F16C__)
constexpr bool kHasHalfLanes = true;
constexpr int64_t kHalfLanes = kRegisterBytes / 4;  // that a register of floats is made of
#if defined(__AVX512F__)
constexpr __mmask16 kAllHalfLanes = 0xFFFF;  // without it the compiler warns of what its own header leaves unset
#endif
STILLFLOW_INLINE Register<float> LoadLanes(const Half* from) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtph_ps(kAllHalfLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
}
STILLFLOW_INLINE void StoreLanes(Register<float> value, Half* to) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_maskz_cvtps_ph(kAllHalfLanes, value, _MM_FROUND_TO_NEAREST_INT));
#else
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#endif
}
STILLFLOW_INLINE bool HasNaN(Register<float> a, Register<float> b) {
  NaNWatch<float> watch;
  watch.See(a, b);
  return watch.HasSeen();
}
#else
constexpr bool kHasHalfLanes = false;
#endif

}  // namespace stillflow
