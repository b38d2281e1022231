// activation.h: the sigmoid, log(1 + e^x) and the hyperbolic tangent.
//
// Errors, for float and double: Sigmoid within 3 ulp, Softplus within 2 ulp, Tanh within 2.5 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// e^-|x|. Never overflows.
template <typename T>
STILLFLOW_INLINE T ExpOfMinusAbs(T x) {
  const T magnitude = Abs(x);
  constexpr T kMost = -kSmallestExponent<T>;
  const ReducedExponent<T> reduced = ReduceExponent(-(magnitude > kMost ? kMost : magnitude));
  const T r = reduced.r;
  return Scale(1 + Fma(r * r, ExpTail(r), r), reduced.n);
}

template <typename T>
STILLFLOW_INLINE T Sigmoid(T x) {
  const T power = ExpOfMinusAbs(x);
  const T result = (x < 0 ? power : T{1}) / (1 + power);
  return x != x ? kNan<T> : result;
}

STILLFLOW_INLINE double Softplus(double x) {
  const double power = ExpOfMinusAbs(x);
  const double result = (x < 0 ? 0.0 : x) + Log1p(power);
  return x != x ? kNan<double> : result;
}
STILLFLOW_INLINE float Softplus(float x) {
  const float result = (x < 0 ? 0.0f : x) + Log1pOfUnit(ExpOfNonPositive(-Abs(x)));
  return x != x ? kNan<float> : result;
}

// (e^2|x| - 1) / (e^2|x| + 1), with the sign of x.
template <typename T>
STILLFLOW_INLINE T Tanh(T x) {
  constexpr T kMost = sizeof(T) == 4 ? T{20} : T{44};
  const T magnitude = Abs(x);
  const T doubled = 2 * magnitude;
  const ReducedExponent<T> reduced = ReduceExponent(doubled > kMost ? kMost : doubled);
  const T r = reduced.r;
  const T power = PowerOfTwo<T>(reduced.n);
  const T less_one = Fma(power, Fma(r * r, ExpTail(r), r), power - 1);
  const T result = CopySign(less_one / (less_one + 2), x);
  constexpr T kTiny = sizeof(T) == 4 ? T{0x1p-13} : T{0x1p-27};  // also for denormal numbers
  return (magnitude < kTiny) | (x != x) ? x : result;
}

}  // namespace stillflow
