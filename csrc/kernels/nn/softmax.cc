// softmax, log_softmax
//   in[0]  logits   floating, [..., classes]
//   out[0] the same shape
#include "arithmetic/softmax/row_tile.h"
#include "memory/stream.h"

namespace stillflow {
namespace {

// Writes the results of `count` rows.
template <bool kIsLog, typename T>
void Write(RowTile<Wide<T>>& tile, const T* from, int64_t count, int64_t classes, T* to) {
  using W = Wide<T>;
  if constexpr (kIsLog) {
    for (int64_t i = 0; i < count; ++i) Shift(from + i * classes, classes, tile.shifted(i));
    tile.Exponentiate(count);
    tile.TakeLogarithms(count);
  } else {
    tile.Exponentiate(from, count);
  }
  for (int64_t i = 0; i < count; ++i) {
    T* const row = to + i * classes;
    if constexpr (kIsLog) {
      const W* const shifted = tile.shifted(i);
      const W log_sum = tile.log_sum(i);
#pragma GCC ivdep
      for (int64_t j = 0; j < classes; ++j) row[j] = Narrow<T>(shifted[j] - log_sum);
    } else {
      const W* const exps = tile.exps(i);
      const W scale = 1 / tile.sum(i);
#pragma GCC ivdep
      for (int64_t j = 0; j < classes; ++j) row[j] = Narrow<T>(exps[j] * scale);
    }
  }
}

// Results are computed in place, then streamed while the logits of the next tile are prefetched.
template <bool kIsLog, typename T>
Status StreamRows(const KernelCall& call, int64_t rows, int64_t classes, const T* from, T* to) {
  constexpr int64_t kElementsPerChunk = 131072;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  return ForEachChunk(call, rows, std::max<int64_t>(kElementsPerChunk / classes, 1), [=, &call](Range range) {
    RowTile<T> tile(call, classes);
    if (!tile.ok()) return OutOfScratch();
    T* const staged = kIsLog ? tile.shifted(0) : tile.exps(0);
    ReadAhead ahead;
    ahead.Add(reinterpret_cast<const char*>(from + 2 * tile.rows() * classes), kLineBytes);
    for (int64_t row = range.begin; row < range.end; row += tile.rows()) {
      const int64_t count = std::min(tile.rows(), range.end - row);
      Write<kIsLog>(tile, from + row * classes, count, classes, staged);
      StreamBytes(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(staged), count * classes * kBytes,
                  row * classes * kBytes, ahead);
    }
    EndStream();
    return Status();
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
    if constexpr (std::is_same_v<T, Wide<T>>) {
      if (from != to && IsStreamed(*call.out[0])) return StreamRows<kIsLog>(call, rows, classes, from, to);
    }
    return ForEachTile<Wide<T>>(call, rows, classes, [=](auto& tile, int64_t first, int64_t count) {
      Write<kIsLog>(tile, from + first * classes, count, classes, to + first * classes);
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, softmax){
    {"softmax", "logits", SoftmaxKernel<false>}, {"log_softmax", "logits", SoftmaxKernel<true>}, {}};

}  // namespace stillflow
