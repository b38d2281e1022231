// philox.h: Philox4x32-10, the counter-based random generator of Salmon, Moraes, Dror and Shaw ("Parallel random
// numbers: as easy as 1, 2, 3", SC 2011).
//
// A stream is named by a 64-bit key. Its blocks of four 32-bit words are numbered by a 128-bit counter, and each
// is a function of key and counter alone; so a position is all the state there is, skipping costs an addition,
// and any blocks can be made in any order, many at a time. C99, no dependencies but memcpy.
#ifndef STILLFLOW_RANDOM_PHILOX_H_
#define STILLFLOW_RANDOM_PHILOX_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SF_PHILOX_WORDS = 4 };  // words of a block

// The next block of a stream: its key, and its number as two halves.
typedef struct sf_philox {
  uint64_t key;
  uint64_t low;
  uint64_t high;
} sf_philox;

// The position `blocks` blocks after another one; 2^128 blocks come round again.
static inline sf_philox sf_philox_skip(sf_philox position, uint64_t blocks) {
  position.low += blocks;
  position.high += position.low < blocks;
  return position;
}

// The same for a distance of `high` * 2^64 + `low` blocks.
static inline sf_philox sf_philox_skip_wide(sf_philox position, uint64_t low, uint64_t high) {
  position = sf_philox_skip(position, low);
  position.high += high;
  return position;
}

// Writes the words of `count` consecutive blocks.
void sf_philox_fill(sf_philox position, size_t count, uint32_t* words);

// Writes the words of `count` blocks of which each lies `stride` blocks after the one before; stride < 2^32.
void sf_philox_fill_strided(sf_philox position, uint64_t stride, size_t count, uint32_t* words);

#ifdef __cplusplus
}
#endif

#endif  // STILLFLOW_RANDOM_PHILOX_H_
