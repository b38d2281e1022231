// multinomial, stateless_multinomial: class indices sampled from softmax(logits).
//
//   in[0]  logits       [rows, classes], of any number type; those that are not finite have probability 0
//   in[1]  num_samples  int32 scalar
//   in[2]  seed         stateless_multinomial: int32 | int64 [2]
//   out[0] output       [rows, num_samples], int32 | int64 (attr output_dtype); `classes` where all are impossible
//   state  the node's stream; a sample takes two words, one after the other through all rows
#include <algorithm>
#include <cmath>

#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/exponential.h"
#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kSamplesPerChunk = 4096;  // of one row; what a chunk of several rows costs is about the same
constexpr int kSamplesPerTile = 64;

Status CheckInput(const KernelCall& call) {
  const Tensor& logits = *call.in[0];
  const Tensor& num_samples = *call.in[1];
  if (logits.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("logits should be a matrix, got shape %s", ShapeText(logits).c_str());
  }
  if (num_samples.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_samples should be a scalar, got shape %s", ShapeText(num_samples).c_str());
  }
  if (IntAt(num_samples, 0) < 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_samples should be nonnegative, got %lld",
                                      static_cast<long long>(IntAt(num_samples, 0)));
  }
  if (logits.dims[1] <= 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_classes should be positive, got %lld",
                                      static_cast<long long>(logits.dims[1]));
  }
  return Status();
}

// Makes sums[i] the running sum of exp(logit - largest), which is 0 for logits that are not finite.
void Cumulate(const Tensor& logits, int64_t row, double* sums) {
  const int64_t classes = logits.dims[1];
  TileCall cast = {};
  cast.count = classes;
  cast.in[0] = Data<char>(logits) + row * classes * ElementBytes(logits.dtype);
  cast.out = sums;
  RunTileOp(*FindTileOp("cast", logits.dtype, DType::kDouble), cast);
  double largest = -HUGE_VAL;
  for (int64_t i = 0; i < classes; ++i) largest = std::isfinite(sums[i]) ? std::max(largest, sums[i]) : largest;
  for (int64_t i = 0; i < classes; ++i) sums[i] = std::isfinite(sums[i]) ? Exp(sums[i] - largest) : 0.0;
  for (int64_t i = 1; i < classes; ++i) sums[i] += sums[i - 1];
}

// Draws samples [begin, end) of the whole output, all of one row.
template <typename Output>
void Draw(sf_philox base, const double* sums, int64_t classes, Range samples, Output* to) {
  uint32_t words[2 * (kSamplesPerTile + 2)];  // up to one sample more at both ends
  for (int64_t begin = samples.begin; begin < samples.end; begin += kSamplesPerTile) {
    const int64_t end = std::min(begin + kSamplesPerTile, samples.end);
    // A block holds the words of two samples, the first of an even one.
    sf_philox_fill(sf_philox_skip(base, begin / 2), (end + 1) / 2 - begin / 2, words);
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t* pair = words + 2 * (i - begin / 2 * 2);
      const double mark = UniformDouble(pair[0], pair[1]) * sums[classes - 1];
      to[i] = static_cast<Output>(std::upper_bound(sums, sums + classes, mark) - sums);
    }
  }
}

template <typename Output>
Status DrawRows(const KernelCall& call, sf_philox base) {
  const Tensor& logits = *call.in[0];
  const int64_t rows = logits.dims[0];
  const int64_t classes = logits.dims[1];
  const int64_t samples = call.out[0]->dims[1];
  Output* const to = MutableData<Output>(*call.out[0]);
  if (rows == 1) {
    const Scratch sums(call, classes * static_cast<int64_t>(sizeof(double)));
    if (!sums.ok()) return OutOfScratch();
    Cumulate(logits, 0, sums.data<double>());
    return ForEachChunk(call, samples, kSamplesPerChunk,
                        [&](Range chunk) { Draw(base, sums.data<double>(), classes, chunk, to); });
  }
  const int64_t rows_per_chunk = std::max<int64_t>(kSamplesPerChunk / std::max(samples, classes), 1);
  return ForEachChunk(call, rows, rows_per_chunk, [&](Range chunk) {
    const Scratch sums(call, classes * static_cast<int64_t>(sizeof(double)));
    if (!sums.ok()) return OutOfScratch();
    for (int64_t row = chunk.begin; row < chunk.end; ++row) {
      Cumulate(logits, row, sums.data<double>());
      Draw(base, sums.data<double>(), classes, Range{row * samples, (row + 1) * samples}, to);
    }
    return Status();
  });
}

template <bool kIsStateless>
Status Multinomial(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInput(call));
  sf_philox base = {};
  if constexpr (kIsStateless) STILLFLOW_RETURN_IF_ERROR(StatelessStream(*call.in[2], &base));
  const auto output_dtype = static_cast<DType>(call.attrs[0].i);
  Shape shape;
  shape.Add(call.in[0]->dims[0]);
  shape.Add(IntAt(*call.in[1], 0));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, output_dtype, shape));
  if (call.out[0]->count == 0) return Status();
  if constexpr (!kIsStateless) {
    constexpr int64_t kBlocksPerSample = 2 * kBlocksPerElement;
    base = TakeBlocks(call, shape.dims[0] * ((shape.dims[1] + 3) / 4 * 4), kBlocksPerSample);
  }
  const DType type = call.in[0]->dtype;
  if (type == DType::kBool || FindTileOp("cast", type, DType::kDouble) == nullptr) {
    return UnsupportedType("Multinomial", type);
  }
  return ForType<int32_t, int64_t>("Multinomial", output_dtype,
                                   [&](auto tag) { return DrawRows<typename decltype(tag)::type>(call, base); });
}

}  // namespace

STILLFLOW_KERNELS(random, multinomial){
    {"multinomial", "logits, num_samples | output_dtype", Multinomial<false>},
    {"stateless_multinomial", "logits, num_samples, seed | output_dtype", Multinomial<true>},
    {}};

}  // namespace stillflow
