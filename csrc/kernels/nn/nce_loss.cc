// nce_loss: noise-contrastive estimation with its gradient, for one true class per example.
//
//   in[0]  inputs            float [R, D]
//   in[1]  weights           float [V, D]
//   in[2]  biases            float [V]
//   in[3]  ids               int64 [R + S]: the examples' true classes, then the sampled ones
//   in[4]  true_expected     float, R elements: how often each true class is expected among the samples
//   in[5]  sampled_expected  float [S]: the same of the sampled classes
//   out[0] losses            float [R]
//   out[1] input gradient    float [R, D]
//   out[2] weight gradient   float [R + S, D], of the rows that `ids` names
//   out[3] bias gradient     float [R + S]
//   attrs  scale: what the losses are multiplied by in what is differentiated; whether losses are wanted
//
// It stands for the nodes that tf.nn.nce_loss and its gradient make and gives their bits: each formula below
// keeps the operations and the order of those nodes. Examples in a row that have the same input (the pairs of one
// word in skip-gram) have the same logits, which are computed once.
#include <algorithm>

#include "arithmetic/gemm/gemm.h"
#include "arithmetic/gemm/packing.h"
#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"
#include "memory/indices.h"
#include "memory/pick_rows.h"
#include "memory/prefetch.h"
#include "memory/transposed_tile.h"

namespace stillflow {
namespace {

constexpr int64_t kExamplesPerChunk = 32;
constexpr int64_t kRowsPerRun = 64;  // of sums over examples, as in reduce.cc

// The nodes of sigmoid_cross_entropy_with_logits: a logit's loss and the gradient of scale * loss, of `power`, which
// is e^-|logit|.
STILLFLOW_INLINE float PowerOf(float logit) { return ExpOfNonPositive(logit >= 0 ? -logit : logit); }

STILLFLOW_INLINE float LossOf(float logit, float label, float power) {
  return ((logit >= 0 ? logit : 0.0f) - logit * label) + Log1pOfUnit(power);
}

STILLFLOW_INLINE float SlopeOf(float power, float scale) { return (scale * (1.0f / (1.0f + power))) * power; }

STILLFLOW_INLINE float GradientOfTruth(float logit, float power, float scale) {
  const bool is_positive = logit >= 0;
  const float slope = SlopeOf(power, scale);
  return (((is_positive ? scale : 0.0f) + -scale) + (is_positive ? 0.0f : slope)) + -(is_positive ? slope : 0.0f);
}

// For a label of 0, where most terms are zeros that change nothing.
STILLFLOW_INLINE float GradientOfSample(float logit, float power, float scale) {
  const float slope = SlopeOf(power, scale);
  return logit >= 0 ? scale - slope : slope;
}

struct Sizes {
  int64_t examples, samples, width;
};

// What all chunks share.
struct Work {
  Sizes sizes;
  float scale;
  const float* inputs;
  const float* weights;
  const int64_t* ids;
  const float* sampled;             // [S, D]
  const float* sampled_transposed;  // [D, S]
  const float* sampled_bias;        // [S]
  const float* sampled_log;         // [S], of the expected counts
  const float* true_bias;           // [R]
  const float* true_log;            // [R]
  float* losses;
  float* input_gradient;
  float* weight_gradient;
  float* bias_gradient;
  float* gradient;  // [R, S], by the sampled logits
};

// The distinct inputs among the examples of a chunk: example i has the logits of row `of[i]`.
struct Distinct {
  int64_t count = 0;
  int64_t of[kExamplesPerChunk];
  int64_t first[kExamplesPerChunk];
};

Distinct FindDistinct(const float* inputs, int64_t examples, int64_t width) {
  Distinct distinct;
  for (int64_t i = 0; i < examples; ++i) {
    const bool is_same =
        i > 0 && std::memcmp(inputs + (i - 1) * width, inputs + i * width, width * sizeof(float)) == 0;
    if (!is_same) distinct.first[distinct.count++] = i;
    distinct.of[i] = distinct.count - 1;
  }
  return distinct;
}

// to[i] = start[i] + the sum of the `terms` floats at row(i), from left to right; as many rows at a time as a
// register has lanes.
template <typename Row>
void SumRows(int64_t rows, int64_t terms, const Row& row, const float* start, float* to) {
  constexpr int kLanes = VectorOf<int32_t, kRegisterBytes>::kLanes;
  using Bits = VectorOf<int32_t, kRegisterBytes>::type;
  using Floats = VectorOf<float, kRegisterBytes>::type;
  const int64_t whole_terms = terms - terms % kLanes;
  const auto add_rest = [&](int64_t i, int64_t begin) {
    for (int64_t k = begin; k < terms; ++k) to[i] += row(i)[k];
  };
  if (start == nullptr) {
    std::fill_n(to, rows, 0.0f);
  } else {
    std::copy_n(start, rows, to);
  }
  int64_t i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    const float* from[kLanes];
    for (int c = 0; c < kLanes; ++c) from[c] = row(i + c);
    Floats sums = *reinterpret_cast<const Floats*>(to + i);
    for (int64_t k = 0; k < whole_terms; k += kLanes) {
      Bits block[kLanes];
      for (int c = 0; c < kLanes; ++c) block[c] = *reinterpret_cast<const Bits*>(from[c] + k);
      TransposeRegisters(block);
      for (int c = 0; c < kLanes; ++c) sums += reinterpret_cast<Floats>(block[c]);
    }
    *reinterpret_cast<Floats*>(to + i) = sums;
    for (int c = 0; c < kLanes; ++c) add_rest(i + c, whole_terms);
  }
  for (; i < rows; ++i) add_rest(i, 0);
}

// ---- One chunk of examples --------------------------------------------------------------------------------------

// Memory of a chunk.
struct ChunkScratch {
  float* inputs;          // [distinct, D], if there are fewer than examples
  float* logits;          // [distinct, S]; the losses, afterwards
  float* gradient;        // [distinct, S]
  float* products;        // [examples, D]
  float* input_gradient;  // [distinct, D]
  float true_logits[kExamplesPerChunk];
  float true_losses[kExamplesPerChunk];

