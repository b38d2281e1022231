// row_tile.h: exp(row - max(row)) of some rows at a time, and the sums of these exponentials.
//
// A sum is taken in kSumLanes lanes by position and a tree over them. Half types are computed in float.
#pragma once

#include <algorithm>
#include <limits>

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/lanes.h"
#include "arithmetic/math/logarithm.h"
#include "arithmetic/math/scalar.h"

namespace stillflow {

constexpr int kSumLanes = 16;
constexpr int64_t kLongRow = 512;  // from here on more lanes gain more than their tree costs

template <typename W>
W Sum(const W* terms, int64_t count) {
  return CombineInLanes<PlusLanes, kSumLanes>(terms, count, W{0});
}

// The largest number of a row is the same in any number of lanes.
template <typename W>
W Largest(const W* row, int64_t classes) {
  constexpr int kManyLanes = 128;
  constexpr W kLeast = -std::numeric_limits<W>::infinity();
  return classes < kLongRow ? CombineInLanes<LargerLanes, kSumLanes>(row, classes, kLeast)
                            : CombineInLanes<LargerLanes, kManyLanes>(row, classes, kLeast);
}

// Writes row - its largest to `shifted`, which may be the row itself.
template <typename T>
void Shift(const T* row, int64_t classes, Wide<T>* shifted) {
  using W = Wide<T>;
  if constexpr (std::is_same_v<T, W>) {
    const T largest = Largest(row, classes);
    for (int64_t j = 0; j < classes; ++j) shifted[j] = row[j] - largest;
  } else {
    for (int64_t j = 0; j < classes; ++j) shifted[j] = Widen(row[j]);
    Shift(shifted, classes, shifted);
  }
}

STILLFLOW_INLINE float ExpOfShifted(float x) { return ExpOfNonPositive(x); }
STILLFLOW_INLINE double ExpOfShifted(double x) { return Exp(x); }

// What a thread keeps of a tile of rows: their logits less the row's largest, the exponentials of that, and the
// exponentials' sums.
template <typename W>
class RowTile {
 public:
  RowTile(const KernelCall& call, int64_t classes)
      : classes_(classes), heap_(call, classes > kElements ? 2 * classes * static_cast<int64_t>(sizeof(W)) : 0) {
    if (!heap_.ok() || classes <= kElements) return;
    shifted_ = heap_.template data<W>();
    exps_ = shifted_ + classes;
  }
  bool ok() const { return heap_.ok(); }
  int64_t rows() const { return std::clamp<int64_t>(kElements / std::max<int64_t>(classes_, 1), 1, kMostRows); }

  W* shifted(int64_t row) { return shifted_ + row * classes_; }
  W* exps(int64_t row) { return exps_ + row * classes_; }
  W sum(int64_t row) const { return sums_[row]; }
  W log_sum(int64_t row) const { return log_sums_[row]; }

  // Once the logits of `count` rows have been shifted.
  void Exponentiate(int64_t count) {
#pragma GCC ivdep
    for (int64_t j = 0; j < count * classes_; ++j) exps_[j] = ExpOfShifted(shifted_[j]);
    for (int64_t i = 0; i < count; ++i) sums_[i] = Sum(exps(i), classes_);
  }
  // Where nothing else needs the shifted logits: those of long rows need not be kept.
  template <typename T>
  void Exponentiate(const T* rows, int64_t count) {
    if constexpr (std::is_same_v<T, W>) {
      if (classes_ >= kLongRow) {
        for (int64_t i = 0; i < count; ++i) ExponentiateRow(rows + i * classes_, i);
        return;
      }
    }
    for (int64_t i = 0; i < count; ++i) Shift(rows + i * classes_, classes_, shifted(i));
    Exponentiate(count);
  }
  void TakeLogarithms(int64_t count) {
    for (int64_t i = 0; i < count; ++i) log_sums_[i] = Log(sums_[i]);
  }

 private:
  void ExponentiateRow(const W* row, int64_t i) {
    const W largest = Largest(row, classes_);
    W* to = exps(i);
#pragma GCC ivdep
    for (int64_t j = 0; j < classes_; ++j) to[j] = ExpOfShifted(row[j] - largest);
    sums_[i] = Sum(to, classes_);
  }

  static constexpr int64_t kElements = 256;  // exponentials of short rows fill vectors
  static constexpr int64_t kMostRows = 128;
  const int64_t classes_;
  const Scratch heap_;
  W* shifted_ = own_shifted_;
  W* exps_ = own_exps_;
  W sums_[kMostRows];
  W log_sums_[kMostRows];
  alignas(64) W own_shifted_[kElements];
  alignas(64) W own_exps_[kElements];
};

// Calls body(tile, first row, number of rows) for all rows.
template <typename W, typename Body>
Status ForEachTile(const KernelCall& call, int64_t rows, int64_t classes, const Body& body) {
  constexpr int64_t kElementsPerChunk = 8192;
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(classes, 1), 1);
  return ForEachChunk(call, rows, rows_per_chunk, [&](Range range) {
    RowTile<W> tile(call, classes);
    if (!tile.ok()) return OutOfScratch();
    for (int64_t row = range.begin; row < range.end; row += tile.rows()) {
      body(tile, row, std::min(tile.rows(), range.end - row));
    }
    return Status();
  });
}

}  // namespace stillflow
