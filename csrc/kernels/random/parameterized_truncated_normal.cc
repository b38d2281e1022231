// parameterized_truncated_normal: normal numbers of given means, deviations and bounds.
//
//   in[0]  shape    int32 | int64 vector
//   in[1..4]        means, stdevs, minvals, maxvals: floating, each a scalar, a vector of one element, or one of an
//                   element per batch; a batch is what an index of the first dimension names
//   out[0] output   of that shape
//   state  the node's stream
//
// Arithmetic is in the type of the output: each operation on halves is rounded. Batches are drawn one after the
// other, since where one begins depends on what the ones before rejected. If all parameters are single numbers, a
// batch is 100 elements.
#include <algorithm>
#include <cmath>

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"
#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kMostRejections = 1000;  // in a row

// A half type's number, and arithmetic that rounds every result to one.
template <typename T>
class Rounded {
 public:
  Rounded() = default;
  Rounded(float value) : value_(Widen(Narrow<T>(value))) {}
  operator float() const { return value_; }

  Rounded operator-() const { return -value_; }
  friend Rounded operator+(Rounded a, Rounded b) { return a.value_ + b.value_; }
  friend Rounded operator-(Rounded a, Rounded b) { return a.value_ - b.value_; }
  friend Rounded operator*(Rounded a, Rounded b) { return a.value_ * b.value_; }
  friend Rounded operator/(Rounded a, Rounded b) { return a.value_ / b.value_; }

 private:
  float value_;
};

// What batches of T are computed with.
template <typename T>
struct ArithmeticOf {
  using type = T;
};
template <>
struct ArithmeticOf<Half> {
  using type = Rounded<Half>;
};
template <>
struct ArithmeticOf<BFloat16> {
  using type = Rounded<BFloat16>;
};

// The parameters of a batch; `min` and `max` are in deviations from the mean.
template <typename T>
struct Parameters {
  T mean;
  T deviation;
  T min;
  T max;
};

float LogOf(float x) {
  if (x == 0) return -HUGE_VALF;
  const int32_t index = LogIndex(x);
  return static_cast<float>(LogOfFloat(x, kInverses[index], kLogsOfPoints[index]));
}
double LogOf(double x) { return Log(x); }
float ExpOf(float x) { return static_cast<float>(Exp(static_cast<double>(x))); }
double ExpOf(double x) { return Exp(x); }
template <typename T>
Rounded<T> LogOf(Rounded<T> x) {
  return LogOf(static_cast<float>(x));
}
template <typename T>
Rounded<T> ExpOf(Rounded<T> x) {
  return ExpOf(static_cast<float>(x));
}
template <typename T>
Rounded<T> RootOf(Rounded<T> x) {
  return Sqrt(static_cast<float>(x));
}
template <typename T>
T RootOf(T x) {
  return Sqrt(x);
}

// The number in [0, 1) that a word makes, with as many bits as the type's mantissa has.
inline float UniformOf(uint32_t word, float) { return UniformFloat(word); }
inline Rounded<Half> UniformOf(uint32_t word, Rounded<Half>) { return static_cast<float>(word & 0x3FFu) * 0x1p-10f; }
inline Rounded<BFloat16> UniformOf(uint32_t word, Rounded<BFloat16>) {
  return static_cast<float>(word & 0x7Fu) * 0x1p-7f;
}

// Groups of what a block makes.
template <typename T>
class Groups {
 public:
  static constexpr int kSize = sizeof(T) == 8 ? 2 : 4;
  using Normal = std::conditional_t<sizeof(T) == 8, double, float>;

  explicit Groups(sf_philox position) : position_(position) {}

  void Uniforms(T* to) {
    NextBlock();
    for (int i = 0; i < kSize; ++i) {
      if constexpr (sizeof(T) == 8) {
        to[i] = UniformDouble(words_[2 * i], words_[2 * i + 1]);
      } else {
        to[i] = UniformOf(words_[i], T{});
      }
    }
  }
  void Normals(T* to) {
    NextBlock();
    Normal normals[kSize];
    BoxMuller(words_, kSize / 2, normals);
    std::copy_n(normals, kSize, to);
  }

