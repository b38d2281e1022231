// lanes.h: reductions in a fixed number of lanes, in as many vector registers as these fill.
//
// Written with vector types, since compilers vectorize such loops only now and then. Results do not depend on the
// width of registers.
#pragma once

#include <utility>

#include "arithmetic/math/registers.h"
#include "arithmetic/math/scalar.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stillflow {

// a > b ? a : b, and a < b ? a : b; the compiler finds the instructions of integers only.
template <typename V>
STILLFLOW_INLINE V Larger(V a, V b) {
  return a > b ? a : b;
}
template <typename V>
STILLFLOW_INLINE V Smaller(V a, V b) {
  return a < b ? a : b;
}
#if defined(__AVX512F__)
STILLFLOW_INLINE Register<float> Larger(Register<float> a, Register<float> b) {
  return _mm512_maskz_max_ps(0xFFFF, a, b);
}
STILLFLOW_INLINE Register<float> Smaller(Register<float> a, Register<float> b) {
  return _mm512_maskz_min_ps(0xFFFF, a, b);
}
STILLFLOW_INLINE Register<double> Larger(Register<double> a, Register<double> b) {
  return _mm512_maskz_max_pd(0xFF, a, b);
}
STILLFLOW_INLINE Register<double> Smaller(Register<double> a, Register<double> b) {
  return _mm512_maskz_min_pd(0xFF, a, b);
}
#elif defined(__AVX2__)
STILLFLOW_INLINE Register<float> Larger(Register<float> a, Register<float> b) { return _mm256_max_ps(a, b); }
STILLFLOW_INLINE Register<float> Smaller(Register<float> a, Register<float> b) { return _mm256_min_ps(a, b); }
STILLFLOW_INLINE Register<double> Larger(Register<double> a, Register<double> b) { return _mm256_max_pd(a, b); }
STILLFLOW_INLINE Register<double> Smaller(Register<double> a, Register<double> b) { return _mm256_min_pd(a, b); }
#elif defined(__SSE2__)
STILLFLOW_INLINE Register<float> Larger(Register<float> a, Register<float> b) { return _mm_max_ps(a, b); }
STILLFLOW_INLINE Register<float> Smaller(Register<float> a, Register<float> b) { return _mm_min_ps(a, b); }
STILLFLOW_INLINE Register<double> Larger(Register<double> a, Register<double> b) { return _mm_max_pd(a, b); }
STILLFLOW_INLINE Register<double> Smaller(Register<double> a, Register<double> b) { return _mm_min_pd(a, b); }
#endif

// What is combined: Prepare takes elements, of vectors as well as single ones.
struct PlusLanes {
  template <typename V>
  STILLFLOW_INLINE static V Prepare(V a) {
    return a;
  }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return a + b;
  }
};
// NaN in b is passed over.
struct LargerLanes : PlusLanes {
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return Larger(b, a);
  }
};

// Whether a NaN was among registers of floats or doubles.
template <typename T>
class NaNWatch {
 public:
  STILLFLOW_INLINE void See(Register<T> a, Register<T> b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
      seen_ |= _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q);
    } else {
      seen_ |= _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q);
    }
#else
    seen_ |= (a != a) | (b != b);
#endif
  }
  STILLFLOW_INLINE bool HasSeen() const {
#if defined(__AVX512F__)
    return seen_ != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)seen_, (__m256i)seen_);
#elif defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)seen_) != 0;
#else
    uint64_t words[kRegisterBytes / 8];
    std::memcpy(words, &seen_, sizeof words);
    uint64_t any = 0;
    for (const uint64_t word : words) any |= word;
    return any != 0;
#endif
  }

 private:
#if defined(__AVX512F__)
  uint32_t seen_ = 0;
#else
  decltype(Register<T>{} != Register<T>{}) seen_ = {};
#endif
};

// As many elements as a register has lanes.
template <typename T>
STILLFLOW_INLINE Register<T> LoadLanes(const T* from) {
  Register<T> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
// The first `count` lanes of a register, `fill` in the others; their memory is not touched.
template <typename T>
STILLFLOW_INLINE Register<T> LoadFirst(const T* from, int64_t count, T fill) {
  constexpr int kWhole = kRegisterBytes / static_cast<int>(sizeof(T));
  const int lanes = count >= kWhole ? kWhole : (count > 0 ? static_cast<int>(count) : 0);
  const Register<T> filled = fill - Register<T>{};
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return (Register<T>)_mm512_mask_loadu_epi32((__m512i)filled, static_cast<__mmask16>((1u << lanes) - 1), from);
  } else {
    return (Register<T>)_mm512_mask_loadu_epi64((__m512i)filled, static_cast<__mmask8>((1u << lanes) - 1), from);
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i loaded = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask);
    return (Register<T>)_mm256_blendv_epi8((__m256i)filled, loaded, mask);
  } else {
    const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i loaded = _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), mask);
    return (Register<T>)_mm256_blendv_epi8((__m256i)filled, loaded, mask);
  }
#else
  Register<T> loaded = filled;
  for (int i = 0; i < lanes; ++i) loaded[i] = from[i];
  return loaded;
#endif
}

