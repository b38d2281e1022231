// softmax, log_softmax and the cross entropies with them: what is computed from exp(x - max) along rows.
//
// softmax, log_softmax
//   in[0]  logits   floating, [..., classes]
//   out[0] the same shape
//
// softmax_cross_entropy
//   in[0]  logits   floating, [batch, classes]
//   in[1]  labels   the same type; both are broadcast against each other
//   out[0] loss     [batch]: sum of labels * -log(softmax)
//   out[1] backprop [batch, classes]: softmax - labels
//
// sparse_softmax_cross_entropy
//   in[1]  labels   int32 | int64 [batch], each in [0, classes)
//
// A row's sum is taken in kLanes lanes by position and a tree over them. Half types are computed in float.
#include <algorithm>
#include <limits>

#include "kernel_api/stream.h"
#include "math/exponential.h"
#include "math/lanes.h"
#include "math/logarithm.h"
#include "math/scalar.h"

namespace stillflow {
namespace {

constexpr int kLanes = 16;
constexpr int kManyLanes = 128;  // of what needs no order
constexpr int64_t kLongRow = 512;
constexpr int64_t kElementsPerChunk = 8192;
constexpr int64_t kStreamedElementsPerChunk = 131072;
constexpr int64_t kTileElements = 256;  // of rows that are done together: exponentials of short rows fill vectors

template <typename W>
W Sum(const W* terms, int64_t count) {
  return CombineInLanes<PlusLanes, kLanes>(terms, count, W{0});
}

// The largest number of a row is the same in any number of lanes.
template <typename W>
W Largest(const W* row, int64_t classes) {
  constexpr W kLeast = -std::numeric_limits<W>::infinity();
  return classes < kLongRow ? CombineInLanes<LargerLanes, kLanes>(row, classes, kLeast)
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

inline float ExpOfShifted(float x) { return ExpOfNonPositive(x); }
inline double ExpOfShifted(double x) { return Exp(x); }

// What a thread keeps of a tile of rows: their logits less the row's largest, the exponentials of that, and the
// exponentials' sums.
template <typename W>
class RowTile {
 public:
  RowTile(const KernelCall& call, int64_t classes)
      : classes_(classes), heap_(call, classes > kTileElements ? 2 * classes * static_cast<int64_t>(sizeof(W)) : 0) {
    if (!heap_.ok() || classes <= kTileElements) return;
    shifted_ = heap_.template data<W>();
    exps_ = shifted_ + classes;
  }
  bool ok() const { return heap_.ok(); }
  int64_t rows() const { return std::clamp<int64_t>(kTileElements / std::max<int64_t>(classes_, 1), 1, kMostRows); }

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

  static constexpr int64_t kMostRows = 128;
  const int64_t classes_;
  const Scratch heap_;
  W* shifted_ = own_shifted_;
  W* exps_ = own_exps_;
  W sums_[kMostRows];
  W log_sums_[kMostRows];
  alignas(64) W own_shifted_[kTileElements];
  alignas(64) W own_exps_[kTileElements];
};

// Writes what has been computed in place for `count` rows from `first` on, and fetches the logits that are next.
template <typename T>
void StreamRows(const RowTile<T>& tile, const T* staged, const T* from, int64_t first, int64_t count, int64_t classes,
                T* to) {
  const int64_t ahead_elements = (classes > kTileElements ? 1 : 2 * tile.rows()) * classes;
  ReadAhead ahead;
  ahead.Add(reinterpret_cast<const char*>(from + ahead_elements), 64);
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  StreamBytes(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(staged), count * classes * kBytes,
              first * classes * kBytes, ahead);
}

// Calls body(tile, first row, number of rows) for all rows.
template <typename W, typename Body>
Status ForEachTile(const KernelCall& call, int64_t rows, int64_t classes, bool is_streamed, const Body& body) {
  const int64_t elements = is_streamed ? kStreamedElementsPerChunk : kElementsPerChunk;
  const int64_t rows_per_chunk = std::max<int64_t>(elements / std::max<int64_t>(classes, 1), 1);
  return ForEachChunk(call, rows, rows_per_chunk, [&](Range range) {
    RowTile<W> tile(call, classes);
    if (!tile.ok()) return OutOfScratch();
    for (int64_t row = range.begin; row < range.end; row += tile.rows()) {
      body(tile, row, std::min(tile.rows(), range.end - row));
    }
    if (is_streamed) EndStream();
    return Status();
  });
}

// Whether the results of softmax are written past the caches. They are computed in place before.
template <typename T>
bool IsStreamedTo(const KernelCall& call, const T* from, const T* to) {
  return std::is_same_v<T, Wide<T>> && from != to && IsStreamed(*call.out[0]);
}

template <typename T>
Status SoftmaxRows(const KernelCall& call, int64_t rows, int64_t classes, const T* from, T* to) {
  using W = Wide<T>;
  const bool is_streamed = IsStreamedTo(call, from, to);
  return ForEachTile<W>(call, rows, classes, is_streamed, [=](RowTile<W>& tile, int64_t first, int64_t count) {
    tile.Exponentiate(from + first * classes, count);
    for (int64_t i = 0; i < count; ++i) {
      const W scale = 1 / tile.sum(i);
      W* exps = tile.exps(i);
      T* row = is_streamed ? reinterpret_cast<T*>(exps) : to + (first + i) * classes;
#pragma GCC ivdep
      for (int64_t j = 0; j < classes; ++j) row[j] = Narrow<T>(exps[j] * scale);
    }
    if constexpr (std::is_same_v<T, W>) {
      if (is_streamed) StreamRows(tile, tile.exps(0), from, first, count, classes, to);
    }
  });
}

template <typename T>
Status LogSoftmaxRows(const KernelCall& call, int64_t rows, int64_t classes, const T* from, T* to) {
  using W = Wide<T>;
  const bool is_streamed = IsStreamedTo(call, from, to);
  return ForEachTile<W>(call, rows, classes, is_streamed, [=](RowTile<W>& tile, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) Shift(from + (first + i) * classes, classes, tile.shifted(i));
    tile.Exponentiate(count);
    tile.TakeLogarithms(count);
    for (int64_t i = 0; i < count; ++i) {
      W* shifted = tile.shifted(i);
      const W log_sum = tile.log_sum(i);
      T* row = is_streamed ? reinterpret_cast<T*>(shifted) : to + (first + i) * classes;
#pragma GCC ivdep
      for (int64_t j = 0; j < classes; ++j) row[j] = Narrow<T>(shifted[j] - log_sum);
    }
    if constexpr (std::is_same_v<T, W>) {
      if (is_streamed) StreamRows(tile, tile.shifted(0), from, first, count, classes, to);
    }
  });
}

template <bool kIsLog>
Status SoftmaxKernel(const KernelCall& call) {
  const Tensor& logits = *call.in[0];
  if (logits.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("logits must have >= 1 dimension, got %s", ShapeText(logits).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, logits.dtype, Shape(logits)));
  if (logits.count == 0) return Status();
  const int64_t classes = logits.dims[logits.rank - 1];
  return ForType<float, double, Half, BFloat16>(kIsLog ? "LogSoftmax" : "Softmax", logits.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(logits);
    T* to = MutableData<T>(*call.out[0]);
    const int64_t rows = logits.count / classes;
    return kIsLog ? LogSoftmaxRows(call, rows, classes, from, to) : SoftmaxRows(call, rows, classes, from, to);
  });
}

// ---- Cross entropy with labels that are distributions ---------------------------------------------------------

// A matrix that may repeat its only row or column.
template <typename T>
struct Repeated {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
  T at(int64_t row, int64_t column) const { return data[row * row_stride + column * column_stride]; }
};

template <typename T>
Repeated<T> RepeatedTo(const Tensor& tensor, int64_t rows, int64_t columns) {
  return {Data<T>(tensor), tensor.dims[0] == rows ? tensor.dims[1] : 0, tensor.dims[1] == columns ? 1 : 0};
}

template <typename T>
Status CrossEntropyRows(const KernelCall& call, int64_t rows, int64_t classes) {
  using W = Wide<T>;
  const auto logits = RepeatedTo<T>(*call.in[0], rows, classes);
  const auto labels = RepeatedTo<T>(*call.in[1], rows, classes);
  T* loss = MutableData<T>(*call.out[0]);
  T* backprop = MutableData<T>(*call.out[1]);
  return ForEachTile<W>(
      call, rows, classes, /*is_streamed=*/false, [=](RowTile<W>& tile, int64_t first, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          W* shifted = tile.shifted(i);
          for (int64_t j = 0; j < classes; ++j) shifted[j] = Widen(logits.at(first + i, j));
          Shift(shifted, classes, shifted);
        }
        tile.Exponentiate(count);
        tile.TakeLogarithms(count);
        for (int64_t i = 0; i < count; ++i) {
          W* shifted = tile.shifted(i);
          const W* exps = tile.exps(i);
          const W log_sum = tile.log_sum(i);
          const W scale = 1 / tile.sum(i);
          const auto label = [&](int64_t j) { return static_cast<W>(Widen(labels.at(first + i, j))); };
          T* to = backprop + (first + i) * classes;
          for (int64_t j = 0; j < classes; ++j) to[j] = Narrow<T>(exps[j] * scale - label(j));
          for (int64_t j = 0; j < classes; ++j) shifted[j] = label(j) * (log_sum - shifted[j]);
          loss[first + i] = Narrow<T>(Sum(shifted, classes));
        }
      });
}

