// random_gamma, random_poisson: random numbers of distributions with a parameter, some for each parameter.
//
//   in[0]  shape    int32 | int64 vector
//   in[1]  alpha    random_gamma: half | float | double of any shape; out[0] has its type
//          rate     random_poisson: those, int32 or int64; attr dtype is the type of out[0], of the same ones
//   out[0] samples  shape ++ shape of the parameter
//   state  the node's stream, of which a sample has 256 blocks to itself
//
// Samples are made one parameter after the other, in double. Where a parameter is of no distribution they are NaN.
#include "arithmetic/math/gamma.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/power.h"
#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kSamplesPerChunk = 256;

// The normal and uniform numbers of one sample. Both kinds are made by the block, of one sequence of blocks, and
// the last of a block is used first.
class Numbers {
 public:
  explicit Numbers(sf_philox position) : position_(position) {}

  double Uniform() {
    if (uniform_count_ == 0) {
      const uint32_t* words = NextBlock();
      uniforms_[0] = UniformDouble(words[0], words[1]);
      uniforms_[1] = UniformDouble(words[2], words[3]);
      uniform_count_ = 2;
    }
    return uniforms_[--uniform_count_];
  }
  double Normal() {
    if (normal_count_ == 0) {
      BoxMuller(NextBlock(), 1, normals_);
      normal_count_ = 2;
    }
    return normals_[--normal_count_];
  }

 private:
  static constexpr int kBlocks = 4;  // as quick to make as one

  const uint32_t* NextBlock() {
    if (next_ == kBlocks) {
      sf_philox_fill(position_, kBlocks, words_);
      position_ = sf_philox_skip(position_, kBlocks);
      next_ = 0;
    }
    return words_ + SF_PHILOX_WORDS * next_++;
  }

  sf_philox position_;
  int next_ = kBlocks;
  int uniform_count_ = 0;
  int normal_count_ = 0;
  double uniforms_[2];
  double normals_[2];
  uint32_t words_[kBlocks * SF_PHILOX_WORDS];
};

// ---- Drawing ------------------------------------------------------------------------------------------------

// G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM Trans. Math. Software 26, 2000.
class Gamma {
 public:
  explicit Gamma(double alpha)
      : alpha_(alpha), d_(alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3)), c_((1.0 / 3) / std::sqrt(d_)) {}

  double Draw(Numbers* numbers) const {
    if (alpha_ == 1) return -Log(1.0 - numbers->Uniform());
    if (!(d_ > 0)) return std::numeric_limits<double>::quiet_NaN();
    while (true) {
      const double x = numbers->Normal();
      double v = 1 + c_ * x;
      if (v <= 0) continue;
      v = v * v * v;
      const double u = numbers->Uniform();
      if (u < 1 - 0.0331 * (x * x) * (x * x) || Log(u) < 0.5 * x * x + d_ * (1 - v + Log(v))) {
        const double result = d_ * v;
        return alpha_ < 1 ? result * Pow(numbers->Uniform(), 1 / alpha_) : result;
      }
    }
  }

 private:
  double alpha_;
  double d_;
  double c_;
};

// Small rates by counting (Knuth); others after W. Hoermann, "The transformed rejection method for generating
// Poisson random variables", Insurance: Mathematics and Economics 12, 1993.
class Poisson {
 public:
  explicit Poisson(double rate) : rate_(rate) {
    if (rate < 10) {
      limit_ = Exp(-rate);
    } else {
      b_ = 0.931 + 2.53 * std::sqrt(rate);
      a_ = -0.059 + 0.02483 * b_;
      inverse_alpha_ = 1.1239 + 1.1328 / (b_ - 3.4);
      log_rate_ = Log(rate);
    }
  }

  double Draw(Numbers* numbers) const {
    if (!std::isfinite(rate_)) return std::numeric_limits<double>::quiet_NaN();
    return rate_ < 10 ? Count(numbers) : Reject(numbers);
  }

 private:
  double Count(Numbers* numbers) const {
    double product = 1;
    double x = 0;
    while (true) {
      product *= numbers->Uniform();
      if (product <= limit_) return x;
      x += 1;
    }
  }