  static int64_t Count(const Sizes& s) { return kExamplesPerChunk * (3 * s.width + 2 * s.samples); }
  ChunkScratch(const Sizes& s, float* memory) {
    inputs = memory;
    logits = inputs + kExamplesPerChunk * s.width;
    gradient = logits + kExamplesPerChunk * s.samples;
    products = gradient + kExamplesPerChunk * s.samples;
    input_gradient = products + kExamplesPerChunk * s.width;
  }
};

// The sampled logits of distinct inputs, and from them losses (over the logits) and gradients. In steps: a processor
// that looks ahead over whole chains of operations has few elements in work.
template <bool kWantsLoss>
void CompareWithSamples(const Work& work, int64_t rows, float* logits, float* gradient) {
  constexpr int64_t kMostAtOnce = 256;
  float powers[kMostAtOnce];
  const int64_t samples = work.sizes.samples;
  const float scale = work.scale;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t begin = 0; begin < samples; begin += kMostAtOnce) {
      const int64_t count = std::min(kMostAtOnce, samples - begin);
      const float* const bias = work.sampled_bias + begin;
      const float* const log = work.sampled_log + begin;
      float* const logit = logits + i * samples + begin;
      float* const slope = gradient + i * samples + begin;
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) {
        logit[j] = (logit[j] + bias[j]) - log[j];
        powers[j] = PowerOf(logit[j]);
      }
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) slope[j] = GradientOfSample(logit[j], powers[j], scale);
      if (!kWantsLoss) continue;
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) logit[j] = LossOf(logit[j], 0.0f, powers[j]);
    }
  }
}

template <bool kWantsLoss>
void CompareWithTruth(const Work& work, Range range, ChunkScratch* chunk) {
  const int64_t width = work.sizes.width;
  const int64_t examples = range.end - range.begin;
  for (int64_t i = 0; i < examples; ++i) {
    const float* input = work.inputs + (range.begin + i) * width;
    const float* weight = work.weights + work.ids[range.begin + i] * width;
    float* product = chunk->products + i * width;
    for (int64_t k = 0; k < width; ++k) product[k] = input[k] * weight[k];
  }
  SumRows(examples, width, [&](int64_t i) { return chunk->products + i * width; }, nullptr, chunk->true_logits);
  float* slope = work.bias_gradient + range.begin;
  const float* bias = work.true_bias + range.begin;
  const float* log = work.true_log + range.begin;
#pragma GCC ivdep
  for (int64_t i = 0; i < examples; ++i) {
    const float logit = (chunk->true_logits[i] + bias[i]) - log[i];
    const float power = PowerOf(logit);
    if (kWantsLoss) chunk->true_losses[i] = LossOf(logit, 1.0f, power);
    slope[i] = GradientOfTruth(logit, power, work.scale) + 0.0f;
  }
}

