#include "arithmetic/linear/factors.h"

#include <utility>

#include "arithmetic/linear/matrices.h"

namespace stillflow {
namespace {

constexpr int64_t kBlock = 64;
constexpr int64_t kColumnsPerChunk = 256;
constexpr int64_t kProductsPerChunk = 65536;

// Minus a block of `columns` columns, its rows one after the other.
template <typename S>
void CopyNegative(NumberView<S> from, int64_t rows, int64_t columns, S* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * columns + j] = -from.at(i, j);
  }
}

// Row j of the factors: the pivot is looked for below, and column j eliminated from the columns up to `end`.
template <typename S>
void Eliminate(S* a, int64_t n, int64_t j, int64_t end, int64_t* rows, bool* is_odd) {
  int64_t pivot = j;
  double largest = Magnitude(a[j * n + j]);
  for (int64_t i = j + 1; i < n; ++i) {
    const double magnitude = Magnitude(a[i * n + j]);
    if (!(magnitude > largest)) continue;
    pivot = i;
    largest = magnitude;
  }
  if (pivot != j) {
    std::swap_ranges(a + j * n, a + (j + 1) * n, a + pivot * n);
    std::swap(rows[j], rows[pivot]);
    *is_odd = !*is_odd;
  }
  if (a[j * n + j] == NumberOf<S>(0)) return;
  for (int64_t i = j + 1; i < n; ++i) {
    a[i * n + j] = a[i * n + j] / a[j * n + j];
    Subtract(a[i * n + j], a + j * n + j + 1, end - j - 1, a + i * n + j + 1);
  }
}

// The rest of row i of l, columns [begin, end), from what is left of a.
template <typename S>
void FinishRow(S* a, int64_t n, int64_t begin, int64_t end, int64_t i) {
  for (int64_t j = begin; j < end; ++j) {
    S sum = a[i * n + j];
    for (int64_t k = begin; k < j; ++k) sum = sum - a[i * n + k] * Conj(a[j * n + k]);
    a[i * n + j] = sum / RealPart(a[j * n + j]);
  }
}

}  // namespace

template <typename S>
Status FactorLu(const KernelCall& call, S* a, int64_t n, int64_t* rows, bool* is_odd) {
  *is_odd = false;
  for (int64_t i = 0; i < n; ++i) rows[i] = i;
  const Scratch scratch(call, n * kBlock * static_cast<int64_t>(sizeof(S)));
  if (!scratch.ok()) return OutOfScratch();
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    for (int64_t j = begin; j < end; ++j) Eliminate(a, n, j, end, rows, is_odd);
    if (end == n) break;
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, n - end, kColumnsPerChunk, [&](Range range) {
      for (int64_t i = begin + 1; i < end; ++i) {
        S* const row = a + i * n + end;
        for (int64_t k = begin; k < i; ++k) {
          Subtract(a[i * n + k], a + k * n + end + range.begin, range.end - range.begin, row + range.begin);
        }
      }
    }));
    const int64_t width = end - begin;
    CopyNegative<S>({a + end * n + begin, n, 1}, n - end, width, scratch.data<S>());
    STILLFLOW_RETURN_IF_ERROR(Multiply<S>(call, n - end, n - end, width, {scratch.data<S>(), width, 1},
                                          {a + begin * n + end, n, 1}, a + end * n + end, n, true));
  }
  return Status();
}

template <typename S>
Status FactorCholesky(const KernelCall& call, S* a, int64_t n, bool* is_positive) {
  *is_positive = true;
  const Scratch scratch(call, n * kBlock * static_cast<int64_t>(sizeof(S)));
  if (!scratch.ok()) return OutOfScratch();
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    for (int64_t i = begin; i < end; ++i) {
      FinishRow(a, n, begin, i, i);
      double pivot = RealPart(a[i * n + i]);
      for (int64_t k = begin; k < i; ++k) pivot -= Squared(a[i * n + k]);
      if (pivot <= 0) {
        *is_positive = false;
        return Status();
      }
      a[i * n + i] = NumberOf<S>(Sqrt(pivot));
      std::fill(a + i * n + i + 1, a + (i + 1) * n, NumberOf<S>(0));
    }
    const int64_t width = end - begin;
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, n - end, kProductsPerChunk / (width * width) + 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) FinishRow(a, n, begin, end, end + i);
    }));
    CopyNegative<S>({a + end * n + begin, n, 1}, n - end, width, scratch.data<S>());
    for (int64_t column = end; column < n; column += kColumnsPerChunk) {
      const int64_t columns = std::min(kColumnsPerChunk, n - column);
      STILLFLOW_RETURN_IF_ERROR(Multiply<S>(call, n - column, columns, width,
                                            {scratch.data<S>() + (column - end) * width, width, 1},
                                            {a + column * n + begin, 1, n, true}, a + column * n + column, n, true));
    }
  }
  return Status();
}

template <typename S>
Status SolveTriangle(const KernelCall& call, NumberView<S> a, int64_t n, bool is_lower, bool is_unit, S* x,
                     int64_t width) {
  const Scratch scratch(call, n * kBlock * static_cast<int64_t>(sizeof(S)));
  if (!scratch.ok()) return OutOfScratch();
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    const int64_t begin = is_lower ? done : n - done - count;
    if (done > 0) {
      const int64_t first = is_lower ? 0 : begin + count;
      NumberView<S> block = a;
      block.data += begin * a.row_stride + first * a.column_stride;
      CopyNegative(block, count, done, scratch.data<S>());
      STILLFLOW_RETURN_IF_ERROR(Multiply<S>(call, count, width, done, {scratch.data<S>(), done, 1},
                                            {x + first * width, width, 1}, x + begin * width, width, true));
    }
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, width, kColumnsPerChunk, [&](Range range) {
      const int64_t columns = range.end - range.begin;
      for (int64_t step = 0; step < count; ++step) {
        const int64_t i = is_lower ? begin + step : begin + count - 1 - step;
        S* const row = x + i * width + range.begin;
        for (int64_t before = 0; before < step; ++before) {
          const int64_t j = is_lower ? begin + before : begin + count - 1 - before;
          Subtract(a.at(i, j), x + j * width + range.begin, columns, row);
        }
        if (is_unit) continue;
        for (int64_t k = 0; k < columns; ++k) row[k] = row[k] / a.at(i, i);
      }
    }));
  }
  return Status();
}

#define STILLFLOW_FACTORS(S)                                                    \
  template Status FactorLu<S>(const KernelCall&, S*, int64_t, int64_t*, bool*); \
  template Status FactorCholesky<S>(const KernelCall&, S*, int64_t, bool*);     \
  template Status SolveTriangle<S>(const KernelCall&, NumberView<S>, int64_t, bool, bool, S*, int64_t);
STILLFLOW_FACTORS(double)
STILLFLOW_FACTORS(Complex128)
#undef STILLFLOW_FACTORS

}  // namespace stillflow
