// activation.h: the sigmoid, log(1 + e^x) and the hyperbolic tangent.
//
// Errors, for float and double: Sigmoid within 3 ulp, Softplus within 2 ulp; Tanh within 2.75 ulp of double and 2.5
// ulp of float.
#pragma once

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"

namespace stillflow {

// e^-|x|. Never overflows.
STILLFLOW_INLINE double ExpOfMinusAbs(double x) {
  const double magnitude = Abs(x);
  constexpr double kMost = -kSmallestExponent<double>;
  const ReducedExponent<double> reduced = ReduceExponent(-(magnitude > kMost ? kMost : magnitude));
  const double result = Scale(ExpOfReduced(reduced.r), reduced.n());
  return x != x ? kNan<double> : result;
}
STILLFLOW_INLINE float ExpOfMinusAbs(float x) { return ExpOfNonPositive(-Abs(x)); }

template <typename T>
STILLFLOW_INLINE T Sigmoid(T x) {
  const T power = ExpOfMinusAbs(x);
  return (x < 0 ? power : T{1}) / (1 + power);
}

STILLFLOW_INLINE double Softplus(double x) {
  const double power = ExpOfMinusAbs(x);
  const double result = (x < 0 ? 0.0 : x) + Log1pOfPlain(power);
  return x != x ? kNan<double> : result;
}
STILLFLOW_INLINE float Softplus(float x) {
  const float result = (x < 0 ? 0.0f : x) + Log1pOfUnit(ExpOfMinusAbs(x));
  return x != x ? kNan<float> : result;
}

// (e^2|x| - 1) / (e^2|x| + 1), with the sign of x.
STILLFLOW_INLINE double Tanh(double x) {
  constexpr double kMost = 44;
  const double magnitude = Abs(x);
  const double doubled = 2 * magnitude;
  const ReducedExponent<double> reduced = ReduceExponent(doubled > kMost ? kMost : doubled);
  const double r = reduced.r;
  const double power = PowerOfTwo<double>(reduced.n());
  const double less_one = Fma(power, Fma(r * r, ExpTail(r), r), power - 1);
  const double result = CopySign(less_one / (less_one + 2), x);
  return (magnitude < 0x1p-27) | (x != x) ? x : result;  // also for denormal numbers
}

// h / (h + 1) for h = (e^2|x| - 1) / 2, with the sign of x. The exponent is reduced in one part: what that cuts off
// grows with |x|, but the quotient's slope falls faster. From the bound on, the result is 1.
STILLFLOW_INLINE float Tanh(float x) {
  constexpr float kBound = 10;
  const float magnitude = Abs(x);
  const float a = kBound < magnitude ? kBound : magnitude;  // also NaN
  const float shifted = Fma(a, 2 * kLog2E<float>, kBiasedShift<float>);
  const float r = Fma(-(shifted - kBiasedShift<float>), 0.5f * kLn2<float>, a);
  const float power = PowerOfBiased(shifted);
  const float h = Fma(power, Fma(r * r, HalfExpm1OfTwiceTail(r), r), Fma(power, 0.5f, -0.5f));
  return CopySign(h / (h + 1), x);
}

}  // namespace stillflow