// The true classes' part of the gradients, added to the samples' part.
void AddTruth(const Work& work, Range range, const Distinct& distinct, const ChunkScratch& chunk) {
  const int64_t width = work.sizes.width;
  for (int64_t i = range.begin; i < range.end; ++i) {
    const float slope = work.bias_gradient[i];
    const float* input = work.inputs + i * width;
    const float* weight = work.weights + work.ids[i] * width;
    const float* sampled = chunk.input_gradient + distinct.of[i - range.begin] * width;
    float* input_gradient = work.input_gradient + i * width;
    float* weight_gradient = work.weight_gradient + i * width;
#pragma GCC ivdep
    for (int64_t k = 0; k < width; ++k) {
      input_gradient[k] = sampled[k] + slope * weight[k];
      weight_gradient[k] = slope * input[k] + 0.0f;
    }
  }
}

template <bool kWantsLoss>
Status ComputeChunk(const KernelCall& call, const Work& work, Range range) {
  const auto [unused, samples, width] = work.sizes;
  const int64_t examples = range.end - range.begin;
  const Scratch scratch(call, ChunkScratch::Count(work.sizes) * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  ChunkScratch chunk(work.sizes, scratch.data<float>());
  for (int64_t i = range.begin; i < range.end; ++i) {
    PrefetchRow(work.weights + work.ids[i] * width, width * static_cast<int64_t>(sizeof(float)));
  }
  const float* inputs = work.inputs + range.begin * width;
  const Distinct distinct = FindDistinct(inputs, examples, width);
  float* const gradient = work.gradient + range.begin * samples;
  if (distinct.count == examples) {
    chunk.gradient = gradient;
  } else {
    for (int64_t i = 0; i < distinct.count; ++i) {
      std::copy_n(inputs + distinct.first[i] * width, width, chunk.inputs + i * width);
    }
    inputs = chunk.inputs;
  }
  STILLFLOW_RETURN_IF_ERROR(Gemm<float>(call, distinct.count, samples, width, {inputs, width, 1},
                                        {work.sampled_transposed, samples, 1}, chunk.logits, samples));
  CompareWithSamples<kWantsLoss>(work, distinct.count, chunk.logits, chunk.gradient);
  STILLFLOW_RETURN_IF_ERROR(Gemm<float>(call, distinct.count, width, samples, {chunk.gradient, samples, 1},
                                        {work.sampled, width, 1}, chunk.input_gradient, width));
  CompareWithTruth<kWantsLoss>(work, range, &chunk);
  if (kWantsLoss) {
    SumRows(
        examples, samples, [&](int64_t i) { return chunk.logits + distinct.of[i] * samples; }, chunk.true_losses,
        work.losses + range.begin);
  }
  AddTruth(work, range, distinct, chunk);
  for (int64_t i = 0; i < examples && chunk.gradient != gradient; ++i) {
    std::copy_n(chunk.gradient + distinct.of[i] * samples, samples, gradient + i * samples);
  }
  return Status();
}

// ---- The samples' weights and biases ----------------------------------------------------------------------------

// sums[j] = the sum of column j of [rows, columns]: runs of rows from the top down, the runs by a tree.
void SumColumns(const float* from, int64_t rows, int64_t columns, float* runs, float* sums) {
  int64_t count = std::max<int64_t>((rows + kRowsPerRun - 1) / kRowsPerRun, 1);
  for (int64_t run = 0; run < count; ++run) {
    float* sum = runs + run * columns;
    std::fill_n(sum, columns, 0.0f);
    for (int64_t i = run * kRowsPerRun; i < std::min((run + 1) * kRowsPerRun, rows); ++i) {
      for (int64_t j = 0; j < columns; ++j) sum[j] += from[i * columns + j];
    }
  }
  for (; count > 1; count = (count + 1) / 2) {
    for (int64_t run = 0; run < count / 2; ++run) {
      for (int64_t j = 0; j < columns; ++j) {
        runs[run * columns + j] = runs[2 * run * columns + j] + runs[(2 * run + 1) * columns + j];
      }
    }
    if (count % 2 != 0) std::copy_n(runs + (count - 1) * columns, columns, runs + count / 2 * columns);
  }
  for (int64_t j = 0; j < columns; ++j) sums[j] = runs[j] + 0.0f;
}

Status GradientOfSamples(const KernelCall& call, const Work& work, float* runs) {
  const auto [examples, samples, width] = work.sizes;
  float* gradient = work.weight_gradient + examples * width;
  STILLFLOW_RETURN_IF_ERROR(Gemm<float>(call, samples, width, examples, {work.gradient, 1, samples},
                                        {work.inputs, width, 1}, gradient, width));
  for (int64_t i = 0; i < samples * width; ++i) gradient[i] += 0.0f;
  SumColumns(work.gradient, examples, samples, runs, work.bias_gradient + examples);
  return Status();
}

// ---- All of it ----------------------------------------------------------------------------------------------------

void Logarithms(const float* from, int64_t count, float* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = Log(from[i]);
}

// Copies what is read at random in memory: the samples' rows, also transposed, and all biases.
void CollectRows(const Work& work, const Tensor& weights, const float* biases, float* sampled, float* transposed,
                 float* bias) {
  const auto [examples, samples, width] = work.sizes;
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(float));
  const Table table = {Data<char>(weights), weights.count * static_cast<int64_t>(sizeof(float)), row_bytes};
  PickRows(table, work.ids + examples, samples, reinterpret_cast<char*>(sampled));
  for (int64_t i = 0; i < examples + samples; ++i) bias[i] = biases[work.ids[i]];
  gemm::PackTransposed<float>({sampled, width, 1, samples, width}, transposed, samples);
}

