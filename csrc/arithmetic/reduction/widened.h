// widened.h: rows and columns of 16-bit floats, which are combined as floats.
#pragma once

#include "arithmetic/math/halves.h"
#include "arithmetic/reduction/columns.h"
#include "arithmetic/reduction/rows.h"

namespace stillflow {

// ---- Rows ---------------------------------------------------------------------------------------------------

template <typename Op, typename T>
float CombineWidenedRun(const T* data, int64_t count) {
  float wide[kReductionRun];
  if constexpr (kHasHalfLanes && std::is_same_v<T, Half>) {
    const int64_t whole = count - count % kReductionLanes;
    CombinedLanes<Op, kReductionLanes, float> lanes(Op::Start());
    lanes.Add(data, whole);
    WidenHalves(data + whole, count - whole, wide);
    lanes.Add(wide, count - whole);
    const float total = lanes.Total();
    if (total == total) return total;  // else which NaN it is
  }
  WidenHalves(data, count, wide);
  return CombineRun<Op>(wide, count, false);
}

// As CombineRuns does it.
template <typename Op, typename T>
void CombineWidenedRuns(const Rows& rows, const void* elements, Range range, void* results) {
  constexpr int64_t kMostTogether = 128;  // elements of rows that are widened together
  constexpr int64_t kElementsTogether = 2048;
  const T* const from = static_cast<const T*>(elements);
  float* to = static_cast<float*>(results);
  if (0 < rows.length && rows.length <= kMostTogether && rows.AreAdjacent()) {
    float wide[kElementsTogether];
    for (int64_t i = range.begin; i < range.end;) {
      const int64_t count = std::min(kElementsTogether / rows.length, range.end - i);
      WidenHalves(from + i * rows.length, count * rows.length, wide);
      CombineRuns<Op, float>(Rows::Adjacent(count, rows.length), wide, Range{0, count}, to);
      i += count;
      to += count;
    }
    return;
  }
  const int64_t runs = rows.Runs();
  T buffer[kReductionRun];
  for (int64_t i = range.begin; i < range.end; ++i) {
    const int64_t count = rows.RunLength(i);
    *to++ = CombineWidenedRun<Op>(Fetch(rows, from, i / runs, i % runs * kReductionRun, count, buffer), count);
  }
}

// ---- Columns ------------------------------------------------------------------------------------------------

#if defined(__F16C__)
// Columns that fill registers. Returns whether all is well: instructions make another NaN of one.
constexpr int kHalfRegisters = 8;
constexpr int64_t kHalfColumns = kHalfRegisters * kHalfLanes;
template <typename Op>
STILLFLOW_INLINE bool CombineHalfColumns(const Half* from, int64_t rows, int64_t stride, float* to) {
  Register<float> lanes[kHalfRegisters];
  for (auto& each : lanes) each = Op::Start() - Register<float>{};
  for (int64_t i = 0; i < rows; ++i) {
    for (int k = 0; k < kHalfRegisters; ++k) {
      lanes[k] = Op::Combine(lanes[k], Op::Prepare(LoadLanes(from + i * stride + k * kHalfLanes)));
    }
  }
  std::memcpy(to, lanes, sizeof lanes);
  int nans = 0;
  for (int64_t k = 0; k < kHalfColumns; ++k) nans += to[k] != to[k];
  return nans == 0;
}
#endif

// Columns that are widened some rows at a time: a few whole rows where these are short, else four of each.
template <typename Op, typename T>
void CombineWidenedColumns(const T* from, int64_t rows, int64_t stride, int64_t width, float* to) {
  constexpr int64_t kElements = 2048;
  float wide[kElements];
  std::fill_n(to, width, Op::Start());
  const bool are_adjacent = stride == width;
  const int64_t rows_at_once = kElements / width;
  for (int64_t i = 0; i < rows; i += rows_at_once) {
    const int64_t count = std::min(rows_at_once, rows - i);
    if (are_adjacent) {
      WidenHalves(from + i * stride, count * width, wide);
    } else {
      for (int64_t k = 0; k < count; ++k) WidenHalves(from + (i + k) * stride, width, wide + k * width);
    }
    CombineRowsInto<Op>(static_cast<const float*>(wide), count, width, width, false, to);
  }
}

// As CombineRows does it.
template <typename Op, typename T>
void CombineWidenedRows(const void* elements, int64_t rows, int64_t stride, int64_t width, bool, void* results) {
  constexpr int64_t kMostWidened = 512;
  const T* const from = static_cast<const T*>(elements);
  float* const to = static_cast<float*>(results);
  for (int64_t j = 0; j < width;) {
#if defined(__F16C__)
    if constexpr (std::is_same_v<T, Half>) {
      if (width - j >= kHalfColumns) {
        if (!CombineHalfColumns<Op>(from + j, rows, stride, to + j)) {
          CombineWidenedColumns<Op>(from + j, rows, stride, kHalfColumns, to + j);
        }
        j += kHalfColumns;
        continue;
      }
    }
#endif
    const int64_t columns = std::min(kMostWidened, width - j);
    CombineWidenedColumns<Op>(from + j, rows, stride, columns, to + j);
    j += columns;
  }
}

// As CombineNarrowRuns does it.
template <typename Op, typename T>
void CombineWidenedNarrowRuns(const void* elements, int64_t width, bool, void* results) {
  float wide[kRunsAtOnce<float> * kRowsPerRun * kMostNarrow];
  WidenHalves(static_cast<const T*>(elements), kRunsAtOnce<float> * kRowsPerRun * width, wide);
  CombineNarrowRuns<Op, float>(wide, width, false, results);
}

}  // namespace stillflow
