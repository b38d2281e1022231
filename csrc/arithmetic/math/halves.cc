#include "arithmetic/math/halves.h"

#include "arithmetic/math/lanes.h"

namespace stillflow {
namespace {

// The instructions alone, which make another NaN of one, and whether there is one.
#if defined(__F16C__)
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
#endif

}  // namespace

// The instructions make other NaNs, so that registers with one of them are left to what all processors have.

void WidenHalves(const Half* from, int64_t count, float* to) {
  int64_t i = 0;
#if defined(__F16C__)
  constexpr int64_t kAtOnce = 2 * kHalfLanes;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const Register<float> first = LoadLanes(from + i);
    const Register<float> second = LoadLanes(from + i + kHalfLanes);
    std::memcpy(to + i, &first, sizeof first);
    std::memcpy(to + i + kHalfLanes, &second, sizeof second);
    if (!__builtin_expect(HasNaN(first, second), false)) continue;
    for (int64_t k = i; k < i + kAtOnce; ++k) to[k] = Widen(from[k]);
  }
#endif
  for (; i < count; ++i) to[i] = Widen(from[i]);
}

void WidenHalves(const BFloat16* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = Widen(from[i]);
}

void NarrowToHalves(const float* from, int64_t count, Half* to) {
  int64_t i = 0;
#if defined(__F16C__)
  constexpr int64_t kAtOnce = 2 * kHalfLanes;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    Register<float> first;
    Register<float> second;
    std::memcpy(&first, from + i, sizeof first);
    std::memcpy(&second, from + i + kHalfLanes, sizeof second);
    StoreLanes(first, to + i);
    StoreLanes(second, to + i + kHalfLanes);
    if (!__builtin_expect(HasNaN(first, second), false)) continue;
    for (int64_t k = i; k < i + kAtOnce; ++k) to[k] = Narrow<Half>(from[k]);
  }
#endif
  for (; i < count; ++i) to[i] = Narrow<Half>(from[i]);
}

}  // namespace stillflow
