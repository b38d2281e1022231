// The incomplete gamma functions: a series left of a, a continued fraction right of it, and for large a near x
// Temme's expansion, where those two would take as many steps as the root of a is large.
#include "arithmetic/math/incomplete_gamma.h"

#include <initializer_list>

#include "arithmetic/math/power.h"

namespace stillflow {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kPrecision = 0x1p-54;
constexpr int kMostSteps = 5000;  // enough for all that is not Temme's

// A function's value and its derivative with respect to a.
struct Derived {
  double value;
  double slope;
};

// x^a e^-x / gamma(a + 1).
double Prefix(double a, double x) {
  if (a < kTailBegins) return Pow(x, a) * Exp(-x) / Exp(Lgamma(a + 1));
  const double ratio = x / a;
  const double exponent = IsNearOne(ratio) ? BeyondLog1p((x - a) / a) : (x - a) / a - Log(ratio);
  return Exp(-Fma(a, exponent, StirlingError(a))) / Sqrt(2 * kPi * a);
}

// log(x) - digamma(a + 1), the derivative of the prefix's logarithm.
double PrefixSlope(double a, double x) {
  if (a < 1e6) return Log(x) - Digamma(a + 1);
  const double inverse = 1 / a;
  return Log(x / a) - Fma(inverse * inverse, -1 / 12.0, 0.5 * inverse);
}

// P over the prefix: 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
Derived Series(double a, double x) {
  Derived term = {1, 0};
  Derived sum = {1, 0};
  for (int n = 1; n < kMostSteps; ++n) {
    const double factor = 1 / (a + n);
    term.slope = (term.slope * x - term.value * x * factor) * factor;
    term.value *= x * factor;
    sum.value += term.value;
    sum.slope += term.slope;
    if (term.value <= kPrecision * sum.value && Abs(term.slope) <= kPrecision * Abs(sum.slope)) break;
  }
  return sum;
}

// Q over x^a e^-x / gamma(a), by Legendre's continued fraction.
Derived ContinuedFraction(double a, double x) {
  double y = 1 - a;
  double z = x + y + 1;
  Derived over_before = {1, 0};
  Derived over = {x + 1, 0};
  Derived under_before = {x, 0};
  Derived under = {z * x, -x};
  Derived result = {over.value / under.value, -over.value / under.value * (under.slope / under.value)};
  for (int n = 1; n < kMostSteps; ++n) {
    y += 1;
    z += 2;
    const double yn = y * n;
    const auto next = [&](Derived now, Derived before) {
      return Derived{now.value * z - before.value * yn,
                     (now.slope * z - now.value) - (before.slope * yn - before.value * n)};
    };
    const Derived next_over = next(over, over_before);
    const Derived next_under = next(under, under_before);
    over_before = over;
    under_before = under;
    over = next_over;
    under = next_under;
    if (under.value != 0) {
      const double value = over.value / under.value;
      const double slope = (over.slope - value * under.slope) / under.value;
      const bool is_done =
          Abs(value - result.value) <= kPrecision * value && Abs(slope - result.slope) <= 4 * kPrecision * Abs(slope);
      result = {value, slope};
      if (is_done) break;
    }
    if (Abs(under.value) > 0x1p500 || Abs(under.slope) > 0x1p500 || Abs(over.slope) > 0x1p500) {
      for (Derived* part : {&over, &over_before, &under, &under_before}) {
        part->value *= 0x1p-500;
        part->slope *= 0x1p-500;
      }
    }
  }
  return result;
}

// ---- Large a near x -----------------------------------------------------------------------------------------

struct Temme {
  double eta;        // eta^2 / 2 = mu - log(1 + mu), for x = a (1 + mu)
  double mu;         //
  double scale;      // e^(-a eta^2 / 2) / sqrt(2 pi a)
  double sum;        // of C_k(eta) / a^k
  double sum_slope;  // its derivative with respect to a
};

bool IsTemmes(double a, double x) { return a > 200 && IsNearOne(x / a); }

Temme Expand(double a, double x) {
  Temme temme;
  temme.mu = (x - a) / a;
  const double half_square = BeyondLog1p(temme.mu);
  temme.eta = CopySign(Sqrt(2 * half_square), temme.mu);
  temme.scale = Exp(-a * half_square) / Sqrt(2 * kPi * a);
  const double eta_slope = temme.eta == 0 ? -1 / a : -(temme.mu / temme.eta) / a;
  const double inverse = 1 / a;
  double sum = 0;
  double by_eta = 0;
  double by_inverse = 0;
  for (int k = kTemmeOrders - 1; k >= 0; --k) {
    double value = 0;
    double slope = 0;
    for (int n = kTemmeTerms - 1; n >= 0; --n) {
      slope = slope * temme.eta + value;
      value = value * temme.eta + kTemme[k][n];
    }
    by_inverse = by_inverse * inverse + sum;
    sum = sum * inverse + value;
    by_eta = by_eta * inverse + slope;
  }
  temme.sum = sum;
  temme.sum_slope = by_eta * eta_slope - by_inverse * inverse * inverse;
  return temme;
}

double TemmesP(double a, double x) {
  const Temme temme = Expand(a, x);
  return 0.5 * Erfc(-temme.eta * Sqrt(0.5 * a)) - temme.scale * temme.sum;
}

double TemmesQ(double a, double x) {
  const Temme temme = Expand(a, x);
  return 0.5 * Erfc(temme.eta * Sqrt(0.5 * a)) + temme.scale * temme.sum;
}

double TemmesGradient(double a, double x) {
  const Temme temme = Expand(a, x);
  const double ratio = temme.eta == 0 ? 1 : temme.mu / temme.eta;
  const double log = temme.mu - 0.5 * temme.eta * temme.eta;  // log(1 + mu)
  return temme.scale * ((0.5 * temme.eta - ratio) - ((log - 0.5 / a) * temme.sum + temme.sum_slope));
}

// ---- The functions by region --------------------------------------------------------------------------------

// Q for small a and x, where 1 - P would cancel: P without its first term, and one minus that term.
double SmallQ(double a, double x) {
  double term = 1;
  double sum = 0;
  for (int n = 1; n < kMostSteps; ++n) {
    term *= -x / n;
    sum += term / (a + n);
    if (Abs(term) <= kPrecision * Abs(sum) * (a + n)) break;
  }
  const double log_gamma = a < 0.5 ? a * LgammaNearTwo(a) - Log1p(a) : Lgamma(1 + a);
  const double log = a * Log(x) - log_gamma;
  return -Expm1(log) - Exp(log) * a * sum;
}

// Whether the continued fraction is used: it takes few steps unless x is small.
bool IsRight(double a, double x) { return x > 1.1 && x > a; }

double SeriesP(double a, double x) {
  const double prefix = Prefix(a, x);
  return prefix == 0 ? 0 : prefix * Series(a, x).value;
}

double FractionQ(double a, double x) {
  const double prefix = Prefix(a, x) * a;
  return prefix == 0 ? 0 : prefix * ContinuedFraction(a, x).value;
}

bool IsOutside(double a, double x) { return !(a > 0) || !(x >= 0) || a == kInfinity<double>; }

}  // namespace

