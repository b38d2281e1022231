// Candidate samplers: classes sampled from a large set, and the expected count of each.
//
//   in[0]   true_classes            int64[batch, num_true]
//   out[0]  sampled_candidates      int64[num_sampled]
//   out[1]  true_expected_count     float[batch, num_true]
//   out[2]  sampled_expected_count  float[num_sampled]
//   attrs   num_true, num_sampled, unique, range_max, ... (see the list at the end)
//
// Drawing goes on one by one; with `unique`, a class that was drawn before is dropped. The classes follow from the
// node's stream alone, for the learned unigram sampler also from the true classes of earlier runs.
#include <algorithm>
#include <cmath>
#include <new>

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"
#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/float_functions.h"
#include "arithmetic/random/id_table.h"
#include "arithmetic/random/stream.h"
#include "arithmetic/random/unigram.h"

namespace stillflow {
namespace {

constexpr int64_t kBlocksPerSample = 512;

// What all samplers are told.
struct Request {
  int64_t num_true;
  int64_t num_sampled;
  bool is_unique;

  explicit Request(const KernelCall& call)
      : num_true(call.attrs[0].i), num_sampled(call.attrs[1].i), is_unique(call.attrs[2].i != 0) {}
};

Status CheckInput(const KernelCall& call, const Request& request, int64_t range) {
  const Tensor& classes = *call.in[0];
  if (classes.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("true_classes must be a matrix, got shape %s", ShapeText(classes).c_str());
  }
  if (classes.dims[1] != request.num_true) {
    return STILLFLOW_INVALID_ARGUMENT("true_classes must have num_true columns, expected: %lld was: %lld",
                                      static_cast<long long>(request.num_true),
                                      static_cast<long long>(classes.dims[1]));
  }
  if (request.num_sampled < 1 || range < 1) {
    return STILLFLOW_INVALID_ARGUMENT("num_sampled and range_max must be at least 1, got %lld and %lld",
                                      static_cast<long long>(request.num_sampled), static_cast<long long>(range));
  }
  if (request.is_unique && request.num_sampled > range) {
    return STILLFLOW_INVALID_ARGUMENT("Sampler's range is too small.");
  }
  return Status();
}

Status AllocateOutputs(const KernelCall& call, const Request& request) {
  Shape sampled;
  sampled.Add(request.num_sampled);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, sampled));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, Shape(*call.in[0])));
  return AllocateOutput(call, 2, DType::kFloat, sampled);
}

// ---- Drawing ------------------------------------------------------------------------------------------------

// Where the classes that are left have next to no probability, drawing would go on for ever.
constexpr int64_t kMostTries = INT32_MAX;
constexpr int64_t kTriesPerPoll = 1 << 20;

Status PollForStop(const KernelCall& call) {
  return call.services->parallel_for(call.run, 1, [](void*, int64_t) { return Status(); }, nullptr);
}

// Fills `samples`; `tries` is how many draws it took. `draw()` returns a class.
template <typename Draw>
Status Sample(const KernelCall& call, const Request& request, Draw draw, int64_t* samples, int64_t* tries) {
  *tries = request.num_sampled;
  if (!request.is_unique) {
    for (int64_t i = 0; i < request.num_sampled; ++i) samples[i] = draw();
    return Status();
  }
  IdTable seen(call, request.num_sampled);
  if (!seen.ok()) return OutOfScratch();
  int64_t count = 0;
  for (*tries = 0; count < request.num_sampled; ++*tries) {
    if (*tries == kMostTries) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Sampler's range is too small: after %lld draws %lld of %lld classes were found",
          static_cast<long long>(*tries), static_cast<long long>(count), static_cast<long long>(request.num_sampled));
    }
    if (*tries % kTriesPerPoll == kTriesPerPoll - 1) STILLFLOW_RETURN_IF_ERROR(PollForStop(call));
    const int64_t value = draw();
    if (seen.Insert(value, count)) samples[count++] = value;
  }
  return Status();
}

// ---- Expected counts ----------------------------------------------------------------------------------------

// How often a class is to be expected after so many tries, each of which draws it with this probability.
float ExpectedCount(const Request& request, int64_t tries, float probability) {
  if (tries == request.num_sampled) return probability * static_cast<float>(request.num_sampled);
  return -Expm1Float(static_cast<float>(tries) * Log1pFloat(-probability));
}

