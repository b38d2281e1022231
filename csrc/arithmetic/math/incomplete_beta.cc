// The incomplete beta function: a continued fraction, and for large a and b near the mean, where that takes as many
// steps as the root of them is large, the expansion of Didonato and Morris ("Significant digit computation of the
// incomplete beta function ratios", ACM Trans. Math. Software 18, 1992).
#include "arithmetic/math/incomplete_beta.h"

#include "arithmetic/math/incomplete_gamma.h"

namespace stillflow {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kPrecision = 0x1p-54;
constexpr int kMostSteps = 20000;

// The arguments of I_x(a, b), y = 1 - x, and what is computed from them without cancellation.
struct Arguments {
  double a;
  double b;
  double x;
  double y;
  double log_x;
  double log_y;
  double lambda;  // a - (a + b) x: how far x is below the mean

  // I_x(a, b) = 1 - I_y(b, a).
  Arguments Swapped() const { return {b, a, y, x, log_y, log_x, -lambda}; }
};

double Lambda(double a, double b, double x) {
  const double sum = a + b;
  const double sum_low = SumError(a, b, sum);
  const double product = sum * x;
  const double product_low = Fma(sum, x, -product) + sum_low * x;
  return (a - product) - product_low;
}

// t - log(1 + t), where the logarithm is known as well.
double Beyond(double t, double log) { return IsNearOne(1 + t) ? BeyondLog1p(t) : t - log; }

// What x^a y^b / B(a, b), for large a and b, is the exponential of, but for a root.
double Exponent(const Arguments& at) {
  const double t_x = -at.lambda / at.a;
  const double t_y = at.lambda / at.b;
  return at.a * Beyond(t_x, at.log_x + Log1p(at.b / at.a)) + at.b * Beyond(t_y, at.log_y + Log1p(at.a / at.b));
}

double StirlingErrors(const Arguments& at) {
  return StirlingError(at.a) + StirlingError(at.b) - StirlingError(at.a + at.b);
}

// log(gamma(large + s) / gamma(large)), for large >= 8.5.
double LogGammaRatio(double large, double s) {
  const double sum = large + s;
  return Fma(large - 0.5, Log1p(s / large), s * (Log(sum) - 1)) + (StirlingError(sum) - StirlingError(large));
}

// x^a y^b / B(a, b).
double Prefix(const Arguments& at) {
  const double powers = at.a * at.log_x + at.b * at.log_y;
  if (at.a >= kTailBegins && at.b >= kTailBegins) {
    return Exp(-(Exponent(at) + StirlingErrors(at))) * Sqrt(at.b / (at.a + at.b) * at.a / (2 * kPi));
  }
  if (at.b >= kTailBegins) return at.a * Exp(powers + (LogGammaRatio(at.b, at.a) - Lgamma(at.a + 1)));
  if (at.a >= kTailBegins) return at.b * Exp(powers + (LogGammaRatio(at.a, at.b) - Lgamma(at.b + 1)));
  return at.a * Exp(powers + (Lgamma(at.a + at.b) - Lgamma(at.a + 1) - Lgamma(at.b)));
}

// I over x^a y^b / B(a, b): the even part of DLMF's continued fraction 8.17.22, written with lambda and y so that
// nothing cancels when a is large; for lambda > -1.
double ContinuedFraction(const Arguments& at) {
  const double a = at.a;
  const double from_mean = 1 + at.lambda;
  const double after_a = 1 + 1 / a;
  // The last convergent, and the numerator and denominator of the one before, over the last denominator.
  double value = after_a / from_mean;
  double over_before = 0;
  double under_before = value;
  double factor = 1;
  for (int n = 1; n < kMostSteps; ++n) {
    const double n_over_a = n / a;
    const double s = a + (2 * n - 1);
    const double w = n * (at.b - n) * at.x;
    const double shrunk = factor * (a / s);
    const double partial_over = shrunk * (shrunk + at.b / s) * (w * at.x);
    const double growth = (1 + n_over_a) / (after_a + 2 * n_over_a);
    const double partial_under = n + w / s + growth * (from_mean + n * (1 + at.y));
    factor = 1 + n_over_a;
    const double over = partial_over * over_before + partial_under * value;
    const double under = partial_over * under_before + partial_under;
    over_before = value / under;
    under_before = 1 / under;
    const double next = over / under;
    const bool is_done = Abs(next - value) <= kPrecision * Abs(next);
    value = next;
    if (is_done) break;
  }
  return value;
}

// ---- Large a and b, 0 <= lambda <= 0.03 min(a, b) -----------------------------------------------------------

class Expansion {
 public:
  explicit Expansion(const Arguments& at) {
    const double smaller = at.a < at.b ? at.a : at.b;
    const double larger = at.a < at.b ? at.b : at.a;
    h_ = smaller / larger;
    r0_ = 1 / (1 + h_);
    r1_ = (at.b - at.a) / larger;
    w0_ = 1 / Sqrt(smaller * (1 + h_));
    exponent_ = Exponent(at);
    errors_ = StirlingErrors(at);
  }

