#include "arithmetic/random/box_muller.h"

#include <algorithm>
#include <cmath>

#include "arithmetic/math/power.h"
#include "arithmetic/math/trigonometric.h"

namespace stillflow {
namespace {

constexpr int kPairs = 128;  // of a tile, whose intermediate values stay in the first-level cache

// The entries of both tables at each index.
void LookUp(const int32_t* index, double* inverse, double* log_of_point) {
#if defined(__AVX512F__)
  // A table fits in two registers, and one instruction picks from both.
  typedef double Doubles __attribute__((vector_size(64)));
  typedef int64_t Lanes __attribute__((vector_size(64)));
  typedef int32_t HalfLanes __attribute__((vector_size(32)));
  Doubles tables[4];
  std::memcpy(tables, kInverses, sizeof kInverses);
  std::memcpy(tables + 2, kLogsOfPoints, sizeof kLogsOfPoints);
  for (int i = 0; i < kPairs; i += 8) {
    HalfLanes narrow;
    std::memcpy(&narrow, index + i, sizeof narrow);
    const Lanes lanes = __builtin_convertvector(narrow, Lanes);
    const Doubles picked[2] = {__builtin_shuffle(tables[0], tables[1], lanes),
                               __builtin_shuffle(tables[2], tables[3], lanes)};
    std::memcpy(inverse + i, &picked[0], sizeof picked[0]);
    std::memcpy(log_of_point + i, &picked[1], sizeof picked[1]);
  }
#else
  for (int i = 0; i < kPairs; ++i) {  // AVX2's gather is slower
    inverse[i] = kInverses[index[i]];
    log_of_point[i] = kLogsOfPoints[index[i]];
  }
#endif
}

// The stages of a tile are loops of their own, so that each turns into vector code.
void Tile(const uint32_t* __restrict words, float* __restrict normals) {
  float u[kPairs];
  float angle[kPairs];
  int32_t index[kPairs];
  for (int i = 0; i < kPairs; ++i) {
    u[i] = AwayFromZero(UniformFloat(words[2 * i]));
    angle[i] = static_cast<float>(kTwoPi * static_cast<double>(UniformFloat(words[2 * i + 1])));
    index[i] = LogIndex(u[i]);
  }
  double inverse[kPairs];
  double log_of_point[kPairs];
  LookUp(index, inverse, log_of_point);
  float radius[kPairs];
  for (int i = 0; i < kPairs; ++i) {
    radius[i] = std::sqrt(-2.0f * static_cast<float>(LogOfFloat(u[i], inverse[i], log_of_point[i])));
  }
  for (int i = 0; i < kPairs; ++i) {
    float sine;
    float cosine;
    SinCosOfFloat(angle[i], &sine, &cosine);
    normals[2 * i] = sine * radius[i];
    normals[2 * i + 1] = cosine * radius[i];
  }
}

void Pair(const uint32_t* words, float* normals) {
  const float u = AwayFromZero(UniformFloat(words[0]));
  const int32_t index = LogIndex(u);
  const float radius = std::sqrt(-2.0f * static_cast<float>(LogOfFloat(u, kInverses[index], kLogsOfPoints[index])));
  float sine;
  float cosine;
  SinCosOfFloat(static_cast<float>(kTwoPi * static_cast<double>(UniformFloat(words[1]))), &sine, &cosine);
  normals[0] = sine * radius;
  normals[1] = cosine * radius;
}

// ---- double: sine and cosine that are almost always those of the C library, which rounds nearly correctly ------

DoubleSum FastSum(double large, double small) {
  const double sum = large + small;
  return {sum, small - (sum - large)};
}

DoubleSum Product(DoubleSum a, DoubleSum b) {
  const double high = a.high * b.high;
  return {high, Fma(a.high, b.high, -high) + Fma(a.high, b.low, a.low * b.high)};
}

// log(x) for a positive number, to about 2^-66 of itself: with what power.h does for powers, to 2^-64, four times as
// many results would differ from the C library's.
DoubleSum LogInTwoParts(double x) {
  const bool is_small = x < FloatFormat<double>::kSmallestNormal;
  const Normalized<double> parts = Normalize(is_small ? x * 0x1p53 : x);
  const double k = FromInteger<double>(parts.k) - (is_small ? 53.0 : 0.0);
  const double f = parts.m - 1;
  const double divisor = parts.m + 1;
  const double divisor_low = parts.m - (divisor - 1);
  const double s_high = f / divisor;
  const double s_low = (Fma(-s_high, divisor, f) - s_high * divisor_low) / divisor;
  const DoubleSum s = {s_high, s_low};
  const DoubleSum z = Product(s, s);
  const double tail = z.high * PowerTail(z.high);
  DoubleSum factor = FastSum(0x1.5555555555555p-1, tail);  // 2/3 + tail
  factor.low += 0x1.5555555555555p-55;
  const DoubleSum cubic = Product(Product(s, z), factor);
  // k log(2) + 2 s + cubic, from the largest down.
  const DoubleSum base = FastSum(k * kLn2Short, 2 * s_high);
  const DoubleSum sum = FastSum(base.high, cubic.high);
  const double low = Fma(k, kLn2ShortRest, 2 * s_low + cubic.low);
  return FastSum(sum.high, sum.low + (base.low + low));
}

// The sum of a number and a much smaller pair.
double Add(double large, DoubleSum small, double rest) {
  const DoubleSum sum = FastSum(large, small.high);
  return sum.high + (sum.low + (small.low + rest));
}

double Sine(double r, double r_low, DoubleSum z) {
  const double tail = Polynomial(z.high, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
                                 -1.0 / 1307674368000.0, 1.0 / 355687428096000.0, -1.0 / 121645100408832000.0);
  DoubleSum factor = FastSum(-0x1.5555555555555p-3, z.high * tail);
  factor.low -= 0x1.5555555555555p-57;
  return Add(r, Product(Product({r, 0}, z), factor), r_low * (1 - 0.5 * z.high));
}

double Cosine(double r, double r_low, DoubleSum z) {
  const double tail =
      Polynomial(z.high, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0,
                 1.0 / 20922789888000.0, -1.0 / 6402373705728000.0, 1.0 / 2432902008176640000.0);
  DoubleSum factor = FastSum(0x1.5555555555555p-5, z.high * tail);
  factor.low += 0x1.5555555555555p-59;
  const DoubleSum quartic = Product(Product(z, z), factor);
  const DoubleSum most = FastSum(1, -0.5 * z.high);
  const DoubleSum rest = FastSum(most.high, quartic.high);
  return rest.high + (rest.low + (most.low + (quartic.low - 0.5 * z.low - r * r_low)));
}

// Sine and cosine of an angle in [0, 7].
void SinCosOfDouble(double angle, double* sine, double* cosine) {
  const ReducedAngle reduced = ReduceAngle(angle);
  const double square = reduced.r * reduced.r;
  const DoubleSum z = {square, Fma(reduced.r, reduced.r, -square)};
  const double s = Sine(reduced.r, reduced.r_low, z);
  const double c = Cosine(reduced.r, reduced.r_low, z);
  *sine = TurnedSine(reduced.quadrant, s, c);
  *cosine = TurnedSine(reduced.quadrant + 1, s, c);
}

}  // namespace

void BoxMuller(const uint32_t* words, int64_t pairs, float* normals) {
  int64_t i = 0;
  for (; i + kPairs <= pairs; i += kPairs) Tile(words + 2 * i, normals + 2 * i);
  if (pairs - i > kPairs / 4) {
    uint32_t last_words[2 * kPairs] = {};
    float last_normals[2 * kPairs];
    std::copy(words + 2 * i, words + 2 * pairs, last_words);
    Tile(last_words, last_normals);
    std::copy_n(last_normals, 2 * (pairs - i), normals + 2 * i);
  } else {
    for (; i < pairs; ++i) Pair(words + 2 * i, normals + 2 * i);
  }
}

void BoxMuller(const uint32_t* words, int64_t pairs, double* normals) {
  for (int64_t i = 0; i < pairs; ++i) {
    const double u = AwayFromZero(UniformDouble(words[4 * i], words[4 * i + 1]));
    const double angle = kTwoPi * UniformDouble(words[4 * i + 2], words[4 * i + 3]);
    const double radius = Sqrt(-2.0 * LogInTwoParts(u).high);  // correctly rounded, or nearly
    double sine;
    double cosine;
    SinCosOfDouble(angle, &sine, &cosine);
    normals[2 * i] = sine * radius;
    normals[2 * i + 1] = cosine * radius;
  }
}

}  // namespace stillflow
