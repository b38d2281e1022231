// interleave.h: concatenation of short rows: each output row is made of one part of every input.
#pragma once

#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {

// Rows of at most so many bytes are copied input by input, a few rows at a time: a loop over the inputs for each row
// would take longer than the copies.
constexpr int64_t kShortRowBytes = 4096;
// The same for rows that could be streamed, with no more bytes for each part.
constexpr int64_t kShortPartBytes = 32;
inline bool AreInterleaved(int parts, int64_t row_bytes, bool is_streamed) {
  return row_bytes <= (is_streamed ? parts * kShortPartBytes : kShortRowBytes);
}

// What an array gives to each row: row i has `bytes` from `from` + i * `bytes` on.
struct RowPart {
  const char* from;
  int64_t bytes;
};

// Copies `bytes` for each of the rows, which are `stride` apart.
STILLFLOW_INLINE void CopyColumn(const char* from, int64_t bytes, int64_t rows, char* to, int64_t stride) {
  for (int64_t row = 0; row < rows; ++row) CopyBytes(to + row * stride, from + row * bytes, bytes);
}

inline void CopyPartsOfRows(RowPart part, Range rows, char* to, int64_t stride) {
  const char* const from = part.from + rows.begin * part.bytes;
  const int64_t count = rows.end - rows.begin;
  switch (part.bytes) {  // the compiler makes a loop of loads and stores for each of these
    case 1:
      return CopyColumn(from, 1, count, to, stride);
    case 2:
      return CopyColumn(from, 2, count, to, stride);
    case 4:
      return CopyColumn(from, 4, count, to, stride);
    case 8:
      return CopyColumn(from, 8, count, to, stride);
    case 12:
      return CopyColumn(from, 12, count, to, stride);
    case 16:
      return CopyColumn(from, 16, count, to, stride);
    default:
      return CopyColumn(from, part.bytes, count, to, stride);
  }
}

// kParts parts of one T each.
template <int kParts, typename T, typename PartOf>
void InterleaveSingle(const PartOf& part, Range rows, char* out) {
  typedef T Part __attribute__((aligned(1), may_alias));  // several elements may be one part
  const Part* from[kParts];
  for (int k = 0; k < kParts; ++k) from[k] = reinterpret_cast<const Part*>(part(k).from);
  Part* const to = reinterpret_cast<Part*>(out);
#pragma GCC ivdep
  for (int64_t row = rows.begin; row < rows.end; ++row) {
#pragma GCC unroll 4
    for (int k = 0; k < kParts; ++k) to[kParts * row + k] = from[k][row];
  }
}

template <int kParts, typename PartOf>
bool InterleaveSingle(const PartOf& part, Range rows, char* to) {
  const int64_t bytes = part(0).bytes;
  for (int k = 1; k < kParts; ++k) {
    if (part(k).bytes != bytes) return false;
  }
  switch (bytes) {
    case 1:
      InterleaveSingle<kParts, uint8_t>(part, rows, to);
      return true;
    case 2:
      InterleaveSingle<kParts, uint16_t>(part, rows, to);
      return true;
    case 4:
      InterleaveSingle<kParts, uint32_t>(part, rows, to);
      return true;
    case 8:
      InterleaveSingle<kParts, uint64_t>(part, rows, to);
      return true;
    default:
      return false;
  }
}

// Rows of the output at `to`, each of the parts part(0), part(1), ... side by side, `row_bytes` together.
template <typename PartOf>
void InterleaveParts(int parts, const PartOf& part, int64_t row_bytes, Range rows, char* to) {
  if (parts == 2 && InterleaveSingle<2>(part, rows, to)) return;
  if (parts == 3 && InterleaveSingle<3>(part, rows, to)) return;
  if (parts == 4 && InterleaveSingle<4>(part, rows, to)) return;
  // What few rows become stays in the first-level cache until the last part is written.
  constexpr int64_t kBytesAtOnce = 8 << 10;
  const int64_t rows_at_once = std::max<int64_t>(kBytesAtOnce / row_bytes, 1);
  for (Range tile = {rows.begin, 0}; tile.begin < rows.end; tile.begin = tile.end) {
    tile.end = std::min(tile.begin + rows_at_once, rows.end);
    char* column = to + tile.begin * row_bytes;
    for (int k = 0; k < parts; ++k) {
      const RowPart copied = part(k);
      CopyPartsOfRows(copied, tile, column, row_bytes);
      column += copied.bytes;
    }
  }
}

}  // namespace stillflow