Status Describe(const KernelCall& call, Sizes* sizes) {
  const Tensor& inputs = *call.in[0];
  const Tensor& weights = *call.in[1];
  sizes->examples = inputs.dims[0];
  sizes->width = inputs.dims[1];
  sizes->samples = call.in[3]->count - sizes->examples;
  const bool fits = inputs.rank == 2 && weights.rank == 2 && weights.dims[1] == sizes->width &&
                    call.in[2]->count == weights.dims[0] && sizes->samples >= 0 &&
                    call.in[4]->count == sizes->examples && call.in[5]->count == sizes->samples;
  if (fits) return Status();
  return STILLFLOW_INVALID_ARGUMENT("nce_loss: inputs %s, weights %s and ids %s do not fit",
                                    ShapeText(inputs).c_str(), ShapeText(weights).c_str(),
                                    ShapeText(*call.in[3]).c_str());
}

Status AllocateOutputs(const KernelCall& call, const Sizes& sizes) {
  Shape rows;
  rows.Add(sizes.examples);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, rows));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, Shape(*call.in[0])));
  Shape ids;
  ids.Add(sizes.examples + sizes.samples);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 3, DType::kFloat, ids));
  ids.Add(sizes.width);
  return AllocateOutput(call, 2, DType::kFloat, ids);
}

Status NceLoss(const KernelCall& call) {
  Work work;
  Sizes& s = work.sizes;
  STILLFLOW_RETURN_IF_ERROR(Describe(call, &s));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutputs(call, s));
  const int64_t id_count = s.examples + s.samples;
  const Scratch id_scratch(call, id_count * static_cast<int64_t>(sizeof(int64_t)));
  const int64_t runs = (s.examples + kRowsPerRun - 1) / kRowsPerRun + 1;
  const int64_t floats = s.samples * (2 * s.width + runs + s.examples) + 2 * id_count;
  const Scratch scratch(call, floats * static_cast<int64_t>(sizeof(float)));
  if (!id_scratch.ok() || !scratch.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ReadRows<int64_t>(*call.in[3], call.in[1]->dims[0], id_scratch.data<int64_t>()));
  float* sampled = scratch.data<float>();
  float* transposed = sampled + s.samples * s.width;
  float* bias = transposed + s.samples * s.width;
  float* log = bias + id_count;
  float* run_sums = log + id_count;
  work.gradient = run_sums + runs * s.samples;
  work.scale = static_cast<float>(call.attrs[0].f);
  work.inputs = Data<float>(*call.in[0]);
  work.weights = Data<float>(*call.in[1]);
  work.ids = id_scratch.data<int64_t>();
  work.sampled = sampled;
  work.sampled_transposed = transposed;
  work.true_bias = bias;
  work.sampled_bias = bias + s.examples;
  work.true_log = log;
  work.sampled_log = log + s.examples;
  work.losses = MutableData<float>(*call.out[0]);
  work.input_gradient = MutableData<float>(*call.out[1]);
  work.weight_gradient = MutableData<float>(*call.out[2]);
  work.bias_gradient = MutableData<float>(*call.out[3]);
  CollectRows(work, *call.in[1], Data<float>(*call.in[2]), sampled, transposed, bias);
  Logarithms(Data<float>(*call.in[4]), s.examples, log);
  Logarithms(Data<float>(*call.in[5]), s.samples, log + s.examples);
  const bool wants_loss = call.attrs[1].i != 0;
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, s.examples, kExamplesPerChunk, [&](Range range) {
    return wants_loss ? ComputeChunk<true>(call, work, range) : ComputeChunk<false>(call, work, range);
  }));
  return GradientOfSamples(call, work, run_sums);
}

}  // namespace

STILLFLOW_KERNELS(nn, nce_loss){
    {"nce_loss", "inputs, weights, biases, ids, true_expected, sampled_expected | scale, wants_loss", NceLoss}, {}};

}  // namespace stillflow
