// vector.h: vectors as wide as the instruction set's registers, and the few operations that products need.
#pragma once

#include "arithmetic/math/scalar.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace stillflow::gemm {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <typename T>
using Vector = typename VectorOf<T>::type;
template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <typename T>
STILLFLOW_INLINE Vector<T> Load(const T* from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <typename T>
STILLFLOW_INLINE void Store(Vector<T> v, T* to) {
  __builtin_memcpy(to, &v, sizeof v);
}
// Keeps the compiler from loading the vector anew for each of its uses.
template <typename T>
STILLFLOW_INLINE void KeepInRegister(Vector<T>* v) {
#if defined(__x86_64__)
  asm("" : "+v"(*v));
#elif defined(__aarch64__)
  asm("" : "+w"(*v));
#endif
}
template <typename T>
STILLFLOW_INLINE Vector<T> Broadcast(T x) {
  return x - Vector<T>{};  // x - 0 is x for every x, -0 included
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// All bits of the first `count` lanes.
template <typename T>
STILLFLOW_INLINE __m256i FirstLanes(int count) {
  if constexpr (sizeof(T) == 4) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  } else {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
}
#endif

// The first `count` lanes; the others are zero and their memory is not touched.
template <typename T>
STILLFLOW_INLINE Vector<T> LoadPartial(const T* from, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), from);
  } else {
    return (Vector<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), from);
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm256_maskload_epi32(reinterpret_cast<const int*>(from), FirstLanes<T>(count));
  } else {
    return (Vector<T>)_mm256_maskload_epi64(reinterpret_cast<const long long*>(from), FirstLanes<T>(count));
  }
#else
  Vector<T> v{};
  for (int i = 0; i < count; ++i) v[i] = from[i];
  return v;
#endif
}

template <typename T>
STILLFLOW_INLINE void StorePartial(Vector<T> v, T* to, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << count) - 1), (__m512i)v);
  } else {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << count) - 1), (__m512i)v);
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), FirstLanes<T>(count), (__m256i)v);
  } else {
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), FirstLanes<T>(count), (__m256i)v);
  }
#else
  for (int i = 0; i < count; ++i) to[i] = v[i];
#endif
}

// ---- Multiply-add -----------------------------------------------------------------------------------------

#if !defined(__AVX2__) && !defined(__aarch64__)
// Fma of scalar.h on two lanes.
typedef double DoublePair __attribute__((vector_size(16)));
typedef int64_t IntPair __attribute__((vector_size(16)));
STILLFLOW_INLINE DoublePair AddRoundedToOdd(DoublePair product, DoublePair addend) {
  const DoublePair sum = product + addend;
  const DoublePair rounded_addend = sum - product;
  const DoublePair error = (product - (sum - rounded_addend)) + (addend - rounded_addend);
  const IntPair bits = (IntPair)sum;
  const IntPair is_above = error > 0;
  const IntPair is_inexact = is_above | (error < 0);
  const IntPair toward_error = ((is_above ^ (sum > 0)) << 1) + 1;  // 1 away from zero, -1 toward it
  const IntPair is_even = (bits & 1) - 1;
  return (DoublePair)(bits + (toward_error & is_inexact & is_even));
}
#endif

// a * b + c, in floating point rounded once; integers wrap around.
template <typename T>
STILLFLOW_INLINE Vector<T> MulAdd(Vector<T> a, Vector<T> b, Vector<T> c) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = Vector<std::make_unsigned_t<T>>;
    return (Vector<T>)((Unsigned)a * (Unsigned)b + (Unsigned)c);
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return _mm512_fmadd_ps(a, b, c);
    if constexpr (sizeof(T) == 8) return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return _mm256_fmadd_ps(a, b, c);
    if constexpr (sizeof(T) == 8) return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
    if constexpr (sizeof(T) == 4) return vfmaq_f32(c, a, b);
    if constexpr (sizeof(T) == 8) return vfmaq_f64(c, a, b);
#else
    if constexpr (sizeof(T) == 4) {
      // Products in double are exact. GCC 12 gets this wrong at -O2 in some callers when lanes are converted one by
      // one.
      const DoublePair low = AddRoundedToOdd(_mm_cvtps_pd(a) * _mm_cvtps_pd(b), _mm_cvtps_pd(c));
      const DoublePair high = AddRoundedToOdd(_mm_cvtps_pd(_mm_movehl_ps(a, a)) * _mm_cvtps_pd(_mm_movehl_ps(b, b)),
                                              _mm_cvtps_pd(_mm_movehl_ps(c, c)));
      return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
    }
    if constexpr (sizeof(T) == 8) return Vector<T>{Fma(a[0], b[0], c[0]), Fma(a[1], b[1], c[1])};
#endif
  }
}

// One NaN for all: which of several NaN operands a processor hands on depends on how the operation is encoded.
template <typename T>
STILLFLOW_INLINE Vector<T> CanonicalNaN(Vector<T> v) {
  if constexpr (std::is_integral_v<T>) {
    return v;
  } else {
    constexpr T kNaN = sizeof(T) == 4 ? static_cast<T>(__builtin_nanf("")) : static_cast<T>(__builtin_nan(""));
    return v == v ? v : Broadcast(kNaN);
  }
}

// ---- Transposition ----------------------------------------------------------------------------------------

// Interleaves the halves of (x, y): x0 y0 x1 y1 ..., from lane `first` of each.
template <typename T, int kFirst>
STILLFLOW_INLINE Vector<T> Interleave(Vector<T> x, Vector<T> y) {
  using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  Vector<Index> index;
  for (int i = 0; i < kLanes<T>; ++i) index[i] = kFirst + i / 2 + (i % 2) * kLanes<T>;
  return __builtin_shuffle(x, y, index);
}

