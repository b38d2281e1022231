// apply_adam, apply_adam_with_amsgrad: steps along the running mean of gradients, scaled by that of their squares, or
// by the greatest that this has been.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <cmath>

#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct Adam {
  W alpha, beta1, beta2, epsilon;
  bool uses_nesterov;
  Adam(const W* scalars, const Attr* attrs)
      : alpha(scalars[2] * std::sqrt(W{1} - scalars[1]) / (W{1} - scalars[0])),
        beta1(scalars[3]),
        beta2(scalars[4]),
        epsilon(scalars[5]),
        uses_nesterov(attrs[0].i != 0) {}
  void operator()(W grad, W& var, W& m, W& v) const {
    m += (grad - m) * (W{1} - beta1);
    v += (grad * grad - v) * (W{1} - beta2);
    const W direction = uses_nesterov ? grad * (W{1} - beta1) + beta1 * m : m;
    var -= direction * alpha / (std::sqrt(v) + epsilon);
  }
};

template <typename W>
struct AdamWithAmsgrad {
  W alpha, beta1, beta2, epsilon;
  AdamWithAmsgrad(const W* scalars, const Attr*)
      : alpha(scalars[2] * std::sqrt(W{1} - scalars[1]) / (W{1} - scalars[0])),
        beta1(scalars[3]),
        beta2(scalars[4]),
        epsilon(scalars[5]) {}
  void operator()(W grad, W& var, W& m, W& v, W& vhat) const {
    m += (grad - m) * (W{1} - beta1);
    v += (grad * grad - v) * (W{1} - beta2);
    vhat = v > vhat ? v : vhat;
    var -= m * alpha / (std::sqrt(vhat) + epsilon);
  }
};

constexpr UpdateSignature kAdam = {
    3, {"var", "m", "v"}, "grad", {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"}};
Status ApplyAdam(const KernelCall& call) { return ApplyUpdate<Adam, 3>(call, kAdam); }

constexpr UpdateSignature kAdamWithAmsgrad = {
    4, {"var", "m", "v", "vhat"}, "grad", {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"}};
Status ApplyAdamWithAmsgrad(const KernelCall& call) {
  return ApplyUpdate<AdamWithAmsgrad, 4>(call, kAdamWithAmsgrad);
}

}  // namespace

STILLFLOW_KERNELS(training, apply_adam){
    {"apply_adam", "var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad | use_nesterov", ApplyAdam},
    {"apply_adam_with_amsgrad", "var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
     ApplyAdamWithAmsgrad},
    {}};

}  // namespace stillflow