  double Value() {
    const double scale = Exp(-exponent_);
    if (scale == 0) return 0;
    const double root = Sqrt(exponent_);
    const double square = 2 * exponent_;
    constexpr double kRootHalf = 0x1.6a09e667f3bcdp-1;
    constexpr double kTwoOverRootPi = 0x1.20dd750429b6dp+0;
    constexpr double kHalfRootHalf = 0.5 * kRootHalf;
    a0_[0] = r1_ * (2.0 / 3);
    c_[0] = -0.5 * a0_[0];
    d_[0] = -c_[0];
    double even = 0.5 / kTwoOverRootPi * ScaledErfc(root);
    double odd = kHalfRootHalf;
    double sum = even + d_[0] * w0_ * odd;
    double even_power = root / (2 * kHalfRootHalf);
    double odd_power = square;
    double w = w0_;
    for (int n = 2; n <= kTerms; n += 2) {
      AddCoefficients(n);
      even = kHalfRootHalf * even_power + (n - 1) * even;
      odd = kHalfRootHalf * odd_power + n * odd;
      even_power *= square;
      odd_power *= square;
      w *= w0_;
      const double even_term = d_[n - 1] * w * even;
      w *= w0_;
      const double odd_term = d_[n] * w * odd;
      sum += even_term + odd_term;
      if (Abs(even_term) + Abs(odd_term) <= kPrecision * sum) break;
    }
    return kTwoOverRootPi * scale * Exp(-errors_) * sum;
  }

 private:
  static constexpr int kTerms = 20;

  // Those of orders n and n + 1.
  void AddCoefficients(int n) {
    h_power_ *= h_ * h_;
    a0_[n - 1] = 2 * r0_ * (1 + h_ * h_power_) / (n + 2);
    h_sum_ += h_power_;
    a0_[n] = 2 * r1_ * h_sum_ / (n + 3);
    for (int i = n; i <= n + 1; ++i) {
      const double r = -0.5 * (i + 1);
      double b0[kTerms + 1];
      b0[0] = r * a0_[0];
      for (int m = 2; m <= i; ++m) {
        double sum = 0;
        for (int j = 1; j < m; ++j) sum += (j * r - (m - j)) * a0_[j - 1] * b0[m - j - 1];
        b0[m - 1] = r * a0_[m - 1] + sum / m;
      }
      c_[i - 1] = b0[i - 1] / (i + 1);
      double sum = 0;
      for (int j = 1; j < i; ++j) sum += d_[i - j - 1] * c_[j - 1];
      d_[i - 1] = -(sum + c_[i - 1]);
    }
  }

  double h_, r0_, r1_, w0_, exponent_, errors_;
  double h_power_ = 1;
  double h_sum_ = 1;
  double a0_[kTerms + 1], c_[kTerms + 1], d_[kTerms + 1];
};

double ByFraction(const Arguments& at) {
  const double prefix = Prefix(at);
  return prefix == 0 ? 0 : prefix * ContinuedFraction(at);
}

// What rounding may have brought below 0.
double Bounded(double value) { return value < 0 ? 0.0 : value; }

}  // namespace

double Betainc(double a, double b, double x) {
  if (a <= 0 || b <= 0 || !(x >= 0) || !(x <= 1)) return kNan<double>;
  if (x == 0 || x == 1) return x;  // also where a or b is NaN
  if (!(a + b < kInfinity<double>)) return kNan<double>;
  const Arguments at = {a, b, x, 1 - x, Log(x), Log1p(-x), Lambda(a, b, x)};
  const double smaller = a < b ? a : b;
  if (smaller > 100 && Abs(at.lambda) <= 0.03 * smaller) {
    return at.lambda >= 0 ? Expansion(at).Value() : Bounded(1 - Expansion(at.Swapped()).Value());
  }
  // That is x <= (a + 1) / (a + b + 2), where the fraction converges fast.
  return at.lambda >= 2 * x - 1 ? ByFraction(at) : Bounded(1 - ByFraction(at.Swapped()));
}

}  // namespace stillflow
