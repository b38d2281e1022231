// interleave.h: rows put together from short parts.
#pragma once

#include <algorithm>

#include "movement/strided_copy.h"

namespace stillflow {

// Parts that have no more bytes, on average, are copied one column of them after the other, for a few rows at a time:
// a loop over the parts of each row would take longer than their copies do.
constexpr int64_t kShortPartBytes = 32;

// What an array gives to each row: row i has `bytes` from `from` + i * `bytes` on.
struct RowPart {
  const char* from;
  int64_t bytes;
};

// Copies `bytes` for each of the rows, which are `stride` apart.
STILLFLOW_INLINE void CopyColumn(const char* from, int64_t bytes, int64_t rows, char* to, int64_t stride) {
  for (int64_t row = 0; row < rows; ++row) CopySmall(to + row * stride, from + row * bytes, bytes);
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

// Two parts of one T each.
template <typename T>
void InterleaveTwo(const char* left_part, const char* right_part, Range rows, char* out) {
  typedef T Part __attribute__((aligned(1), may_alias));  // several elements may be one part
  const Part* const left = reinterpret_cast<const Part*>(left_part);
  const Part* const right = reinterpret_cast<const Part*>(right_part);
  Part* const to = reinterpret_cast<Part*>(out);
#pragma GCC ivdep
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    to[2 * row] = left[row];
    to[2 * row + 1] = right[row];
  }
}

inline bool InterleaveTwo(RowPart left, RowPart right, Range rows, char* to) {
  if (left.bytes != right.bytes) return false;
  switch (left.bytes) {
    case 1:
      InterleaveTwo<uint8_t>(left.from, right.from, rows, to);
      return true;
    case 2:
      InterleaveTwo<uint16_t>(left.from, right.from, rows, to);
      return true;
    case 4:
      InterleaveTwo<uint32_t>(left.from, right.from, rows, to);
      return true;
    case 8:
      InterleaveTwo<uint64_t>(left.from, right.from, rows, to);
      return true;
    default:
      return false;
  }
}

// Rows of the output at `to`, each of the parts part(0), part(1), ... side by side, `row_bytes` together.
template <typename PartOf>
void InterleaveParts(int parts, const PartOf& part, int64_t row_bytes, Range rows, char* to) {
  if (parts == 2 && InterleaveTwo(part(0), part(1), rows, to)) return;
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
