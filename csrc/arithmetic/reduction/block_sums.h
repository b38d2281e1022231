// block_sums.h: sums over the rows of a matrix, one for each column, that lose little however many rows there are.
//
// Rows are cut into blocks of kRowsPerBlock. In a block, four sums take turns at its rows; they are added as (0 + 1)
// + (2 + 3). Sums of blocks are added in order, in double precision. The order follows from the rows alone.
#pragma once

#include <algorithm>

#include "arithmetic/math/pieces.h"

namespace stillflow {

constexpr int64_t kRowsPerBlock = 64;
constexpr int64_t kTurns = 4;

inline int64_t BlockCount(int64_t rows) { return (rows + kRowsPerBlock - 1) / kRowsPerBlock; }
inline int64_t RowsOfBlock(int64_t rows, int64_t block) {
  return std::min(kRowsPerBlock, rows - block * kRowsPerBlock);
}

// sums[k * columns + c], for kSums sums, of a block of `rows` rows. body(sums, offset, turn_offset, count) adds the
// `count` elements from `offset` of the block to Pieces; turn_offset is the same within a row of kTurns rows. `lanes`
// is memory for kSums * kTurns * columns floats.
template <int kSums, typename Body>
void SumBlock(int64_t rows, int64_t columns, float* lanes, float* sums, const Body& body) {
  const int64_t wide = kTurns * columns;
  const int64_t whole = rows / kTurns;
  ForChannels<float>(wide, [&](int64_t j, auto count) {
    using P = Piece<float, decltype(count)::value>;
    P added[kSums];
    for (int64_t i = 0; i < whole; ++i) body(added, i * wide + j, j, count);
    for (int k = 0; k < kSums; ++k) added[k].Store(lanes + k * wide + j);
  });
  ForChannels<float>(rows % kTurns * columns, [&](int64_t j, auto count) {
    using P = Piece<float, decltype(count)::value>;
    P added[kSums];
    for (int k = 0; k < kSums; ++k) added[k] = P(lanes + k * wide + j);
    body(added, whole * wide + j, j, count);
    for (int k = 0; k < kSums; ++k) added[k].Store(lanes + k * wide + j);
  });
  for (int k = 0; k < kSums; ++k) {
    const float* from = lanes + k * wide;
    for (int64_t c = 0; c < columns; ++c) {
      sums[k * columns + c] = (from[c] + from[columns + c]) + (from[2 * columns + c] + from[3 * columns + c]);
    }
  }
}

// Repeats a row kTurns times, for what a body reads at its turn_offset.
inline void RepeatForTurns(const float* row, int64_t columns, float* to) {
  for (int64_t turn = 0; turn < kTurns; ++turn) std::copy_n(row, columns, to + turn * columns);
}

// Calls body(block, memory for `floats` floats) for each block of rows, several in a chunk.
template <typename Body>
Status ForBlocks(const KernelCall& call, int64_t rows, int64_t columns, int64_t floats, const Body& body) {
  constexpr int64_t kElementsPerChunk = 32768;
  const int64_t at_once = std::max<int64_t>(kElementsPerChunk / (kRowsPerBlock * std::max<int64_t>(columns, 1)), 1);
  return ForEachChunk(call, BlockCount(rows), at_once, [&](Range range) {
    const Scratch scratch(call, floats * static_cast<int64_t>(sizeof(float)));
    if (!scratch.ok()) return OutOfScratch();
    for (int64_t block = range.begin; block < range.end; ++block) body(block, scratch.data<float>());
    return Status();
  });
}

}  // namespace stillflow
