// cpu.h: what depends on the processor: its instruction sets and its floating-point mode.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stillflow {

// The instruction sets this processor runs, best first, null-terminated: "avx512", "avx2", "baseline" on
// x86-64; "neon" on AArch64.
const char* const* SupportedIsas();

inline void PauseCpu() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// For its lifetime: round to nearest, no traps, denormals flushed to zero, as TensorFlow's threads do.
class FloatMode {
 public:
  FloatMode() {
#if defined(__x86_64__)
    saved_ = _mm_getcsr();
    constexpr uint32_t kMaskAll = 0x1F80;
    constexpr uint32_t kFlushToZero = 0x8000;
    constexpr uint32_t kDenormalsAreZero = 0x0040;
    _mm_setcsr(kMaskAll | kFlushToZero | kDenormalsAreZero);
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    constexpr uint64_t kFlushToZero = uint64_t{1} << 24;
    asm volatile("msr fpcr, %0" : : "r"(kFlushToZero));
#endif
  }
  ~FloatMode() {
#if defined(__x86_64__)
    _mm_setcsr(static_cast<uint32_t>(saved_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(saved_));
#endif
  }
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  uint64_t saved_ = 0;
};

// For its lifetime: what programs expect of arithmetic that is not the engine's.
class HostFloatMode {
 public:
  HostFloatMode() {
#if defined(__x86_64__)
    saved_ = _mm_getcsr();
    constexpr uint32_t kMaskAll = 0x1F80;
    _mm_setcsr(kMaskAll);
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
#endif
  }
  ~HostFloatMode() {
#if defined(__x86_64__)
    _mm_setcsr(static_cast<uint32_t>(saved_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(saved_));
#endif
  }
  HostFloatMode(const HostFloatMode&) = delete;
  HostFloatMode& operator=(const HostFloatMode&) = delete;

 private:
  uint64_t saved_ = 0;
};

}  // namespace stillflow
