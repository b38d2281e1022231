// apply_adadelta: steps scaled by the ratio of the running means of squared steps and squared gradients.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <cmath>

#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct Adadelta {
  W lr, rho, epsilon;
  Adadelta(const W* scalars, const Attr*) : lr(scalars[0]), rho(scalars[1]), epsilon(scalars[2]) {}
  void operator()(W grad, W& var, W& accum, W& accum_update) const {
    accum = accum * rho + grad * grad * (W{1} - rho);
    const W step = std::sqrt(accum_update + epsilon) / std::sqrt(accum + epsilon) * grad;
    var -= step * lr;
    accum_update = accum_update * rho + step * step * (W{1} - rho);
  }
};

constexpr UpdateSignature kAdadelta = {3, {"var", "accum", "accum_update"}, "grad", {"lr", "rho", "epsilon", "grad"}};
Status ApplyAdadelta(const KernelCall& call) { return ApplyUpdate<Adadelta, 3>(call, kAdadelta); }

constexpr UpdateSignature kSparseAdadelta = {
    3, {"var", "accum", "accum_update"}, "grad", {"lr", "rho", "epsilon", "grad", "indices"}};
Status ApplySparseAdadelta(const KernelCall& call) { return ApplyUpdate<Adadelta, 3>(call, kSparseAdadelta); }

}  // namespace

STILLFLOW_KERNELS(training, apply_adadelta){
    {"apply_adadelta", "var, accum, accum_update, lr, rho, epsilon, grad", ApplyAdadelta},
    {"sparse_apply_adadelta", "var, accum, accum_update, lr, rho, epsilon, grad, indices", ApplySparseAdadelta},
    {}};

}  // namespace stillflow
