// power.h: x^y, with the special cases of IEEE 754's pow.
//
// Errors: float within 0.501 ulp, double within 1 ulp.
#pragma once

#include "math/exponential.h"
#include "math/logarithm.h"

namespace stillflow {

// The sum of two numbers, the second below the first's last bit.
struct DoubleSum {
  double high;
  double low;
};

STILLFLOW_INLINE DoubleSum FastSum(double large, double small) {
  const double sum = large + small;
  return {sum, small - (sum - large)};
}

STILLFLOW_INLINE DoubleSum Product(DoubleSum a, DoubleSum b) {
  const double high = a.high * b.high;
  return {high, Fma(a.high, b.high, -high) + Fma(a.high, b.low, a.low * b.high)};
}

// log(x) for a positive number, to about 2^-66 of itself.
STILLFLOW_INLINE DoubleSum LogInTwoParts(double x) {
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

// What x^y is when the result is not the power of |x|, or `power` with its sign.
template <typename T>
STILLFLOW_INLINE T PowOfSpecial(T x, T y, T power) {
  const T magnitude = Abs(x);
  const T exponent = Abs(y);
  const bool is_integer = IsInteger(exponent);
  const bool is_odd = is_integer & !IsInteger(exponent * T{0.5});
  const T at_zero = y < 0 ? kInfinity<T> : T{0};
  const T at_infinity = y < 0 ? T{0} : kInfinity<T>;
  const bool grows = (magnitude > 1) == (y > 0);
  const T to_infinity = magnitude == 1 ? T{1} : (grows ? kInfinity<T> : T{0});
  T result = exponent == kInfinity<T> ? to_infinity : power;
  result = magnitude == 0 ? at_zero : result;
  result = magnitude == kInfinity<T> ? at_infinity : result;
  result = is_odd ? CopySign(result, x) : result;
  result = (x < 0) & (magnitude < kInfinity<T>)&!is_integer ? kNan<T> : result;
  result = y != y ? kNan<T> : result;
  result = x != x ? kNan<T> : result;
  return (y == 0) | (x == 1) ? T{1} : result;
}

STILLFLOW_INLINE double Pow(double x, double y) {
  const DoubleSum log = LogInTwoParts(Abs(x));
  double high = log.high * y;
  double low = Fma(log.high, y, -high) + log.low * y;
  const bool is_bounded = Abs(high) < 800;
  low = is_bounded ? low : 0.0;
  high = is_bounded ? high : (high > 0 ? 800.0 : -800.0);
  const ExpParts<double> parts = SplitExp(high, low);
  return PowOfSpecial(x, y, Scale(parts.high + parts.low, parts.n));
}

STILLFLOW_INLINE float Pow(float x, float y) {
  double product = Log(static_cast<double>(Abs(x))) * static_cast<double>(y);
  product = product < -200 ? -200.0 : (product > 200 ? 200.0 : product);
  const auto power = static_cast<float>(Exp(product));
  return PowOfSpecial(x, y, power);
}

}  // namespace stillflow
