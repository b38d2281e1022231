#include "arithmetic/math/halves.h"

namespace stillflow {

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
