// Philox4x32-10 in vectors: one block per 64-bit lane.
//
// A word of the counter lies in the low half of its lane. What the upper half holds never matters: the widening
// multiply reads the low halves alone, and that is all that reads them. So a round is two multiplies, two shifts
// and four exclusive ors for as many blocks as there are lanes.
#include "arithmetic/random/philox.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 2
#endif

enum {
  kRounds = 10,
  kUnrolled = LANES == 8 ? 4 : 2,  // vectors at a time; hides the latency of the multiplies, as registers allow
  kBlocksPerPass = LANES * kUnrolled,
  kFewestForPass = 4,  // a pass takes as long as this many single blocks, give or take
};

static const uint32_t kMultiplier0 = 0xD2511F53u;
static const uint32_t kMultiplier1 = 0xCD9E8D57u;
static const uint32_t kKeyStep0 = 0x9E3779B9u;
static const uint32_t kKeyStep1 = 0xBB67AE85u;

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));
typedef uint64_t unaligned_lanes __attribute__((vector_size(8 * LANES), aligned(4)));

// The blocks of a vector in the order in which InterleaveHalves takes the lanes apart.
#if LANES == 8
static const lanes kBlockOfLane = {0, 4, 1, 5, 2, 6, 3, 7};
#define INTERLEAVE_EVEN(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define INTERLEAVE_ODD(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#elif LANES == 4
static const lanes kBlockOfLane = {0, 2, 1, 3};
#define INTERLEAVE_EVEN(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define INTERLEAVE_ODD(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#else
static const lanes kBlockOfLane = {0, 1};
#define INTERLEAVE_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2)
#define INTERLEAVE_ODD(a, b) __builtin_shufflevector(a, b, 1, 3)
#endif

// The products of the lanes' low halves.
static inline lanes MultiplyLow(lanes a, lanes b) {
#if defined(__AVX512F__)
  return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (lanes)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

static inline lanes Splat(uint64_t value) { return (lanes){0} + value; }

typedef struct {
  lanes c0, c1, c2, c3;
} Counters;

static inline Counters Round(Counters x, lanes k0, lanes k1) {
  const lanes p0 = MultiplyLow(x.c0, Splat(kMultiplier0));
  const lanes p1 = MultiplyLow(x.c2, Splat(kMultiplier1));
  return (Counters){(p1 >> 32) ^ x.c1 ^ k0, p1, (p0 >> 32) ^ x.c3 ^ k1, p0};
}

// Stores the words block by block.
static inline void Store(Counters x, uint32_t* words) {
  const lanes low_half = Splat(0xFFFFFFFFu);
  const lanes first = (x.c0 & low_half) | (x.c1 << 32);
  const lanes second = (x.c2 & low_half) | (x.c3 << 32);
  *(unaligned_lanes*)words = INTERLEAVE_EVEN(first, second);
  *(unaligned_lanes*)(words + 2 * LANES) = INTERLEAVE_ODD(first, second);
}

typedef struct {
  uint32_t k0[kRounds];
  uint32_t k1[kRounds];
} KeySchedule;

static KeySchedule Schedule(uint64_t key) {
  KeySchedule keys;
  for (int i = 0; i < kRounds; ++i) {
    keys.k0[i] = (uint32_t)key + (uint32_t)i * kKeyStep0;
    keys.k1[i] = (uint32_t)(key >> 32) + (uint32_t)i * kKeyStep1;
  }
  return keys;
}

// Whole passes over blocks whose counters have the upper half in common: low, low + stride, ... without overflow.
static void FillPasses(const KeySchedule* keys, uint64_t low, uint64_t high, uint64_t stride, size_t passes,
                       uint32_t* words) {
  lanes next = Splat(low) + kBlockOfLane * Splat(stride);
  const lanes step = Splat(stride * LANES);
  for (; passes > 0; --passes, words += kBlocksPerPass * SF_PHILOX_WORDS) {
    Counters x[kUnrolled];
    for (int u = 0; u < kUnrolled; ++u) {
      x[u] = (Counters){next, next >> 32, Splat(high), Splat(high >> 32)};
      next += step;
    }
    for (int r = 0; r < kRounds; ++r) {
      const lanes k0 = Splat(keys->k0[r]);
      const lanes k1 = Splat(keys->k1[r]);
      for (int u = 0; u < kUnrolled; ++u) x[u] = Round(x[u], k0, k1);
    }
    for (int u = 0; u < kUnrolled; ++u) Store(x[u], words + u * LANES * SF_PHILOX_WORDS);
  }
}

static void FillBlock(const KeySchedule* keys, uint64_t low, uint64_t high, uint32_t* words) {
  uint32_t c0 = (uint32_t)low;
  uint32_t c1 = (uint32_t)(low >> 32);
  uint32_t c2 = (uint32_t)high;
  uint32_t c3 = (uint32_t)(high >> 32);
  for (int r = 0; r < kRounds; ++r) {
    const uint64_t p0 = (uint64_t)kMultiplier0 * c0;
    const uint64_t p1 = (uint64_t)kMultiplier1 * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ keys->k0[r];
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ keys->k1[r];
    c3 = (uint32_t)p0;
  }
  const uint32_t block[SF_PHILOX_WORDS] = {c0, c1, c2, c3};
  memcpy(words, block, sizeof block);
}

void sf_philox_fill_strided(sf_philox position, uint64_t stride, size_t count, uint32_t* words) {
  const KeySchedule keys = Schedule(position.key);
  while (count > 0) {
    // As many blocks as can be counted without a carry into the upper half.
    const uint64_t room = stride == 0 ? UINT64_MAX : (UINT64_MAX - position.low) / stride;
    const size_t run = room < count ? (size_t)room : count;
    size_t done = run - run % kBlocksPerPass;
    if (done > 0) {
      FillPasses(&keys, position.low, position.high, stride, done / kBlocksPerPass, words);
    } else if (count >= kFewestForPass && room >= kBlocksPerPass) {
      uint32_t pass[kBlocksPerPass * SF_PHILOX_WORDS];
      FillPasses(&keys, position.low, position.high, stride, 1, pass);
      done = count;
      memcpy(words, pass, done * SF_PHILOX_WORDS * sizeof *words);
    } else {
      FillBlock(&keys, position.low, position.high, words);
      done = 1;
    }
    position = sf_philox_skip(position, done * stride);
    words += done * SF_PHILOX_WORDS;
    count -= done;
  }
}

void sf_philox_fill(sf_philox position, size_t count, uint32_t* words) {
  sf_philox_fill_strided(position, 1, count, words);
}
