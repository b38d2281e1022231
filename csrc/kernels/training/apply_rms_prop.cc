// apply_rms_prop, apply_centered_rms_prop: steps scaled by a running mean of squared gradients.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <cmath>

#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct RMSProp {
  W lr, rho, momentum, epsilon;
  RMSProp(const W* scalars, const Attr*)
      : lr(scalars[0]), rho(scalars[1]), momentum(scalars[2]), epsilon(scalars[3]) {}
  void operator()(W grad, W& var, W& ms, W& mom) const {
    ms += (grad * grad - ms) * (W{1} - rho);
    mom = mom * momentum + grad * lr / std::sqrt(ms + epsilon);
    var -= mom;
  }
};

// The mean square less the squared mean: the variance of the gradients.
template <typename W>
struct CenteredRMSProp {
  W lr, rho, momentum, epsilon;
  CenteredRMSProp(const W* scalars, const Attr*)
      : lr(scalars[0]), rho(scalars[1]), momentum(scalars[2]), epsilon(scalars[3]) {}
  void operator()(W grad, W& var, W& mg, W& ms, W& mom) const {
    ms += (grad * grad - ms) * (W{1} - rho);
    mg += (grad - mg) * (W{1} - rho);
    mom = mom * momentum + grad * lr / std::sqrt((ms - mg * mg) + epsilon);
    var -= mom;
  }
};

constexpr UpdateSignature kRMSProp = {3, {"var", "ms", "mom"}, "grad", {"lr", "rho", "momentum", "epsilon", "grad"}};
Status ApplyRMSProp(const KernelCall& call) { return ApplyUpdate<RMSProp, 3>(call, kRMSProp); }

constexpr UpdateSignature kSparseRMSProp = {
    3, {"var", "ms", "mom"}, "grad", {"lr", "rho", "momentum", "epsilon", "grad", "indices"}};
Status ApplySparseRMSProp(const KernelCall& call) { return ApplyUpdate<RMSProp, 3>(call, kSparseRMSProp); }

constexpr UpdateSignature kCenteredRMSProp = {
    4, {"var", "mg", "ms", "mom"}, "grad", {"lr", "rho", "momentum", "epsilon", "grad"}};
Status ApplyCenteredRMSProp(const KernelCall& call) {
  return ApplyUpdate<CenteredRMSProp, 4>(call, kCenteredRMSProp);
}

constexpr UpdateSignature kSparseCenteredRMSProp = {
    4, {"var", "mg", "ms", "mom"}, "grad", {"lr", "rho", "momentum", "epsilon", "grad", "indices"}};
Status ApplySparseCenteredRMSProp(const KernelCall& call) {
  return ApplyUpdate<CenteredRMSProp, 4>(call, kSparseCenteredRMSProp);
}

}  // namespace

STILLFLOW_KERNELS(training, apply_rms_prop){
    {"apply_rms_prop", "var, ms, mom, lr, rho, momentum, epsilon, grad", ApplyRMSProp},
    {"sparse_apply_rms_prop", "var, ms, mom, lr, rho, momentum, epsilon, grad, indices", ApplySparseRMSProp},
    {"apply_centered_rms_prop", "var, mg, ms, mom, lr, rho, momentum, epsilon, grad", ApplyCenteredRMSProp},
    {"sparse_apply_centered_rms_prop", "var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices",
     ApplySparseCenteredRMSProp},
    {}};

}  // namespace stillflow