  double Reject(Numbers* numbers) const {
    while (true) {
      const double u = numbers->Uniform() - 0.5;
      const double v = numbers->Uniform();
      const double s = 0.5 - std::abs(u);
      const double k = std::floor((2 * a_ / s + b_) * u + rate_ + 0.43);
      if (s >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
      if (k < 0 || (s < 0.013 && v > s)) continue;
      if (Log(v * inverse_alpha_ / (a_ / (s * s) + b_)) <= -rate_ + k * log_rate_ - Lgamma(k + 1)) return k;
    }
  }

  double rate_;
  double limit_ = 0;
  double a_ = 0;
  double b_ = 0;
  double inverse_alpha_ = 0;
  double log_rate_ = 0;
};

// ---- Filling ------------------------------------------------------------------------------------------------

// What is no number of the type becomes its least, as on most processors.
template <typename T>
T Converted(double value) {
  if constexpr (kIsFloating<T>) {
    return Narrow<T>(value);
  } else {
    constexpr double kBound = -static_cast<double>(std::numeric_limits<T>::min());
    return value >= -kBound && value < kBound ? static_cast<T>(value) : std::numeric_limits<T>::min();
  }
}

template <typename T>
double AsDouble(T value) {
  if constexpr (kIsFloating<T>) {
    return static_cast<double>(Widen(value));
  } else {
    return static_cast<double>(value);
  }
}

Status Allocate(const KernelCall& call, DType dtype) {
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[0], &shape));
  const Tensor& parameters = *call.in[1];
  if (shape.rank + parameters.rank > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d, but received %d", kMaxRank,
                                      shape.rank + parameters.rank);
  }
  for (int i = 0; i < parameters.rank; ++i) shape.Add(parameters.dims[i]);
  return AllocateOutput(call, 0, dtype, shape);
}

// Sample s of parameter p lies at [s, p]; it is the (p * samples + s)-th that is drawn.
template <typename Distribution, typename Parameter, typename T>
Status Fill(const KernelCall& call) {
  const int64_t count = call.out[0]->count;
  if (count == 0) return Status();
  const Parameter* const parameters = Data<Parameter>(*call.in[1]);
  const int64_t parameter_count = call.in[1]->count;
  const int64_t samples = count / parameter_count;
  T* const to = MutableData<T>(*call.out[0]);
  const sf_philox base = TakeBlocks(call, count);
  return ForEachChunk(call, count, kSamplesPerChunk, [&](Range chunk) {
    int64_t draw = chunk.begin;
    while (draw < chunk.end) {
      const int64_t p = draw / samples;
      const int64_t last = std::min(chunk.end, (p + 1) * samples);
      const Distribution distribution(AsDouble(parameters[p]));
      for (; draw < last; ++draw) {
        const auto blocks = static_cast<unsigned __int128>(draw) * kBlocksPerElement;
        Numbers numbers(
            sf_philox_skip_wide(base, static_cast<uint64_t>(blocks), static_cast<uint64_t>(blocks >> 64)));
        to[(draw - p * samples) * parameter_count + p] = Converted<T>(distribution.Draw(&numbers));
      }
    }
  });
}

Status RandomGamma(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(Allocate(call, call.in[1]->dtype));
  return ForType<Half, float, double>("RandomGamma", call.in[1]->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Fill<Gamma, T, T>(call);
  });
}

Status RandomPoisson(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(Allocate(call, dtype));
  return ForType<Half, float, double, int32_t, int64_t>("RandomPoissonV2", call.in[1]->dtype, [&](auto rate_tag) {
    using Rate = typename decltype(rate_tag)::type;
    return ForType<Half, float, double, int32_t, int64_t>(
        "RandomPoissonV2", dtype, [&](auto tag) { return Fill<Poisson, Rate, typename decltype(tag)::type>(call); });
  });
}

}  // namespace

STILLFLOW_KERNELS(random, gamma){
    {"random_gamma", "shape, alpha", RandomGamma}, {"random_poisson", "shape, rate | dtype", RandomPoisson}, {}};

}  // namespace stillflow