// Lane j is combined with lane j + n/2, then with lane j + n/4, ...
template <typename Op, typename T, int kBytes>
STILLFLOW_INLINE T CombineHalves(typename RegisterOf<T, kBytes>::type lanes) {
  if constexpr (kBytes == 2 * sizeof(T)) {
    return Op::Combine(lanes[0], lanes[1]);
  } else {
    using Half = typename RegisterOf<T, kBytes / 2>::type;
    Half halves[2];
    std::memcpy(halves, &lanes, kBytes);
    return CombineHalves<Op, T, kBytes / 2>(Op::Combine(halves[0], halves[1]));
  }
}

// The lanes of a register that begin each part of kPart lanes (kHalf 0), or each second half of one, of a, then of b.
template <int kPart, int kHalf, typename V, int... kLane>
STILLFLOW_INLINE V HalvesOfParts(V a, V b, std::integer_sequence<int, kLane...>) {
  constexpr int kHalfPart = kPart / 2;
  using Bits = decltype(a < b);
  return __builtin_shuffle(a, b, Bits{(kLane / kHalfPart * kPart + kLane % kHalfPart + kHalf * kHalfPart)...});
}

// CombineHalves of as many registers as one has lanes; lane i of the result is that of registers[i].
template <typename Op, typename T, int kLanes>
STILLFLOW_INLINE Register<T> CombineEachByHalves(Register<T> (&registers)[kLanes]) {
  if constexpr (kLanes == 1) {
    return registers[0];
  } else {
    constexpr int kPart = kLanes;  // lanes that are left of each
    using Lanes = std::make_integer_sequence<int, kRegisterBytes / static_cast<int>(sizeof(T))>;
    Register<T> pairs[kLanes / 2];
    for (int i = 0; i < kLanes / 2; ++i) {
      const Register<T> a = registers[2 * i];
      const Register<T> b = registers[2 * i + 1];
      pairs[i] = Op::Combine(HalvesOfParts<kPart, 0>(a, b, Lanes{}), HalvesOfParts<kPart, 1>(a, b, Lanes{}));
    }
    return CombineEachByHalves<Op, T>(pairs);
  }
}

// Elements that are combined in kCount lanes by position, then the lanes by halves. `start` changes nothing, prepared
// or not.
template <typename Op, int kCount, typename T>
class CombinedLanes {
 public:
  STILLFLOW_INLINE explicit CombinedLanes(T start) : start_(start) {
    for (int k = 0; k < kRegisters; ++k) lanes_[k] = start - Register<T>{};
  }

  // The next elements: a multiple of kCount unless they are the last.
  STILLFLOW_INLINE void Add(const T* from, int64_t count) {
    int64_t i = 0;
    for (; i + kCount <= count; i += kCount) {
      Register<T> loaded[kRegisters];
      for (int k = 0; k < kRegisters; ++k) loaded[k] = LoadLanes(from + i + k * kWhole);
      for (int k = 0; k < kRegisters; ++k) lanes_[k] = Op::Combine(lanes_[k], Op::Prepare(loaded[k]));
    }
#pragma GCC unroll 16
    for (int k = 0; k < kRegisters; ++k) {
      if (i + k * kWhole >= count) break;
      const Register<T> loaded = LoadFirst(from + i + k * kWhole, count - i - k * kWhole, start_);
      lanes_[k] = Op::Combine(lanes_[k], Op::Prepare(loaded));
    }
  }

  // Belong at the end: what has been combined, in a register's lanes or in one.
  STILLFLOW_INLINE Register<T> Folded() {
    for (int width = kRegisters / 2; width > 0; width /= 2) {
      for (int k = 0; k < width; ++k) lanes_[k] = Op::Combine(lanes_[k], lanes_[k + width]);
    }
    return lanes_[0];
  }
  STILLFLOW_INLINE T Total() { return CombineHalves<Op, T, kRegisterBytes>(Folded()); }

 private:
  static constexpr int kWhole = kRegisterBytes / static_cast<int>(sizeof(T));
  static constexpr int kRegisters = kCount / kWhole;

  const T start_;
  Register<T> lanes_[kRegisters];
};

template <typename Op, int kCount, typename T>
STILLFLOW_INLINE T CombineInLanes(const T* from, int64_t count, T start) {
  CombinedLanes<Op, kCount, T> lanes(start);
  lanes.Add(from, count);
  return lanes.Total();
}

// At least a register's elements, where neither order nor repetition matters: the last of a register overlap those
// before them.
template <typename Op, typename T>
STILLFLOW_INLINE T CombineInAnyOrder(const T* from, int64_t count, T start) {
  constexpr int kWhole = kRegisterBytes / static_cast<int>(sizeof(T));
  constexpr int kChains = 4;  // whose latencies overlap
  Register<T> chains[kChains];
  for (auto& chain : chains) chain = start - Register<T>{};
  int64_t i = 0;
  for (; i + kChains * kWhole <= count; i += kChains * kWhole) {
    for (int k = 0; k < kChains; ++k) chains[k] = Op::Combine(chains[k], LoadLanes(from + i + k * kWhole));
  }
  for (; i + kWhole <= count; i += kWhole) chains[0] = Op::Combine(chains[0], LoadLanes(from + i));
  chains[1] = Op::Combine(chains[1], LoadLanes(from + count - kWhole));
  chains[0] = Op::Combine(Op::Combine(chains[0], chains[1]), Op::Combine(chains[2], chains[3]));
  return CombineHalves<Op, T, kRegisterBytes>(chains[0]);
}

}  // namespace stillflow
