// activation.h: the sigmoid, log(1 + e^x) and the hyperbolic tangent.
//
// Errors, for float and double: Sigmoid within 3 ulp, Softplus within 2 ulp, Tanh within 1.5 ulp.
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

template <typename T>
STILLFLOW_INLINE T Softplus(T x) {
  const T power = ExpOfMinusAbs(x);
  const T result = (x < 0 ? T{0} : x) + Log1p(power);
  return x != x ? kNan<T> : result;
}

template <typename T>
STILLFLOW_INLINE T Tanh(T x) {
  const T magnitude = Abs(x);
  const T z = x * x;
  const T small = Fma(x * z, TanhTail(z), x);
  // Further out, 1 - 2 / (e^2x + 1).
  constexpr T kMost = sizeof(T) == 4 ? T{20} : T{44};
  const T doubled = 2 * magnitude;
  const ReducedExponent<T> reduced = ReduceExponent(doubled > kMost ? kMost : doubled);
  const T r = reduced.r;
  const T power = (1 + Fma(r * r, ExpTail(r), r)) * PowerOfTwo<T>(reduced.n);
  const T large = CopySign(1 - 2 / (power + 1), x);
  const T result = magnitude < T{0.55} ? small : large;
  constexpr T kTiny = sizeof(T) == 4 ? T{0x1p-13} : T{0x1p-27};
  return (magnitude < kTiny) | (x != x) ? x : result;
}

}  // namespace stillflow
