// Hurwitz' zeta function and polygamma: terms one by one, then Euler and Maclaurin's formula for the rest.
#include "arithmetic/math/zeta.h"

#include "arithmetic/math/gamma.h"
#include "arithmetic/math/power.h"

namespace stillflow {
namespace {

// B(2 j) / (2 j)! for j = 1, 2, ...
constexpr double kEulerMaclaurin[] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-10, 0x1.1566abc011566p-15,
                                      -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,  -0x1.22805d644267fp-31,
                                      0x1.d6db2c4e09163p-37,  -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,
                                      -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58,  -0x1.497d9033a2b5dp-63};

// The terms from a on, over a^-s, for a >= s + 10 or so many terms before it that it does not matter.
double RestOfZeta(double s, double a) {
  double factor = s / a;
  double sum = 0.5;
  double k = s;
  for (const double coefficient : kEulerMaclaurin) {
    const double term = coefficient * factor;
    sum += term;
    if (Abs(term) < 0x1p-60 * sum) break;
    factor *= ((k + 1) / a) * ((k + 2) / a);
    k += 2;
  }
  return sum + a / (s - 1);
}

// The sum of power(n), which is ((q + n) / scale)^-s, for s > 1, q > 0.
template <typename Power>
double SumOfPowers(double s, double q, Power power) {
  // The terms decline by e^-1 and faster in q / s + 1 steps, unless a reaches s + 10 before.
  constexpr int kMostTerms = 500;
  double sum = 0;
  double a = q;
  int n = 0;
  for (; n < kMostTerms && a < s + 10; ++n) {
    const double term = power(n);
    sum += term;
    if (term * (a / (s - 1)) <= 0x1p-60 * sum) return sum;
    a = q + (n + 1);
  }
  return Fma(power(n), RestOfZeta(s, a), sum);
}

double ZetaOfPositive(double s, double q) {
  if (q == kInfinity<double>) return 0;
  if (s == kInfinity<double>) return Pow(q, -s);
  return SumOfPowers(s, q, [&](int n) {
    // What rounding cuts off q + n counts s times.
    const double a = q + n;
    const double power = Pow(a, -s);
    if (power == kInfinity<double>) return power;
    return power - power * (s * (SumError(q, static_cast<double>(n), a) / a));
  });
}

// n! for 0 <= n <= 170, rounded to nearest: of the product, 64 bits are kept.
double Factorial(int n) {
  uint64_t mantissa = uint64_t{1} << 63;
  int64_t exponent = -63;
  for (int i = 2; i <= n; ++i) {
    const unsigned __int128 product = static_cast<unsigned __int128>(mantissa) * static_cast<unsigned>(i);
    const auto high = static_cast<uint64_t>(product >> 64);
    const int width = 64 - __builtin_clzll(high);  // i >= 2, so high is not 0
    mantissa = static_cast<uint64_t>(product >> width);
    exponent += width;
  }
  return static_cast<double>(mantissa) * PowerOfTwo<double>(exponent);
}

}  // namespace

double Zeta(double s, double q) {
  if (s == 1) return kInfinity<double>;
  if (!(s > 1)) return kNan<double>;
  if (q > 0) return ZetaOfPositive(s, q);
  if (q != q) return q;
  const double from_below = q - std::floor(q);
  if (from_below == 0 || q == -kInfinity<double>) return kInfinity<double>;
  if (s != std::floor(s) || s == kInfinity<double>) return kNan<double>;
  // For integers s, the sum over all integers n is known from the fraction of q: what is beyond the poles is
  // taken from it, instead of adding as many terms as -q is large.
  const double from_above = std::ceil(q) - q;
  const double sign = std::fmod(s, 2.0) == 0 ? 1.0 : -1.0;
  return ZetaOfPositive(s, from_below) + sign * (ZetaOfPositive(s, from_above) - ZetaOfPositive(s, 1 - q));
}

double Polygamma(double n, double x) {
  if (n == 0) return Digamma(x);
  if (!(n > 0) || n != std::floor(n)) return kNan<double>;
  const double s = n + 1;
  const double sign = std::fmod(s, 2.0) == 0 ? 1.0 : -1.0;
  const double zeta = Zeta(s, x);
  if (n <= 170) {
    const double product = Factorial(static_cast<int>(n)) * zeta;
    const bool is_precise = (zeta > 0x1p-1021) & (product < kInfinity<double>);
    if (is_precise || !(x > 0)) return sign * product;
  }
  if (!(x > 0) || n == kInfinity<double>) return sign * (kInfinity<double> * zeta);
  if (x == kInfinity<double>) return sign * 0.0;
  // n! or zeta is out of range, but their product need not be.
  const double shape = SumOfPowers(s, x, [&](int k) { return Exp(-s * Log1p(k / x)); });
  return sign * Exp((Lgamma(s) - s * Log(x)) + Log(shape));
}

}  // namespace stillflow