Status CrossEntropy(const KernelCall& call) {
  const Tensor& logits = *call.in[0];
  const Tensor& labels = *call.in[1];
  const bool are_matrices = logits.rank == 2 && labels.rank == 2;
  const auto fits = [&](int axis) {
    return logits.dims[axis] == labels.dims[axis] || logits.dims[axis] == 1 || labels.dims[axis] == 1;
  };
  if (!are_matrices || !fits(0) || !fits(1)) {
    return STILLFLOW_INVALID_ARGUMENT("logits and labels must be broadcastable: logits_size=%s labels_size=%s",
                                      ShapeText(logits).c_str(), ShapeText(labels).c_str());
  }
  Shape shape;
  for (int i = 0; i < 2; ++i) shape.Add(logits.dims[i] == 1 ? labels.dims[i] : logits.dims[i]);
  Shape losses;
  losses.Add(shape.dims[0]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, logits.dtype, losses));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, logits.dtype, shape));
  return ForType<float, double, Half, BFloat16>("SoftmaxCrossEntropyWithLogits", logits.dtype, [&](auto tag) {
    return CrossEntropyRows<typename decltype(tag)::type>(call, shape.dims[0], shape.dims[1]);
  });
}

// ---- Cross entropy with labels that are class numbers ---------------------------------------------------------

