// dual_loss.h: losses of linear models as stochastic dual coordinate ascent sees them (Shalev-Shwartz and Zhang,
// 2013; with several partitions of the examples: Ma et al., 2015).
#pragma once

#include <algorithm>
#include <limits>

#include "arithmetic/math/activation.h"
#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"
#include "kernel_api/kernel.h"

namespace stillflow::linear {

enum class Loss { kLogistic, kSquared, kHinge, kSmoothHinge, kPoisson };

// What is known of one example. `norm` is the squared norm of its features, divided by the L2 regularization.
struct DualState {
  double label;
  double weight;
  double dual;
  double wx;
  double norm;
  double partitions;

  double pull() const { return partitions * norm * weight; }
};

inline double LogOfOnePlusExp(double x) { return Log(1 + Exp(x)); }

// The label as the loss takes it.
inline Status ConvertLabel(Loss loss, float* label) {
  if (loss == Loss::kSquared) return Status();
  if (loss == Loss::kPoisson) {
    if (!(*label < 0)) return Status();
    return STILLFLOW_INVALID_ARGUMENT(
        "Only non-negative labels can be used with the Poisson log loss. Found example with label: %g",
        static_cast<double>(*label));
  }
  if (*label != 0 && *label != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Only labels of 0.0 or 1.0 are supported right now. Found example with label: %g",
        static_cast<double>(*label));
  }
  *label = *label == 0 ? -1.0F : 1.0F;
  return Status();
}

// The best dual in [0, 1] times the label.
inline double Clipped(double dual, double label) {
  if (label * dual < 0) return 0;
  return label * dual > 1 ? label : dual;
}

// Newton's method converges in fewer steps.
constexpr int kNewtonSteps = 10;

inline double LogisticDual(const DualState& s) {
  double x = 0;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double t = Tanh(x);
    const double value = -2 * s.label * x - s.wx - s.pull() * (0.5 * (1 + t) / s.label - s.dual);
    const double slope = -2 * s.label - s.pull() * (1 - t * t) * 0.5 / s.label;
    x -= value / slope;
  }
  return 0.5 * (1 + Tanh(x)) / s.label;
}

inline double PoissonDual(const DualState& s) {
  const double rest = s.label - s.dual;
  double x = rest > 0 ? Log(rest) : 0.0;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double e = Exp(x);
    x -= (x - s.wx - s.pull() * (rest - e)) / (1 + s.pull() * e);
  }
  return s.label - Exp(x);
}

// The dual that is best for an example while those of all others stay.
inline double UpdatedDual(Loss loss, const DualState& s) {
  switch (loss) {
    case Loss::kLogistic:
      return LogisticDual(s);
    case Loss::kSquared:
      return s.dual + (s.label - s.dual - s.wx) / (1 + s.pull());
    case Loss::kHinge:
      return Clipped(s.dual + (s.label - s.wx) / s.pull(), s.label);
    case Loss::kSmoothHinge:
      return Clipped(s.dual + (s.label - s.wx - s.dual) / (s.pull() + 1), s.label);
    case Loss::kPoisson:
      return PoissonDual(s);
  }
  return s.dual;
}

inline double EntropyTerm(double p) { return p > 0 ? p * Log(p) : 0.0; }

inline double DualLoss(Loss loss, double dual, double label, double weight) {
  const double y = dual * label, rest = label - dual;
  const bool is_outside = y < 0 || y > 1;
  switch (loss) {
    case Loss::kLogistic:
      return (EntropyTerm(y) + EntropyTerm(1 - y)) * weight;
    case Loss::kSquared:
      return dual * (0.5 * dual - label) * weight;
    case Loss::kHinge:
      return is_outside ? std::numeric_limits<double>::max() : -y * weight;
    case Loss::kSmoothHinge:
      return is_outside ? std::numeric_limits<double>::max() : (-y + 0.5 * dual * dual) * weight;
    case Loss::kPoisson:
      if (rest == 0) return 0;
      return rest < 0 ? std::numeric_limits<double>::max() : rest * (Log(rest) - 1) * weight;
  }
  return 0;
}

inline double PrimalLoss(Loss loss, double wx, double label, double weight) {
  const double y = label * wx;
  switch (loss) {
    case Loss::kLogistic:
      return (y > 0 ? LogOfOnePlusExp(-y) : LogOfOnePlusExp(y) - y) * weight;
    case Loss::kSquared:
      return (wx - label) * (wx - label) * weight * 0.5;
    case Loss::kHinge:
      return std::max(0.0, 1 - y) * weight;
    case Loss::kSmoothHinge:
      if (y >= 1) return 0;
      return y <= 0 ? (0.5 - y) * weight : (1 - y) * (1 - y) * weight * 0.5;
    case Loss::kPoisson:
      return (Exp(wx) - wx * label) * weight;
  }
  return 0;
}

inline double PrimalLossSlope(Loss loss, double wx, double label) {
  const double y = label * wx;
  switch (loss) {
    case Loss::kLogistic:
      return -label / (1 + Exp(y));
    case Loss::kSquared:
      return wx - label;
    case Loss::kHinge:
      return y < 1 ? -label : 0.0;
    case Loss::kSmoothHinge:
      return y >= 1 ? 0.0 : y <= 0 ? -label : wx - label;
    case Loss::kPoisson:
      return Exp(wx) - label;
  }
  return 0;
}

// How fast the slope of the loss may change.
inline double Smoothness(Loss loss) { return loss == Loss::kLogistic ? 4 : loss == Loss::kHinge ? 0 : 1; }

}  // namespace stillflow::linear