// Draws, and sets the outputs. `expect(classes, count, tries, counts)` sets how often classes are to be expected.
template <typename Draw, typename Expect>
Status RunExpecting(const KernelCall& call, const Request& request, const Draw& draw, const Expect& expect) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutputs(call, request));
  int64_t* samples = MutableData<int64_t>(*call.out[0]);
  int64_t tries = 0;
  STILLFLOW_RETURN_IF_ERROR(Sample(call, request, draw, samples, &tries));
  const auto set = [&](const int64_t* classes, Tensor* output) {
    expect(classes, output->count, tries, MutableData<float>(*output));
  };
  set(Data<int64_t>(*call.in[0]), call.out[1]);
  set(samples, call.out[2]);
  return Status();
}

// The same from `probability(class)`, that of one draw.
template <typename Draw, typename Probability>
Status Run(const KernelCall& call, const Request& request, const Draw& draw, const Probability& probability) {
  return RunExpecting(call, request, draw,
                      [&](const int64_t* classes, int64_t count, int64_t tries, float* expected) {
                        for (int64_t i = 0; i < count; ++i)
                          expected[i] = ExpectedCount(request, tries, probability(classes[i]));
                      });
}

// ---- Samplers without weights -------------------------------------------------------------------------------

// Classes with P(v) = log((v + 2) / (v + 1)) / log(range + 1), drawn a few at a time.
class LogUniformDraws {
 public:
  LogUniformDraws(sf_philox position, int64_t range, double log_range)
      : position_(position), range_(range), log_range_(log_range) {}

  int64_t Next() {
    if (next_ == kDraws) Refill();
    return classes_[next_++];
  }

 private:
  static constexpr int kDraws = 16;
  static constexpr int kBlocks = kDraws / 2;

  void Refill() {
    uint32_t words[kBlocks * SF_PHILOX_WORDS];
    sf_philox_fill(position_, kBlocks, words);
    position_ = sf_philox_skip(position_, kBlocks);
    double powers[kDraws];
    for (int i = 0; i < kDraws; ++i) {
      powers[i] = Exp(UniformDouble(words[2 * i], words[2 * i + 1]) * log_range_);
    }
    for (int i = 0; i < kDraws; ++i) {
      const int64_t value = static_cast<int64_t>(powers[i]) - 1;
      classes_[i] = value >= range_ ? value - range_ : value;  // rounding may lead to `range_`
    }
    next_ = 0;
  }

  sf_philox position_;
  int64_t range_;
  double log_range_;
  int next_ = kDraws;
  int64_t classes_[kDraws];
};

// The logarithms of the probabilities not to draw a class, for ranges that are not too large: with them an expected
// count costs one exponential.
class LogUniformTable {
 public:
  explicit LogUniformTable(int64_t range) : range_(range), log_range_(Log1p(static_cast<double>(range))) {
    if (range < 1 || range > kMostKept) return;
    missed_ = static_cast<float*>(std::malloc(range * sizeof(float)));
    for (int64_t v = 0; missed_ != nullptr && v < range; ++v) missed_[v] = Log1pFloat(-Probability(v));
  }
  ~LogUniformTable() { std::free(missed_); }
  LogUniformTable(const LogUniformTable&) = delete;
  LogUniformTable& operator=(const LogUniformTable&) = delete;

  double log_range() const { return log_range_; }
  void Expect(const Request& request, const int64_t* classes, int64_t count, int64_t tries, float* expected) const {
    const bool are_kept = missed_ != nullptr && tries != request.num_sampled &&
                          std::all_of(classes, classes + count, [&](int64_t v) { return v >= 0 && v < range_; });
    if (!are_kept) {
      for (int64_t i = 0; i < count; ++i) expected[i] = ExpectedCount(request, tries, Probability(classes[i]));
      return;
    }
    const auto times = static_cast<float>(tries);
    for (int64_t i = 0; i < count; ++i) expected[i] = times * missed_[classes[i]];
    for (int64_t i = 0; i < count; ++i) expected[i] = -Expm1Float(expected[i]);  // vector code
  }

 private:
  static constexpr int64_t kMostKept = 1 << 20;

  float Probability(int64_t v) const {
    const auto value = static_cast<double>(v);
    return static_cast<float>(Log((value + 2.0) / (value + 1.0)) / log_range_);
  }

  const int64_t range_;
  const double log_range_;
  float* missed_ = nullptr;
};