Status CheckLabels(const Tensor& labels, int64_t classes) {
  for (int64_t i = 0; i < labels.count; ++i) {
    const int64_t label = IntAt(labels, i);
    if (label >= 0 && label < classes) continue;
    char all[512];
    size_t used = 0;
    all[0] = '\0';
    for (int64_t k = 0; k < labels.count && used < sizeof all - 24; ++k) {
      used += std::snprintf(all + used, sizeof all - used, " %lld", static_cast<long long>(IntAt(labels, k)));
    }
    return STILLFLOW_INVALID_ARGUMENT(
        "Received a label value of %lld which is outside the valid range of [0, %lld).  Label values:%s",
        static_cast<long long>(label), static_cast<long long>(classes), all);
  }
  return Status();
}

template <typename T>
Status SparseCrossEntropyRows(const KernelCall& call, int64_t rows, int64_t classes) {
  using W = Wide<T>;
  const T* logits = Data<T>(*call.in[0]);
  const Tensor& labels = *call.in[1];
  T* loss = MutableData<T>(*call.out[0]);
  T* backprop = MutableData<T>(*call.out[1]);
  return ForEachTile<W>(call, rows, classes, /*is_streamed=*/false,
                        [=, &labels](RowTile<W>& tile, int64_t first, int64_t count) {
                          for (int64_t i = 0; i < count; ++i)
                            Shift(logits + (first + i) * classes, classes, tile.shifted(i));
                          tile.Exponentiate(count);
                          tile.TakeLogarithms(count);
                          for (int64_t i = 0; i < count; ++i) {
                            const int64_t label = IntAt(labels, first + i);
                            const W* exps = tile.exps(i);
                            const W scale = 1 / tile.sum(i);
                            loss[first + i] = Narrow<T>(tile.log_sum(i) - tile.shifted(i)[label]);
                            T* to = backprop + (first + i) * classes;
                            for (int64_t j = 0; j < classes; ++j) to[j] = Narrow<T>(exps[j] * scale);
                            to[label] = Narrow<T>(exps[label] * scale - 1);
                          }
                        });
}

Status SparseCrossEntropy(const KernelCall& call) {
  const Tensor& logits = *call.in[0];
  const Tensor& labels = *call.in[1];
  if (logits.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("logits must be 2-D, but got shape %s", ShapeText(logits).c_str());
  }
  if (labels.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("labels must be 1-D, but got shape %s", ShapeText(labels).c_str());
  }
  if (logits.dims[0] != labels.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "logits and labels must have the same first dimension, got logits shape %s and labels shape %s",
        ShapeText(logits).c_str(), ShapeText(labels).c_str());
  }
  const int64_t classes = logits.dims[1];
  if (classes == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Must have at least one class, but got logits shape %s",
                                      ShapeText(logits).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(CheckLabels(labels, classes));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, logits.dtype, Shape(labels)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, logits.dtype, Shape(logits)));
  return ForType<float, double, Half, BFloat16>("SparseSoftmaxCrossEntropyWithLogits", logits.dtype, [&](auto tag) {
    return SparseCrossEntropyRows<typename decltype(tag)::type>(call, labels.count, classes);
  });
}

}  // namespace

STILLFLOW_KERNELS(softmax){{"softmax", "logits", SoftmaxKernel<false>},
                           {"log_softmax", "logits", SoftmaxKernel<true>},
                           {"softmax_cross_entropy", "features, labels", CrossEntropy},
                           {"sparse_softmax_cross_entropy", "features, labels", SparseCrossEntropy},
                           {}};

}  // namespace stillflow