 private:
  void NextBlock() {
    sf_philox_fill(position_, 1, words_);
    position_ = sf_philox_skip(position_, 1);
  }

  sf_philox position_;
  uint32_t words_[SF_PHILOX_WORDS];
};

Status GaveUp(const char* sampler) {
  return Error(Code::kInternal, "TruncatedNormal %s rejection sampler failed to accept a sample.", sampler);
}

// Takes elements as they are accepted, and counts what is rejected between them.
template <typename T>
class Output {
 public:
  Output(const Parameters<T>& p, T* to, int64_t count) : p_(p), to_(to), left_(count) {}
  bool is_full() const { return left_ == 0; }
  // Returns false once too many were rejected.
  bool Offer(T z, bool is_accepted) {
    if (!is_accepted) return ++rejections_ <= kMostRejections;
    *to_++ = z * p_.deviation + p_.mean;
    rejections_ = 0;
    --left_;
    return true;
  }

 private:
  Parameters<T> p_;
  T* to_;
  int64_t left_;
  int64_t rejections_ = 0;
};

// Bounds on both sides of the mean, or nearly: normal numbers, of which those within are kept.
template <typename T>
Status FromNormals(const Parameters<T>& p, Groups<T>* groups, Output<T> output) {
  T z[Groups<T>::kSize];
  while (!output.is_full()) {
    groups->Normals(z);
    for (int i = 0; i < Groups<T>::kSize && !output.is_full(); ++i) {
      if (!output.Offer(z[i], z[i] >= p.min && z[i] <= p.max)) return GaveUp("randn");
    }
  }
  return Status();
}

// Bounds close to each other.
template <typename T>
Status FromUniforms(const Parameters<T>& p, Groups<T>* groups, Output<T> output) {
  const T width = p.max - p.min;
  const T largest = p.min < T{0} ? T{0} : p.min * p.min;
  T u[Groups<T>::kSize];
  T accept[Groups<T>::kSize];
  while (!output.is_full()) {
    groups->Uniforms(u);
    groups->Uniforms(accept);
    for (int i = 0; i < Groups<T>::kSize && !output.is_full(); ++i) {
      const T z = u[i] * width + p.min;
      if (!output.Offer(z, accept[i] <= ExpOf((largest - z * z) / T{2}))) return GaveUp("uniform");
    }
  }
  return Status();
}

// A tail: exponential numbers. (C. P. Robert, "Simulation of truncated normal variables", Statistics and Computing 5,
// 1995.)
template <typename T>
Status FromExponentials(const Parameters<T>& p, Groups<T>* groups, Output<T> output) {
  const T alpha = (p.min + RootOf(p.min * p.min + T{4})) / T{2};
  T u[Groups<T>::kSize];
  while (!output.is_full()) {
    groups->Uniforms(u);
    for (int i = 0; i < Groups<T>::kSize && !output.is_full(); i += 2) {
      const T z = -LogOf(u[i]) / alpha + p.min;
      const T x = p.min < alpha ? alpha - z : p.min - alpha;
      if (!output.Offer(z, u[i + 1] <= ExpOf(-x * x / T{2}) && z < p.max)) return GaveUp("exponential distribution");
    }
  }
  return Status();
}

template <typename T>
Status FillBatch(Parameters<T> p, Groups<T>* groups, T* to, int64_t count) {
  const bool is_bounded = std::isfinite(p.min) || std::isfinite(p.max);
  if (!(p.deviation > 0 && p.min < p.max && is_bounded)) return STILLFLOW_INVALID_ARGUMENT("Invalid parameters");
  if ((std::isinf(p.min) && p.min < 0) || p.max < p.mean) {
    std::swap(p.min, p.max);
    p.deviation = -p.deviation;
  }
  p.min = (p.min - p.mean) / p.deviation;
  p.max = (p.max - p.mean) / p.deviation;
  const Output<T> output(p, to, count);
  if ((p.min < T(-1.3) && p.max >= 0) || (p.max > T(1.3) && p.min <= 0)) return FromNormals(p, groups, output);
  const T root = RootOf(p.min * p.min + T{4});
  const T cutoff = T{2} * ExpOf(T{0.5} + (p.min * (p.min - root)) / T{4}) / (p.min + root);
  return p.max - p.min < cutoff ? FromUniforms(p, groups, output) : FromExponentials(p, groups, output);
}