Status PrepareLogUniform(const Attr* attrs, void** prepared) {
  *prepared = new (std::nothrow) LogUniformTable(attrs[3].i);
  return *prepared == nullptr ? OutOfScratch() : Status();
}

void ReleaseLogUniform(void* prepared) { delete static_cast<LogUniformTable*>(prepared); }

Status LogUniform(const KernelCall& call) {
  const Request request(call);
  const int64_t range = call.attrs[3].i;
  STILLFLOW_RETURN_IF_ERROR(CheckInput(call, request, range));
  const auto& table = *static_cast<const LogUniformTable*>(call.prepared);
  LogUniformDraws draws(TakeBlocks(call, request.num_sampled, kBlocksPerSample), range, table.log_range());
  return RunExpecting(
      call, request, [&] { return draws.Next(); },
      [&](const int64_t* classes, int64_t count, int64_t tries, float* expected) {
        table.Expect(request, classes, count, tries, expected);
      });
}

Status Uniform(const KernelCall& call) {
  const Request request(call);
  const int64_t range = call.attrs[3].i;
  STILLFLOW_RETURN_IF_ERROR(CheckInput(call, request, range));
  WordReader words(TakeBlocks(call, request.num_sampled, kBlocksPerSample));
  const ExactUniform<uint64_t> below_range(static_cast<uint64_t>(range));
  const auto probability = static_cast<float>(1.0 / static_cast<double>(range));
  return Run(
      call, request, [&] { return static_cast<int64_t>(below_range.Draw(&words)); },
      [&](int64_t) { return probability; });
}

Status All(const KernelCall& call) {
  const Request request(call);
  STILLFLOW_RETURN_IF_ERROR(CheckInput(call, request, request.num_sampled));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutputs(call, request));
  for (int64_t i = 0; i < request.num_sampled; ++i) MutableData<int64_t>(*call.out[0])[i] = i;
  for (int out = 1; out < 3; ++out) std::fill_n(MutableData<float>(*call.out[out]), call.out[out]->count, 1.0f);
  return Status();
}

// ---- Samplers with weights ----------------------------------------------------------------------------------

Status FixedUnigramSampler(const KernelCall& call) {
  const Request request(call);
  const auto& unigrams = *static_cast<const FixedUnigram*>(call.prepared);
  STILLFLOW_RETURN_IF_ERROR(CheckInput(call, request, unigrams.range()));
  if (request.is_unique && request.num_sampled > unigrams.reachable()) {
    return STILLFLOW_INVALID_ARGUMENT("Sampler's range is too small.");
  }
  WordReader words(TakeBlocks(call, request.num_sampled, kBlocksPerSample));
  return Run(
      call, request, [&] { return unigrams.Draw(&words); }, [&](int64_t v) { return unigrams.Probability(v); });
}

Status PrepareFixedUnigram(const Attr* attrs, void** prepared) {
  FixedUnigram::Options options;
  options.range = attrs[3].i;
  options.vocab_file = static_cast<const char*>(attrs[4].data);
  options.distortion = static_cast<float>(attrs[5].f);
  options.reserved_count = attrs[6].i;
  options.shard_count = attrs[7].i;
  options.shard = attrs[8].i;
  options.unigrams = static_cast<const double*>(attrs[9].data);
  options.unigram_count = attrs[9].size;
  FixedUnigram* unigrams = nullptr;
  Status status = FixedUnigram::Make(options, &unigrams);
  *prepared = unigrams;
  return status;
}

void ReleaseFixedUnigram(void* prepared) { delete static_cast<FixedUnigram*>(prepared); }

Status LearnedUnigramSampler(const KernelCall& call) {
  const Request request(call);
  auto* unigrams = static_cast<LearnedUnigram*>(call.state);
  STILLFLOW_RETURN_IF_ERROR(CheckInput(call, request, unigrams->range()));
  const Tensor& classes = *call.in[0];
  const int64_t* values = Data<int64_t>(classes);
  for (int64_t i = 0; i < classes.count; ++i) {
    if (values[i] < 0 || values[i] >= unigrams->range()) {
      return STILLFLOW_INVALID_ARGUMENT("`true_candidate` out of range [0, %lld), received %lld",
                                        static_cast<long long>(unigrams->range()), static_cast<long long>(values[i]));
    }
  }
  MutexLock guard(unigrams->mutex());
  WordReader words(unigrams->TakeBlocks(request.num_sampled * kBlocksPerSample));
  const ExactUniform<uint32_t> below_total(unigrams->total());
  STILLFLOW_RETURN_IF_ERROR(Run(
      call, request, [&] { return unigrams->Pick(below_total.Draw(&words)); },
      [&](int64_t v) { return unigrams->Probability(v); }));
  for (int64_t i = 0; i < classes.count; ++i) unigrams->Increment(values[i]);
  return Status();
}

