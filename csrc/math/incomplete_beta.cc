// The incomplete beta function: a continued fraction, and for large a and b near the mean, where that takes as many
// steps as the root of them is large, the expansion of Didonato and Morris ("Significant digit computation of the
// incomplete beta function ratios", ACM Trans. Math. Software 18, 1992).
#include "math/incomplete_beta.h"

#include "math/incomplete_gamma.h"

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

// x^a y^b / (a B(a, b)).
double Prefix(const Arguments& at) {
  const double powers = at.a * at.log_x + at.b * at.log_y;
  if (at.a >= kTailBegins && at.b >= kTailBegins) {
    return Exp(-(Exponent(at) + StirlingErrors(at))) * Sqrt(at.b / (at.a + at.b) / (2 * kPi * at.a));
  }
  if (at.b >= kTailBegins) return Exp(powers + (LogGammaRatio(at.b, at.a) - Lgamma(at.a + 1)));
  if (at.a >= kTailBegins) return Exp(powers + (LogGammaRatio(at.a, at.b) - Lgamma(at.b))) / at.a;
  return Exp(powers + (Lgamma(at.a + at.b) - Lgamma(at.a + 1) - Lgamma(at.b)));
}

// I over the prefix (DLMF 8.17.22), by Lentz' method.
double ContinuedFraction(const Arguments& at) {
  constexpr double kTiny = 0x1p-900;
  const auto away_from_zero = [](double value) { return Abs(value) < kTiny ? kTiny : value; };
  const double a = at.a;
  const double b = at.b;
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * at.x / (a + 1));
  double product = d;
  for (int m = 1; m < kMostSteps; ++m) {
    // Quotients before products, which could overflow.
    const double even = m / (a + 2 * m - 1) * ((b - m) / (a + 2 * m)) * at.x;
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    product *= d * c;
    const double odd = -((a + m) / (a + 2 * m)) * ((a + b + m) / (a + 2 * m + 1)) * at.x;
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    product *= d * c;
    if (Abs(d * c - 1) <= 2 * kPrecision) break;
  }
  return product;
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

}  // namespace

double Betainc(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNan<double>;
  if (x == 0 || x == 1) return x;
  if (a + b == kInfinity<double>) return kNan<double>;
  const Arguments at = {a, b, x, 1 - x, Log(x), Log1p(-x), Lambda(a, b, x)};
  const double smaller = a < b ? a : b;
  if (smaller > 100 && Abs(at.lambda) <= 0.03 * smaller) {
    return at.lambda >= 0 ? Expansion(at).Value() : 1 - Expansion(at.Swapped()).Value();
  }
  return x <= (a + 1) / (a + b + 2) ? ByFraction(at) : 1 - ByFraction(at.Swapped());
}

}  // namespace stillflow
