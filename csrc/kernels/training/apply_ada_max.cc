// apply_ada_max: steps along the running mean of gradients, scaled by the largest of them, which fades.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <algorithm>
#include <cmath>

#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct AdaMax {
  W rate, beta1, beta2, epsilon;
  AdaMax(const W* scalars, const Attr*)
      : rate(scalars[1] / (W{1} - scalars[0])), beta1(scalars[2]), beta2(scalars[3]), epsilon(scalars[4]) {}
  void operator()(W grad, W& var, W& m, W& v) const {
    m += (grad - m) * (W{1} - beta1);
    v = std::max(beta2 * v, std::abs(grad));
    var -= rate * (m / (v + epsilon));
  }
};

constexpr UpdateSignature kAdaMax = {
    3, {"var", "m", "v"}, "grad", {"beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"}};
Status ApplyAdaMax(const KernelCall& call) { return ApplyUpdate<AdaMax, 3>(call, kAdaMax); }

}  // namespace

STILLFLOW_KERNELS(training, apply_ada_max){
    {"apply_ada_max", "var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad", ApplyAdaMax}, {}};

}  // namespace stillflow