double Igamma(double a, double x) {
  if (x == 0) return 0;
  if (IsOutside(a, x)) return kNan<double>;
  if (x == kInfinity<double>) return 1;
  if (IsTemmes(a, x)) return TemmesP(a, x);
  return IsRight(a, x) ? 1 - FractionQ(a, x) : SeriesP(a, x);
}

double Igammac(double a, double x) {
  if (IsOutside(a, x)) return kNan<double>;
  if (x == 0) return 1;
  if (x == kInfinity<double>) return 0;
  if (IsTemmes(a, x)) return TemmesQ(a, x);
  if (IsRight(a, x)) return FractionQ(a, x);
  const bool is_small = x <= 0.5 ? a < -0.4 / Log(x) : x <= 1.1 && a < 1.1 * x;
  return is_small ? SmallQ(a, x) : 1 - SeriesP(a, x);
}

double IgammaGradA(double a, double x) {
  if (x == 0) return 0;
  if (IsOutside(a, x)) return kNan<double>;
  if (x == kInfinity<double>) return -0.0;
  if (IsTemmes(a, x)) return TemmesGradient(a, x);
  const double prefix = Prefix(a, x);
  if (prefix == 0) return -0.0;
  if (IsRight(a, x)) {
    const Derived fraction = ContinuedFraction(a, x);
    // The prefix is a times smaller than the fraction's.
    return -prefix * (a * (fraction.value * PrefixSlope(a, x) + fraction.slope) + fraction.value);
  }
  const Derived series = Series(a, x);
  return prefix * Fma(series.value, PrefixSlope(a, x), series.slope);
}

}  // namespace stillflow
