// columns.h: reductions along columns, that is, of rows with each other.
//
// Rows are cut into runs of kRowsPerRun. The rows of a run are combined in their order, the runs by a binary tree. So
// the order of arithmetic follows from the number of rows alone.
#pragma once

#include <algorithm>

#include "arithmetic/reduction/operations.h"
#include "arithmetic/reduction/rows.h"
#include "memory/transposed_tile.h"

namespace stillflow {

constexpr int64_t kRowsPerRun = 64;

// Combines values[0], values[stride], ..., `width` of each, by a tree: neighbours first.
template <typename Op, typename T>
void CombineTree(void* results, int64_t count, int64_t stride, int64_t width) {
  T* const values = static_cast<T*>(results);
  while (count > 1) {
    const int64_t half = count / 2;
    for (int64_t i = 0; i < half; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        values[i * stride + j] = Op::Combine(values[2 * i * stride + j], values[(2 * i + 1) * stride + j]);
      }
    }
    if (count % 2 != 0) std::copy_n(values + (count - 1) * stride, width, values + half * stride);
    count = half + count % 2;
  }
}

// Whole rows are combined with what is there; several at a time, which saves as many passes over it.
template <typename Op, typename T>
void CombineRowsInto(const T* from, int64_t rows, int64_t stride, int64_t width, T* to) {
  constexpr int64_t kRowsAtOnce = 4;
  int64_t i = 0;
  for (; i + kRowsAtOnce <= rows; i += kRowsAtOnce) {
    const T* const a = from + i * stride;
    const T* const b = a + stride;
    const T* const c = b + stride;
    const T* const d = c + stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) {
      const T two = Op::Combine(Op::Combine(to[j], Op::Prepare(a[j])), Op::Prepare(b[j]));
      to[j] = Op::Combine(Op::Combine(two, Op::Prepare(c[j])), Op::Prepare(d[j]));
    }
  }
  for (; i < rows; ++i) {
    const T* row = from + i * stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) to[j] = Op::Combine(to[j], Op::Prepare(row[j]));
  }
}

// Rows of elements that are converted some at a time: a few whole rows where these are short.
template <typename Op, typename T>
void CombineConvertedRows(const Elements& elements, int64_t rows, int64_t stride, int64_t width, T* to) {
  constexpr int64_t kMostConverted = 512;  // columns
  constexpr int64_t kElements = 2048;
  T converted[kElements];
  for (int64_t first = 0; first < width; first += kMostConverted) {
    const int64_t columns = std::min(kMostConverted, width - first);
    const int64_t rows_at_once = kElements / columns;
    for (int64_t i = 0; i < rows; i += rows_at_once) {
      const int64_t count = std::min(rows_at_once, rows - i);
      const char* const from = elements.data + (i * stride + first) * elements.bytes;
      if (stride == columns) {
        elements.convert(from, count * columns, converted);
      } else {
        for (int64_t k = 0; k < count; ++k) {
          elements.convert(from + k * stride * elements.bytes, columns, converted + k * columns);
        }
      }
      CombineRowsInto<Op>(static_cast<const T*>(converted), count, columns, columns, to + first);
    }
  }
}

// to[j] = the combination of column j of `rows` rows, `stride` elements apart.
template <typename Op, typename T>
void CombineRows(const Elements& elements, int64_t rows, int64_t stride, int64_t width, void* results) {
  T* const to = static_cast<T*>(results);
  std::fill_n(to, width, Op::Start());
  if (elements.convert != nullptr) return CombineConvertedRows<Op>(elements, rows, stride, width, to);
  CombineRowsInto<Op>(reinterpret_cast<const T*>(elements.data), rows, stride, width, to);
}

// ---- Narrow rows --------------------------------------------------------------------------------------------

// Runs of rows with fewer columns do not fill a register: as many runs as it has lanes are combined side by side.
constexpr int64_t kMostNarrow = 8;
template <typename T>
constexpr int64_t kRunsAtOnce = kRegisterBytes / static_cast<int64_t>(sizeof(T));

// Registers made of the rows of some runs, for rows of which as many as fill one.
template <typename Op, int kRowBytes, typename T>
void CombineRunsOfParts(const T* from, T* to) {
  using L = Lane<Op, T>;
  constexpr int64_t kRunsPerRegister = kRegisterBytes / kRowBytes;
  constexpr int64_t kRegisters = kRunsAtOnce<T> / kRunsPerRegister;
  constexpr int64_t kRunBytes = kRowsPerRun * kRowBytes;
  Register<L> combined[kRegisters];
  for (auto& each : combined) each = static_cast<L>(Op::Start()) - Register<L>{};
  const char* row = reinterpret_cast<const char*>(from);
  for (int64_t i = 0; i < kRowsPerRun; ++i, row += kRowBytes) {
    for (int64_t k = 0; k < kRegisters; ++k) {
      const auto parts = (Register<L>)LoadParts<kRowBytes>(row + k * kRunsPerRegister * kRunBytes, kRunBytes);
      combined[k] = Op::Combine(combined[k], Op::Prepare(parts));
    }
  }
  std::memcpy(to, combined, sizeof combined);
}

// The same of other rows, which are transposed a few at a time.
template <typename Op, typename T>
void CombineTransposedRuns(const T* from, int64_t width, T* to) {
  constexpr int64_t kRuns = kRunsAtOnce<T>;
  constexpr int64_t kRows = 8;  // they stay in the first-level cache
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T lanes[kRows * kMostNarrow * kRuns];
  T combined[kMostNarrow * kRuns];
  std::fill_n(combined, width * kRuns, Op::Start());
  for (int64_t row = 0; row < kRowsPerRun; row += kRows) {
    TransposeTile(reinterpret_cast<const Word*>(from + row * width), kRowsPerRun * width,
                  reinterpret_cast<Word*>(lanes), kRuns, kRuns, kRows * width);
    for (int64_t i = 0; i < kRows; ++i) {
      const T* const next = lanes + i * width * kRuns;
      for (int64_t k = 0; k < width * kRuns; ++k) combined[k] = Op::Combine(combined[k], Op::Prepare(next[k]));
    }
  }
  for (int64_t run = 0; run < kRuns; ++run) {
    for (int64_t j = 0; j < width; ++j) to[run * width + j] = combined[j * kRuns + run];
  }
}

// kRunsAtOnce adjacent runs of rows of `width` <= kMostNarrow elements, one after another.
template <typename Op, typename T>
void CombineNarrowRuns(const Elements& elements, int64_t width, void* results) {
  const T* from = reinterpret_cast<const T*>(elements.data);
  T* const to = static_cast<T*>(results);
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(T));
  T converted[kRunsAtOnce<T> * kRowsPerRun * kMostNarrow];
  if (elements.convert != nullptr) {
    elements.convert(from, kRunsAtOnce<T> * kRowsPerRun * width, converted);
    from = converted;
  }
  if (row_bytes == 16) return CombineRunsOfParts<Op, 16>(from, to);
  if constexpr (kRegisterBytes >= 32) {
    if (row_bytes == 32) return CombineRunsOfParts<Op, 32>(from, to);
  }
  CombineTransposedRuns<Op>(from, width, to);
}

}  // namespace stillflow