Status NewLearnedUnigram(const Attr* attrs, void** state) {
  LearnedUnigram* unigrams = nullptr;
  Status status = LearnedUnigram::Make(attrs[3].i, attrs[4].i, attrs[5].i, &unigrams);
  *state = unigrams;
  return status;
}

void FreeLearnedUnigram(void* state) { delete static_cast<LearnedUnigram*>(state); }

int64_t SaveLearnedUnigram(void* state, void* bytes) {
  auto* unigrams = static_cast<LearnedUnigram*>(state);
  MutexLock guard(unigrams->mutex());
  return unigrams->Save(bytes);
}

bool RestoreLearnedUnigram(void* state, const void* bytes, int64_t size) {
  auto* unigrams = static_cast<LearnedUnigram*>(state);
  MutexLock guard(unigrams->mutex());
  return unigrams->Restore(bytes, size);
}

// ---- Accidental hits ----------------------------------------------------------------------------------------

// in[0] true_classes int64[batch, num_true]; in[1] sampled_candidates int64[n]. For each true class that was
// sampled, in row-major order: out[0] its row, out[1] the last position where it was sampled, out[2] -FLT_MAX.
Status AccidentalHits(const KernelCall& call) {
  const Tensor& classes = *call.in[0];
  const Tensor& sampled = *call.in[1];
  const int64_t num_true = call.attrs[0].i;
  if (classes.rank != 2 || classes.dims[1] != num_true) {
    return STILLFLOW_INVALID_ARGUMENT("true_candidates must be a batch_size * num_true matrix, got shape %s",
                                      ShapeText(classes).c_str());
  }
  if (sampled.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "sampled_candidates must be a vector, which is typically an output from CandidateSampler, got shape %s",
        ShapeText(sampled).c_str());
  }
  IdTable positions(call, sampled.count);
  const Scratch scratch(call, classes.count * static_cast<int64_t>(sizeof(int64_t)));
  if (!positions.ok() || !scratch.ok()) return OutOfScratch();
  for (int64_t i = 0; i < sampled.count; ++i) positions.Set(Data<int64_t>(sampled)[i], i);
  int64_t* found = scratch.data<int64_t>();
  Shape hits;
  hits.Add(0);
  for (int64_t i = 0; i < classes.count; ++i) {
    found[i] = positions.Position(Data<int64_t>(classes)[i]);
    hits.dims[0] += found[i] >= 0;
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, hits));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt64, hits));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kFloat, hits));
  int64_t next = 0;
  for (int64_t i = 0; i < classes.count; ++i) {
    if (found[i] < 0) continue;
    MutableData<int32_t>(*call.out[0])[next] = static_cast<int32_t>(i / num_true);
    MutableData<int64_t>(*call.out[1])[next++] = found[i];
  }
  std::fill_n(MutableData<float>(*call.out[2]), hits.dims[0], -__FLT_MAX__);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(random, candidate_sampler){
    {"log_uniform_candidate_sampler", "true_classes | num_true, num_sampled, unique, range_max", LogUniform,
     PrepareLogUniform, ReleaseLogUniform, nullptr, nullptr},
    {"uniform_candidate_sampler", "true_classes | num_true, num_sampled, unique, range_max", Uniform},
    {"all_candidate_sampler", "true_classes | num_true, num_sampled, unique", All},
    {"fixed_unigram_candidate_sampler",
     "true_classes | num_true, num_sampled, unique, range_max, vocab_file, distortion, num_reserved_ids, num_shards, "
     "shard, unigrams",
     FixedUnigramSampler, PrepareFixedUnigram, ReleaseFixedUnigram},
    {"learned_unigram_candidate_sampler", "true_classes | num_true, num_sampled, unique, range_max, seed, seed2",
     LearnedUnigramSampler, nullptr, nullptr, NewLearnedUnigram, FreeLearnedUnigram, SaveLearnedUnigram,
     RestoreLearnedUnigram},
    {"compute_accidental_hits", "true_classes, sampled_candidates | num_true", AccidentalHits},
    {}};

}  // namespace stillflow