// Transposes a square of as many rows as a vector has lanes.
template <typename T>
STILLFLOW_INLINE void Transpose(Vector<T>* rows) {
  constexpr int kCount = kLanes<T>;
#pragma GCC unroll 4
  for (int stage = 1; stage < kCount; stage *= 2) {
    Vector<T> mixed[kCount];
#pragma GCC unroll 8
    for (int i = 0; i < kCount / 2; ++i) {
      mixed[2 * i] = Interleave<T, 0>(rows[i], rows[i + kCount / 2]);
      mixed[2 * i + 1] = Interleave<T, kCount / 2>(rows[i], rows[i + kCount / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) rows[i] = mixed[i];
  }
}

#if defined(__AVX2__)
// Lanes in 16 bytes, within which the shuffle unit is at its fastest.
template <typename T>
constexpr int kLanesWithin = 16 / static_cast<int>(sizeof(T));

// Interleaves the low, or the high, halves of x and y within each 16 bytes.
template <typename T, bool kHigh>
STILLFLOW_INLINE Vector<T> InterleaveWithin(Vector<T> x, Vector<T> y) {
  using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr int kWithin = kLanesWithin<T>;
  Vector<Index> index;
  for (int i = 0; i < kLanes<T>; ++i) {
    index[i] = i / kWithin * kWithin + kHigh * kWithin / 2 + i % kWithin / 2 + (i % 2) * kLanes<T>;
  }
  return __builtin_shuffle(x, y, index);
}

// Transposes the square that the vectors hold within each 16 bytes.
template <typename T>
STILLFLOW_INLINE void TransposeWithin(const Vector<T>* x, Vector<T>* to) {
  if constexpr (sizeof(T) == 8) {
    to[0] = InterleaveWithin<T, false>(x[0], x[1]);
    to[1] = InterleaveWithin<T, true>(x[0], x[1]);
  } else {
    const Vector<T> low02 = InterleaveWithin<T, false>(x[0], x[2]), high02 = InterleaveWithin<T, true>(x[0], x[2]);
    const Vector<T> low13 = InterleaveWithin<T, false>(x[1], x[3]), high13 = InterleaveWithin<T, true>(x[1], x[3]);
    to[0] = InterleaveWithin<T, false>(low02, low13);
    to[1] = InterleaveWithin<T, true>(low02, low13);
    to[2] = InterleaveWithin<T, false>(high02, high13);
    to[3] = InterleaveWithin<T, true>(high02, high13);
  }
}

// Half a vector from each of two places: the load puts the second into its place.
template <typename T>
STILLFLOW_INLINE Vector<T> LoadHalves(const T* low, const T* high) {
#if defined(__AVX512F__)
  const __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low)));
  return (Vector<T>)_mm512_maskz_inserti64x4(0xFF, v, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)), 1);
#else
  const __m256i v = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low)));
  return (Vector<T>)_mm256_inserti128_si256(v, _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
#endif
}
#endif

// Whether LoadTransposed is so quick that a product with few rows does better without a copy.
#if defined(__AVX2__)
constexpr bool kTransposesInTiles = true;
#else
constexpr bool kTransposesInTiles = false;
#endif

// The transpose of the square whose row r starts at from + r * stride.
template <typename T>
STILLFLOW_INLINE void LoadTransposed(const T* from, int64_t stride, Vector<T>* columns) {
#if defined(__AVX512F__)
  // Four parts of 16 bytes in a vector: of rows r and r + kWithin, columns c and c + kWithin. Eight rows are read
  // to their end before the others, for all may compete for the same lines of L1.
  constexpr int kWithin = kLanesWithin<T>;
  Vector<T> parts[2][2 * kWithin];
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    Vector<T> x[2][kWithin];
#pragma GCC unroll 4
    for (int r = 0; r < kWithin; ++r) {
      const T* row = from + (half * 2 * kWithin + r) * stride;
      x[0][r] = LoadHalves<T>(row, row + kWithin * stride);
      x[1][r] = LoadHalves<T>(row + 2 * kWithin, row + kWithin * stride + 2 * kWithin);
    }
    TransposeWithin<T>(x[0], parts[half]);
    TransposeWithin<T>(x[1], parts[half] + kWithin);
  }
#pragma GCC unroll 8
  for (int c = 0; c < 2 * kWithin; ++c) {
    const __m512i low = (__m512i)parts[0][c], high = (__m512i)parts[1][c];
    const int to = c / kWithin * 2 * kWithin + c % kWithin;
    columns[to] = (Vector<T>)_mm512_maskz_shuffle_i64x2(0xFF, low, high, 0x88);
    columns[to + kWithin] = (Vector<T>)_mm512_maskz_shuffle_i64x2(0xFF, low, high, 0xDD);
  }
#elif defined(__AVX2__)
  constexpr int kWithin = kLanesWithin<T>;
#pragma GCC unroll 2
  for (int c = 0; c < kLanes<T>; c += kWithin) {
    Vector<T> x[kWithin];
#pragma GCC unroll 4
    for (int r = 0; r < kWithin; ++r) x[r] = LoadHalves<T>(from + r * stride + c, from + (r + kWithin) * stride + c);
    TransposeWithin<T>(x, columns + c);
  }
#else
  for (int r = 0; r < kLanes<T>; ++r) columns[r] = Load(from + r * stride);
  Transpose<T>(columns);
#endif
}

}  // namespace stillflow::gemm