// How the output is cut, and where each parameter of a batch lies.
struct Batches {
  int64_t count;
  int64_t size;
  bool is_per_batch[4];
};

Status FindBatches(const KernelCall& call, Batches* batches) {
  static const char* const kNames[] = {"means", "stdevs", "minvals", "maxvals"};
  bool is_vector = false;
  const Tensor& output = *call.out[0];
  const int64_t first = output.dims[0];
  for (int i = 0; i < 4; ++i) {
    const Tensor& parameter = *call.in[i + 1];
    if (parameter.rank > 1) {
      return STILLFLOW_INVALID_ARGUMENT("Input %s should be a scalar or vector, got shape: %s", kNames[i],
                                        ShapeText(parameter).c_str());
    }
    if (parameter.count != 1 && parameter.count != first) {
      return STILLFLOW_INVALID_ARGUMENT("Input %s should have length 1 or shape[0], got shape: %s", kNames[i],
                                        ShapeText(parameter).c_str());
    }
    is_vector |= parameter.rank == 1;
    batches->is_per_batch[i] = parameter.count != 1;
  }
  constexpr int64_t kBatch = 100;
  batches->size = is_vector ? output.count / first : kBatch;
  batches->count = is_vector ? first : (output.count + kBatch - 1) / kBatch;
  return Status();
}

template <typename T>
Status Fill(const KernelCall& call, const Batches& batches) {
  using W = typename ArithmeticOf<T>::type;
  constexpr int64_t kBlocksPerElement = 2000;
  const int64_t blocks =
      static_cast<int64_t>(static_cast<__int128>(batches.count) * kBlocksPerElement * (batches.size + 3) / 4);
  Groups<W> groups(TakeBlocks(call, blocks, 1));
  const int64_t count = call.out[0]->count;
  const Scratch scratch(call, std::min(batches.size, count) * static_cast<int64_t>(sizeof(W)));
  if (!scratch.ok()) return OutOfScratch();
  T* const to = MutableData<T>(*call.out[0]);
  for (int64_t batch = 0; batch < batches.count; ++batch) {
    const auto parameter = [&](int i) -> W {
      return Widen(Data<T>(*call.in[i + 1])[batches.is_per_batch[i] ? batch : 0]);
    };
    const int64_t first = batch * batches.size;
    const int64_t size = std::min(batches.size, count - first);
    W* const values = scratch.data<W>();
    STILLFLOW_RETURN_IF_ERROR(
        FillBatch<W>({parameter(0), parameter(1), parameter(2), parameter(3)}, &groups, values, size));
    for (int64_t i = 0; i < size; ++i) to[first + i] = Narrow<T>(static_cast<Wide<T>>(values[i]));
  }
  return Status();
}

Status ParameterizedTruncatedNormal(const KernelCall& call) {
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[0], &shape));
  if (shape.rank == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Shape tensor must not be empty, got %s", ShapeText(shape).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, call.in[1]->dtype, shape));
  if (call.out[0]->count == 0) return Status();
  Batches batches = {};
  STILLFLOW_RETURN_IF_ERROR(FindBatches(call, &batches));
  return ForType<float, double, Half, BFloat16>("ParameterizedTruncatedNormal", call.in[1]->dtype, [&](auto tag) {
    return Fill<typename decltype(tag)::type>(call, batches);
  });
}

}  // namespace

STILLFLOW_KERNELS(random, parameterized_truncated_normal){
    {"parameterized_truncated_normal", "shape, means, stdevs, minvals, maxvals", ParameterizedTruncatedNormal}, {}};

}  // namespace stillflow
