// box_muller.h: two normally distributed numbers from two uniform ones, with the bits of TensorFlow on glibc.
//
// The float logarithm, sine and cosine of glibc are not correctly rounded; over all mantissas that a random word
// can have, the double-precision evaluations below, rounded once to float, equal them. Tables and polynomials are
// those of the Arm Optimized Routines (see NOTICE). The order of operations counts.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

constexpr double kTwoPi = 6.28318530717958647692;

// ---- Uniform numbers in [0, 1) from the low bits of words --------------------------------------------------

inline float UniformFloat(uint32_t word) { return BitCast<float>((word & 0x7FFFFFu) | 0x3F800000u) - 1.0f; }

// The first word is the high part.
inline double UniformDouble(uint32_t high, uint32_t low) {
  const uint64_t mantissa = static_cast<uint64_t>(high & 0xFFFFFu) << 32 | low;
  return BitCast<double>(mantissa | 0x3FF0000000000000u) - 1.0;
}

// A number whose logarithm is taken is kept away from 0.
inline float AwayFromZero(float u) { return u < 1.0e-7f ? 1.0e-7f : u; }
inline double AwayFromZero(double u) { return u < 1.0e-7 ? 1.0e-7 : u; }

// ---- float: logarithm, sine and cosine ----------------------------------------------------------------------

// Reciprocals of points of [0.7, 1.4), and the logarithms of those points.
constexpr double kInverses[16] = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
    0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
    0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
    0x1.767dcf5534862p-1};
constexpr double kLogsOfPoints[16] = {
    -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3,
    -0x1.1aa2bc79c81p-3,   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4, -0x1.252f438e10c1ep-5, 0x0p+0,
    0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,  0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,   0x1.1058bc8a07ee1p-2,
    0x1.4043057b6ee09p-2};

// Where in these tables the logarithm of a positive normal float begins.
inline int32_t LogIndex(float x) { return static_cast<int32_t>(BitCast<uint32_t>(x) - 0x3F330000u) >> 19 & 15; }

// The logarithm of x, to be rounded to float, from the tables' entries at LogIndex(x).
inline double LogOfFloat(float x, double inverse, double log_of_point) {
  const uint32_t bits = BitCast<uint32_t>(x);
  const uint32_t offset = bits - 0x3F330000u;
  const double k = static_cast<int32_t>(offset) >> 23;
  const double z = BitCast<float>(bits - (offset & 0xFF800000u));
  const double r = z * inverse - 1.0;
  const double y = log_of_point + k * 0x1.62e42fefa39efp-1;
  const double r2 = r * r;
  const double q = -0x1.00ea348b88334p-2 * r2 + (0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2);
  return q * r2 + (y + r);
}

// Sine and cosine of an angle in [0, 120).
inline void SinCosOfFloat(float angle, float* sine, float* cosine) {
  const double v = angle;
  const int32_t n = (static_cast<int32_t>(v * 0x1.45F306DC9C883p+23) + 0x800000) >> 24;  // quarter turns, rounded
  const double x = v - static_cast<double>(n) * 0x1.921FB54442D18p+0;
  const double xs = ((n + 1) & 2) != 0 ? -x : x;
  const double g = (n & 2) != 0 ? -1.0 : 1.0;
  const double x2 = x * x;
  const double x4 = x2 * x2;
  const double x3 = x2 * xs;
  const double s =
      (xs + x3 * -0x1.555545995a603p-3) + (x3 * x2) * (0x1.1107605230bc4p-7 + x2 * -0x1.994eb3774cf24p-13);
  const double c = ((g + x2 * (g * -0x1.ffffffd0c621cp-2)) + x4 * (g * 0x1.55553e1068f19p-5)) +
                   (x4 * x2) * (g * -0x1.6c087e89a359dp-10 + x2 * (g * 0x1.99343027bf8c3p-16));
  const bool is_odd = (n & 1) != 0;
  *sine = static_cast<float>(is_odd ? c : s);
  *cosine = static_cast<float>(is_odd ? s : c);
}

// ---- Box-Muller ---------------------------------------------------------------------------------------------

// Makes two floats of each two words, or two doubles of each four; `words` and `normals` may not overlap.
void BoxMuller(const uint32_t* words, int64_t pairs, float* normals);
void BoxMuller(const uint32_t* words, int64_t pairs, double* normals);

}  // namespace stillflow
