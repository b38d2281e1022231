// apply_power_sign, apply_add_sign: steps are larger where the gradient has the sign of its running mean.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include "arithmetic/math/power.h"
#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
W Sign(W x) {
  return static_cast<W>((x > W{0}) - (x < W{0}));
}

// The step is scaled by base ^ (decay * agreement), of which there are three: agreement is -1, 0 or 1.
template <typename W>
struct PowerSign {
  W lr, beta, larger, smaller;
  PowerSign(const W* scalars, const Attr*)
      : lr(scalars[0]),
        beta(scalars[3]),
        larger(Exp(scalars[1] * scalars[2])),
        smaller(Exp(-(scalars[1] * scalars[2]))) {}
  void operator()(W grad, W& var, W& m) const {
    m = m * beta + grad * (W{1} - beta);
    const W agreement = Sign(grad) * Sign(m);
    const W scale = agreement > W{0} ? larger : agreement < W{0} ? smaller : W{1};
    var -= lr * scale * grad;
  }
};

template <typename W>
struct AddSign {
  W lr, alpha, decay, beta;
  AddSign(const W* scalars, const Attr*) : lr(scalars[0]), alpha(scalars[1]), decay(scalars[2]), beta(scalars[3]) {}
  void operator()(W grad, W& var, W& m) const {
    m = m * beta + grad * (W{1} - beta);
    const W agreement = Sign(grad) * Sign(m);
    var -= lr * (alpha + decay * agreement) * grad;
  }
};

constexpr UpdateSignature kPowerSign = {2, {"var", "m"}, "grad", {"lr", "logbase", "sign_decay", "beta", "grad"}};
Status ApplyPowerSign(const KernelCall& call) { return ApplyUpdate<PowerSign, 2>(call, kPowerSign); }

constexpr UpdateSignature kAddSign = {2, {"var", "m"}, "grad", {"lr", "alpha", "sign_decay", "beta", "grad"}};
Status ApplyAddSign(const KernelCall& call) { return ApplyUpdate<AddSign, 2>(call, kAddSign); }

}  // namespace

STILLFLOW_KERNELS(training, apply_sign){
    {"apply_power_sign", "var, m, lr, logbase, sign_decay, beta, grad", ApplyPowerSign},
    {"apply_add_sign", "var, m, lr, alpha, sign_decay, beta, grad", ApplyAddSign},
    {}};

}  // namespace stillflow
