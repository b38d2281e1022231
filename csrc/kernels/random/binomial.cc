// generator_binomial: how often something of a given probability happens in so many trials.
//
//   in[0]   resource   a variable, int64 [3]: counter and key
//   in[1]   algorithm  int64 scalar
//   in[2]   shape      int32 | int64 vector
//   in[3,4] counts, probs  half | float | double, of one element or as many as the first dimension of `shape`
//   out[0]  half | float | double | int32 | int64 of `shape`; NaN probabilities give NaN, or 0 for integers
//
// Few expected successes are counted trial by trial, by the geometric distribution; many are drawn by Hormann's
// transformed rejection with squeeze (1993). Samples are made one after another, of one sequence of blocks, each of
// which begins with a new block: the numbers are those that one thread of TensorFlow makes.
#include <algorithm>
#include <cmath>

#include "arithmetic/math/logarithm.h"
#include "arithmetic/math/scalar.h"
#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/generator.h"

namespace stillflow {
namespace {

constexpr int64_t kSamplesPerBatch = 100;  // that share parameters
constexpr double kFewSuccesses = 10;

// Uniform numbers; of a block the last is used first.
class Uniforms {
 public:
  explicit Uniforms(sf_philox position) : position_(position) {}

  void BeginSample() { count_ = 0; }
  double Next() {
    if (count_ == 0) {
      uint32_t words[SF_PHILOX_WORDS];
      sf_philox_fill(position_, 1, words);
      position_ = sf_philox_skip(position_, 1);
      numbers_[0] = UniformDouble(words[0], words[1]);
      numbers_[1] = UniformDouble(words[2], words[3]);
      count_ = 2;
    }
    return numbers_[--count_];
  }

 private:
  sf_philox position_;
  double numbers_[2];
  int count_ = 0;
};

double CountTrials(double count, double prob, Uniforms* uniforms) {
  const double scale = Log1p(-prob);
  double trials = 0;
  for (double successes = 0;; ++successes) {
    trials += std::ceil(Log(uniforms->Next()) / scale);
    if (!(trials <= count)) return successes;
  }
}

// The error of Stirling's formula for log(k!).
double StirlingTail(double k) {
  constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTails[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 + 1.0 / 1260 / square) / square) / (k + 1);
}

double Reject(double count, double prob, Uniforms* uniforms) {
  const double stddev = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * stddev;
  const double a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double c = count * prob + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * stddev;
  const double m = std::floor((count + 1) * prob);
  for (;;) {
    const double u = uniforms->Next() - 0.5;
    const double v = uniforms->Next();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (!(k >= 0 && k <= count)) continue;
    const double bound = (m + 0.5) * Log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * Log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * Log(r * (count - k + 1) / (k + 1)) + StirlingTail(m) + StirlingTail(count - m) -
                         StirlingTail(k) - StirlingTail(count - k);
    if (Log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

// `expected` is the number of successes that decides how they are drawn.
double Sample(double count, double prob, double expected, Uniforms* uniforms) {
  uniforms->BeginSample();
  return expected >= kFewSuccesses ? Reject(count, prob, uniforms) : CountTrials(count, prob, uniforms);
}

template <typename T>
double At(const Tensor& parameters, int64_t batch) {
  return static_cast<double>(Widen(Data<T>(parameters)[parameters.count == 1 ? 0 : batch]));
}

// Of `count` samples for one pair of parameters, in the parameters' precision where TensorFlow has it so.
template <typename T, typename Put>
void SampleBatch(double count, double prob, int64_t samples, Uniforms* uniforms, const Put& put) {
  const auto complement = static_cast<double>(Widen(Narrow<T>(1 - static_cast<Wide<T>>(prob))));
  const bool is_likely = prob > 0.5;
  const double rarer = is_likely ? complement : prob;
  const auto expected =
      static_cast<double>(Widen(Narrow<T>(static_cast<Wide<T>>(count) * static_cast<Wide<T>>(rarer))));
  for (int64_t i = 0; i < samples; ++i) {
    if (count <= 0 || prob <= 0) {
      put(0.0);
    } else if (prob >= 1) {
      put(count);
    } else if (std::isnan(prob) || !(count < INFINITY)) {
      put(NAN);
    } else {
      const double successes = Sample(count, rarer, expected, uniforms);
      put(is_likely ? count - successes : successes);
    }
  }
}

Status CheckParameters(const Tensor& parameters, const char* name, int64_t batches) {
  if (parameters.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input %s should be a scalar or vector, got shape: %s", name,
                                      ShapeText(parameters).c_str());
  }
  if (parameters.count == 1 || parameters.count == batches) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input %s should have length 1 or shape[0], got shape: %s", name,
                                    ShapeText(parameters).c_str());
}

template <typename T, typename U>
Status Fill(const KernelCall& call, int64_t batches, int64_t per_batch, sf_philox base) {
  Uniforms uniforms(base);
  U* to = MutableData<U>(*call.out[0]);
  const auto put = [&](double value) {
    if constexpr (kIsFloating<U>) {
      *to++ = Narrow<U>(static_cast<Wide<U>>(value));
    } else {
      *to++ = std::isnan(value) ? U{0} : static_cast<U>(std::min(value, 0x1p31 - 1));
    }
  };
  int64_t left = call.out[0]->count;
  for (int64_t batch = 0; batch < batches; ++batch) {
    const int64_t samples = std::min(per_batch, left);
    SampleBatch<T>(At<T>(*call.in[3], batch), At<T>(*call.in[4], batch), samples, &uniforms, put);
    left -= samples;
  }
  return Status();
}

Status Binomial(const KernelCall& call) {
  const Tensor& counts = *call.in[3];
  const Tensor& probs = *call.in[4];
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &shape));
  if (shape.rank == 0) return STILLFLOW_INVALID_ARGUMENT("Input shape must have at least one dimension");
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  int64_t batches = shape.dims[0];
  int64_t per_batch = batches == 0 ? 0 : call.out[0]->count / batches;
  STILLFLOW_RETURN_IF_ERROR(CheckParameters(counts, "counts", batches));
  STILLFLOW_RETURN_IF_ERROR(CheckParameters(probs, "probs", batches));
  if (counts.count == 1 && probs.count == 1) {
    per_batch = kSamplesPerBatch;
    batches = (call.out[0]->count + per_batch - 1) / per_batch;
  }
  sf_philox base;
  STILLFLOW_RETURN_IF_ERROR(TakeFromGenerator(call, batches * 200 * (per_batch + 3) / 4, &base));
  return ForType<Half, float, double>("StatefulRandomBinomial", counts.dtype, [&](auto parameter) {
    return ForType<Half, float, double, int32_t, int64_t>("StatefulRandomBinomial", dtype, [&](auto result) {
      return Fill<typename decltype(parameter)::type, typename decltype(result)::type>(call, batches, per_batch,
                                                                                       base);
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(random, binomial){
    {"generator_binomial", "resource, algorithm, shape, counts, probs | dtype", Binomial}, {}};

}  // namespace stillflow
