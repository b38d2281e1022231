// bessel.h: e^-|x| I(x) for the modified Bessel functions of orders 0 and 1.
//
// Errors: double within 3 ulp; float, which is computed in double, within 0.501 ulp.
#pragma once

#include "arithmetic/math/exponential.h"

namespace stillflow {

constexpr double kBesselTailBegins = 8;

STILLFLOW_INLINE double BesselI0e(double x) {
  const double magnitude = Abs(x);
  const double z = x * x;
  const double near = Exp(-magnitude) * Fma(z, BesselI0Tail(z), 1.0);
  const double far = BesselI0AtInfinity(16 / magnitude - 1) / Sqrt(magnitude);
  const double result = magnitude > kBesselTailBegins ? far : near;
  return x != x ? kNan<double> : result;
}

STILLFLOW_INLINE double BesselI1e(double x) {
  const double magnitude = Abs(x);
  const double z = x * x;
  const double near = Exp(-magnitude) * (x * Fma(z, BesselI1Tail(z), 0.5));
  const double far = BesselI1AtInfinity(16 / magnitude - 1) / Sqrt(magnitude);
  const double result = magnitude > kBesselTailBegins ? CopySign(far, x) : near;
  return x != x ? kNan<double> : result;
}

STILLFLOW_INLINE float BesselI0e(float x) { return static_cast<float>(BesselI0e(static_cast<double>(x))); }
STILLFLOW_INLINE float BesselI1e(float x) { return static_cast<float>(BesselI1e(static_cast<double>(x))); }

}  // namespace stillflow
