// apply_gradient_descent, apply_proximal_gradient_descent: variables move against their gradient.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <cmath>

#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct GradientDescent {
  W alpha;
  GradientDescent(const W* scalars, const Attr*) : alpha(scalars[0]) {}
  void operator()(W grad, W& var) const { var -= grad * alpha; }
};

// A step of gradient descent, then the point nearest to its end that pays for l1 and l2.
template <typename W>
struct Proximal {
  W alpha, l1, l2;
  Proximal(const W* scalars, const Attr*) : alpha(scalars[0]), l1(scalars[1]), l2(scalars[2]) {}
  void operator()(W grad, W& var) const {
    const W moved = var - grad * alpha;
    const W shrunk = std::abs(moved) - alpha * l1;
    const W kept = l1 > 0 ? std::copysign(shrunk > 0 ? shrunk : W{0}, moved) : moved;
    var = kept / (W{1} + l2 * alpha);
  }
};

constexpr UpdateSignature kGradientDescent = {1, {"var"}, "delta", {"alpha", "delta"}};
Status ApplyGradientDescent(const KernelCall& call) {
  return ApplyUpdate<GradientDescent, 1>(call, kGradientDescent);
}

constexpr UpdateSignature kProximal = {1, {"var"}, "delta", {"alpha", "l1", "l2", "delta"}};
Status ApplyProximal(const KernelCall& call) { return ApplyUpdate<Proximal, 1>(call, kProximal); }

constexpr UpdateSignature kSparseProximal = {1, {"var"}, "grad", {"alpha", "l1", "l2", "grad", "indices"}};
Status ApplySparseProximal(const KernelCall& call) { return ApplyUpdate<Proximal, 1>(call, kSparseProximal); }

}  // namespace

STILLFLOW_KERNELS(training, apply_gradient_descent){
    {"apply_gradient_descent", "var, alpha, delta", ApplyGradientDescent},
    {"apply_proximal_gradient_descent", "var, alpha, l1, l2, delta", ApplyProximal},
    {"sparse_apply_proximal_gradient_descent", "var, alpha, l1, l2, grad, indices", ApplySparseProximal},
    {}};

}  // namespace stillflow
