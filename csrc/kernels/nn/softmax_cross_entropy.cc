// Cross entropies of softmax, with their gradients.
//
// softmax_cross_entropy
//   in[0]  logits   floating, [batch, classes]
//   in[1]  labels   the same type; both are broadcast against each other
//   out[0] loss     [batch]: sum of labels * -log(softmax)
//   out[1] backprop [batch, classes]: softmax - labels
//
// sparse_softmax_cross_entropy
//   in[1]  labels   int32 | int64 [batch], each in [0, classes)
#include "arithmetic/softmax/row_tile.h"

namespace stillflow {
namespace {

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
  return ForEachTile<W>(call, rows, classes, [=](RowTile<W>& tile, int64_t first, int64_t count) {
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
  return ForEachTile<W>(call, rows, classes, [=, &labels](RowTile<W>& tile, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) Shift(logits + (first + i) * classes, classes, tile.shifted(i));
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

STILLFLOW_KERNELS(nn, softmax_cross_entropy){{"softmax_cross_entropy", "features, labels", CrossEntropy},
                                             {"sparse_softmax_cross_entropy", "features, labels", SparseCrossEntropy},
                                             {}};

}  // namespace stillflow
