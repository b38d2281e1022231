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

#include "math/exponential.h"
#include "math/logarithm.h"
#include "math/scalar.h"

namespace stillflow {
namespace {

constexpr int kLanes = 16;
constexpr int64_t kElementsPerChunk = 4096;  // an exponential each: some 10 us

template <typename W>
W CombineLanes(W* lanes) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

template <typename T>
Wide<T> Largest(const T* row, int64_t count) {
  using W = Wide<T>;
  W lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<W>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const W value = Widen(row[i + j]);
      lanes[j] = value > lanes[j] ? value : lanes[j];
    }
  }
  for (int j = 0; i < count; ++i, ++j) lanes[j] = std::max(lanes[j], static_cast<W>(Widen(row[i])));
  for (int j = 1; j < kLanes; ++j) lanes[0] = std::max(lanes[0], lanes[j]);
  return lanes[0];
}

// The sum of exp(row - largest); the terms go to `terms` if it is not null, which may be the row itself.
template <bool kKeepsTerms, typename T>
Wide<T> SumOfExp(const T* row, int64_t count, Wide<T> largest, Wide<T>* terms) {
  using W = Wide<T>;
  W lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    W values[kLanes];
    for (int j = 0; j < kLanes; ++j) values[j] = Exp(static_cast<W>(Widen(row[i + j])) - largest);
    for (int j = 0; j < kLanes; ++j) lanes[j] += values[j];
    if constexpr (kKeepsTerms) std::copy_n(values, kLanes, terms + i);
  }
  for (int j = 0; i < count; ++i, ++j) {
    const W value = Exp(static_cast<W>(Widen(row[i])) - largest);
    lanes[j] += value;
    if constexpr (kKeepsTerms) terms[i] = value;
  }
  return CombineLanes(lanes);
}

int64_t RowsPerChunk(int64_t classes) {
  return std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(classes, 1), 1);
}

// Memory for the terms of all rows: `output` itself where its type is the one that is computed in.
template <typename T>
class Terms {
 public:
  Terms(const KernelCall& call, T* output, int64_t count)
      : output_(output), scratch_(call, kIsWide ? 0 : count * static_cast<int64_t>(sizeof(Wide<T>))) {}
  bool ok() const { return kIsWide || scratch_.ok(); }
  Wide<T>* at(int64_t position) const {
    if constexpr (kIsWide) {
      return output_ + position;
    } else {
      return scratch_.template data<Wide<T>>() + position;
    }
  }

 private:
  static constexpr bool kIsWide = std::is_same_v<T, Wide<T>>;
  T* output_;
  Scratch scratch_;
};

template <typename T>
Status SoftmaxRows(const KernelCall& call, int64_t rows, int64_t classes, const T* from, T* to) {
  const Terms<T> terms(call, to, rows * classes);
  if (!terms.ok()) return OutOfScratch();
  return ForEachChunk(call, rows, RowsPerChunk(classes), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const T* row = from + i * classes;
      Wide<T>* exps = terms.at(i * classes);
      const Wide<T> scale = 1 / SumOfExp<true>(row, classes, Largest(row, classes), exps);
      for (int64_t j = 0; j < classes; ++j) to[i * classes + j] = Narrow<T>(exps[j] * scale);
    }
  });
}

template <typename T>
Status LogSoftmaxRows(const KernelCall& call, int64_t rows, int64_t classes, const T* from, T* to) {
  using W = Wide<T>;
  return ForEachChunk(call, rows, RowsPerChunk(classes), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const T* row = from + i * classes;
      const W largest = Largest(row, classes);
      const W log_sum = Log(SumOfExp<false>(row, classes, largest, static_cast<W*>(nullptr)));
      for (int64_t j = 0; j < classes; ++j) {
        to[i * classes + j] = Narrow<T>((static_cast<W>(Widen(row[j])) - largest) - log_sum);
      }
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
Wide<T> Loss(const Wide<T>* shifted, Wide<T> log_sum, const T* labels, int64_t stride, int64_t classes) {
  using W = Wide<T>;
  const auto term = [&](int64_t j) { return static_cast<W>(Widen(labels[j * stride])) * (log_sum - shifted[j]); };
  W lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= classes; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += term(i + j);
  }
  for (int j = 0; i < classes; ++i, ++j) lanes[j] += term(i);
  return CombineLanes(lanes);
}

template <typename T>
Status CrossEntropyRows(const KernelCall& call, int64_t rows, int64_t classes) {
  using W = Wide<T>;
  const auto logits = RepeatedTo<T>(*call.in[0], rows, classes);
  const auto labels = RepeatedTo<T>(*call.in[1], rows, classes);
  T* loss = MutableData<T>(*call.out[0]);
  T* backprop = MutableData<T>(*call.out[1]);
  const Terms<T> terms(call, backprop, rows * classes);
  if (!terms.ok()) return OutOfScratch();
  return ForEachChunk(call, rows, RowsPerChunk(classes), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      W* work = terms.at(i * classes);
      for (int64_t j = 0; j < classes; ++j) work[j] = Widen(logits.at(i, j));
      const W largest = Largest(work, classes);
      const W sum = SumOfExp<false>(work, classes, largest, static_cast<W*>(nullptr));
      for (int64_t j = 0; j < classes; ++j) work[j] -= largest;
      loss[i] = Narrow<T>(Loss(work, Log(sum), labels.data + i * labels.row_stride, labels.column_stride, classes));
      const W scale = 1 / sum;
      for (int64_t j = 0; j < classes; ++j) work[j] = Exp(work[j]) * scale;
      for (int64_t j = 0; j < classes; ++j) {
        backprop[i * classes + j] = Narrow<T>(work[j] - static_cast<W>(Widen(labels.at(i, j))));
      }
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
  T* loss = MutableData<T>(*call.out[0]);
  T* backprop = MutableData<T>(*call.out[1]);
  const Terms<T> terms(call, backprop, rows * classes);
  if (!terms.ok()) return OutOfScratch();
  return ForEachChunk(call, rows, RowsPerChunk(classes), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const T* row = logits + i * classes;
      const int64_t label = IntAt(*call.in[1], i);
      const W largest = Largest(row, classes);
      const W shifted = static_cast<W>(Widen(row[label])) - largest;
      W* exps = terms.at(i * classes);
      const W sum = SumOfExp<true>(row, classes, largest, exps);
      loss[i] = Narrow<T>(Log(sum) - shifted);
      const W scale = 1 / sum;
      const W probability = exps[label] * scale;
      for (int64_t j = 0; j < classes; ++j) backprop[i * classes + j] = Narrow<T>(exps[j] * scale);
      backprop[i * classes + label] = Narrow<T>(probability - 1);
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
