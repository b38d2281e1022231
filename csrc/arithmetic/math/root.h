// root.h: the square roots of as many numbers as fill a register.
//
// Processors with 512-bit registers take longer for a root than for a dozen other operations. There it is made of
// their estimate by Newton's method, and of what its square leaves (Markstein, "Computation of elementary functions
// on the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990). That ends in the rounded root from any estimate
// within 2^-14: tried for all floats, and for the doubles whose roots lie nearest to the middle of two numbers; of
// these 1 + 2^-52 alone, times powers of 4, is rounded up from three estimates in 100,000, none of them a tested
// processor's (test_root.py).
#pragma once

#include "arithmetic/math/lanes.h"
#include "arithmetic/math/polynomial.h"

namespace stillflow {

#if defined(__AVX512F__)

STILLFLOW_INLINE Register<float> InverseRootEstimate(Register<float> x) {
  return (Register<float>)_mm512_maskz_rsqrt14_ps(0xFFFF, (__m512)x);
}
STILLFLOW_INLINE Register<double> InverseRootEstimate(Register<double> x) {
  return (Register<double>)_mm512_maskz_rsqrt14_pd(0xFF, (__m512d)x);
}
STILLFLOW_INLINE Register<float> MultiplyAdd(Register<float> a, Register<float> b, Register<float> c) {
  return (Register<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
STILLFLOW_INLINE Register<double> MultiplyAdd(Register<double> a, Register<double> b, Register<double> c) {
  return (Register<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

// The least number of which a root's square leaves no denormal number.
template <typename T>
constexpr BitsOf<T> kLeastBitsOfRoot = sizeof(T) == 4 ? 0x0D800000 : 0x07B0000000000000;  // 2^-100; 2^-900

template <typename T>
STILLFLOW_INLINE Register<T> RootsByUnit(Register<T> x) {
  if constexpr (sizeof(T) == 4) {
    return (Register<T>)_mm512_maskz_sqrt_ps(0xFFFF, (__m512)x);
  } else {
    return (Register<T>)_mm512_maskz_sqrt_pd(0xFF, (__m512d)x);
  }
}

// For positive finite numbers that are far from zero.
template <typename T>
STILLFLOW_INLINE Register<T> RootsBySteps(Register<T> x) {
  const Register<T> middle = T{0.5} - Register<T>{};
  const Register<T> estimate = InverseRootEstimate(x);
  Register<T> root = x * estimate;
  Register<T> half_inverse = middle * estimate;
  for (int step = 0; step < (sizeof(T) == 4 ? 1 : 2); ++step) {
    const Register<T> error = MultiplyAdd(-root, half_inverse, middle);
    root = MultiplyAdd(root, error, root);
    half_inverse = MultiplyAdd(half_inverse, error, half_inverse);
  }
  return MultiplyAdd(MultiplyAdd(-root, root, x), half_inverse, root);
}

// Whether RootsBySteps does for all of them.
template <typename T>
STILLFLOW_INLINE bool AreFarFromZero(Register<T> a, Register<T> b) {
  using Bits = BitsOf<T>;
  constexpr Bits kRange = (kMostMagnitudeBits<T> + 1) - kLeastBitsOfRoot<T>;
  const Register<Bits> a_above = (Register<Bits>)a - kLeastBitsOfRoot<T>;
  const Register<Bits> b_above = (Register<Bits>)b - kLeastBitsOfRoot<T>;
  const auto above = (__m512i)(a_above > b_above ? a_above : b_above);
  const auto range = (__m512i)(kRange - Register<Bits>{});
  if constexpr (sizeof(T) == 4) {
    return _mm512_cmpge_epu32_mask(above, range) == 0;
  } else {
    return _mm512_cmpge_epu64_mask(above, range) == 0;
  }
}

// Roots of three registers, one by the unit for roots, which meanwhile works beside those for products.
constexpr int kRootRegisters = 3;
template <typename T>
STILLFLOW_INLINE void StoreRoots(const T* x, T* y) {
  constexpr int64_t kLanes = kRegisterBytes / static_cast<int64_t>(sizeof(T));
  Register<T> a;
  Register<T> b;
  Register<T> c;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, x + kLanes, sizeof b);
  std::memcpy(&c, x + 2 * kLanes, sizeof c);
  const bool are_far = AreFarFromZero<T>(a, b);
  c = RootsByUnit<T>(c);
  a = are_far ? RootsBySteps<T>(a) : RootsByUnit<T>(a);
  b = are_far ? RootsBySteps<T>(b) : RootsByUnit<T>(b);
  std::memcpy(y, &a, sizeof a);
  std::memcpy(y + kLanes, &b, sizeof b);
  std::memcpy(y + 2 * kLanes, &c, sizeof c);
}

#endif

// The roots of `count` numbers; y may be x.
template <typename T>
void StoreRoots(const T* x, T* y, int64_t count) {
  int64_t i = 0;
#if defined(__AVX512F__)
  constexpr int64_t kStep = kRootRegisters * kRegisterBytes / static_cast<int64_t>(sizeof(T));
  for (; i + kStep <= count; i += kStep) StoreRoots(x + i, y + i);
#endif
  for (; i < count; ++i) y[i] = Sqrt(x[i]);
}

}  // namespace stillflow
