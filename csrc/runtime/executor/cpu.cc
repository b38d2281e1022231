#include "runtime/executor/cpu.h"

namespace stillflow {

const char* const* SupportedIsas() {
#if defined(__x86_64__)
  static const char* const kAvx512[] = {"avx512", "avx2", "baseline", nullptr};
  static const char* const kAvx2[] = {"avx2", "baseline", nullptr};
  static const char* const kBaseline[] = {"baseline", nullptr};
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return kAvx512;
  return has_avx2 ? kAvx2 : kBaseline;
#else
  static const char* const kNeon[] = {"neon", nullptr};
  return kNeon;
#endif
}

}  // namespace stillflow
