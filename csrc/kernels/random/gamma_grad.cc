// random_gamma_grad: how a sample of the gamma distribution changes with its parameter.
//
//   in[0]  alpha   float | double
//   in[1]  sample  likewise, of a shape that broadcasts with alpha's
//   out[0] the derivative of the sample by alpha where its place in the distribution is held: -(dP/dalpha) / p, for
//          the distribution function P and its density p
//
// With P = x^a e^-x / gamma(a + 1) * S, or 1 - P = x^a e^-x / gamma(a) * C, the derivative is -x/a (S' + S (log x -
// digamma(a + 1))), or x (C' + C (log x - digamma(a))): powers and gamma functions cancel. S is a series, which suits
// small x, C a continued fraction for the others; both are differentiated term by term.
#include "arithmetic/math/gamma.h"
#include "kernel_api/broadcast.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 256;
constexpr int kMostTerms = 100000;  // of the order of 10 sqrt(alpha) are needed
constexpr double kNegligible = 0x1p-54;

double BySeries(double a, double x) {
  double term = 1;
  double slope = 0;  // of the term by a
  double sum = 1;
  double sum_slope = 0;
  for (int n = 1; n < kMostTerms; ++n) {
    const double factor = x / (a + n);
    slope = slope * factor - term * factor / (a + n);
    term *= factor;
    sum += term;
    sum_slope += slope;
    if (term <= kNegligible * sum && Abs(slope) <= kNegligible * Abs(sum_slope)) break;
  }
  return -x / a * (sum_slope + sum * (Log(x) - Digamma(a + 1)));
}

// Of numerators and denominators of a continued fraction, the last two, and their slopes by a.
struct Convergents {
  double p[2], q[2], dp[2], dq[2];

  // The next from the recurrence y = b y[1] - c y[0], where b does not depend on a and c changes by -k with it; or
  // c's part is given.
  void Step(double b, double db, double c, double dc) {
    const double next_p = b * p[1] - c * p[0];
    const double next_q = b * q[1] - c * q[0];
    const double next_dp = b * dp[1] + db * p[1] - c * dp[0] - dc * p[0];
    const double next_dq = b * dq[1] + db * q[1] - c * dq[0] - dc * q[0];
    p[0] = p[1], q[0] = q[1], dp[0] = dp[1], dq[0] = dq[1];
    p[1] = next_p, q[1] = next_q, dp[1] = next_dp, dq[1] = next_dq;
    constexpr double kLarge = 0x1p500;
    if (Abs(q[1]) > kLarge || Abs(dq[1]) > kLarge) {
      for (double* values : {p, q, dp, dq}) {
        values[0] *= 1 / kLarge;
        values[1] *= 1 / kLarge;
      }
    }
  }
  double value() const { return p[1] / q[1]; }
  double slope() const { return (dp[1] - value() * dq[1]) / q[1]; }
};

// C = 1/(x + 1 - a - (1 - a)/(x + 3 - a - 2 (2 - a)/(x + 5 - a - ...))).
double ByFraction(double a, double x) {
  Convergents fraction = {{0, 1}, {1, x + 1 - a}, {0, 0}, {0, -1}};
  double value = fraction.value();
  double slope = fraction.slope();
  for (int n = 1; n < kMostTerms; ++n) {
    fraction.Step(x + 2 * n + 1 - a, -1, n * (n - a), -n);
    const double last_value = value;
    const double last_slope = slope;
    value = fraction.value();
    slope = fraction.slope();
    if (Abs(value - last_value) <= kNegligible * Abs(value) &&
        Abs(slope - last_slope) <= 4 * kNegligible * Abs(slope)) {
      break;
    }
  }
  return x * (slope + value * (Log(x) - Digamma(a)));
}

double SampleDerivative(double a, double x) {
  if (x == 0) return 0;
  if (!(a > 0 && x > 0 && a < kInfinity<double> && x < kInfinity<double>)) return kNan<double>;
  return x > 1 && x > a ? ByFraction(a, x) : BySeries(a, x);
}

Status RandomGammaGrad(const KernelCall& call) {
  const Tensor& alpha = *call.in[0];
  const Tensor& sample = *call.in[1];
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(BroadcastTwo(Shape(alpha), Shape(sample), &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, alpha.dtype, shape));
  return ForType<float, double>("RandomGammaGrad", alpha.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const to = MutableData<T>(*call.out[0]);
    return ForEachChunk(call, call.out[0]->count, kElementsPerChunk, [&](Range chunk) {
      BroadcastWalk alphas(Shape(alpha), shape, chunk.begin);
      BroadcastWalk samples(Shape(sample), shape, chunk.begin);
      for (int64_t i = chunk.begin; i < chunk.end; ++i, alphas.Next(), samples.Next()) {
        to[i] = static_cast<T>(SampleDerivative(Data<T>(alpha)[alphas.index()], Data<T>(sample)[samples.index()]));
      }
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(random, gamma_grad){{"random_gamma_grad", "alpha, sample", RandomGammaGrad}, {}};

}  // namespace stillflow
