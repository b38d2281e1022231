// apply_ftrl, apply_ftrl_v2: follow the regularized leader, which sets elements that matter little to 0.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <cmath>

#include "arithmetic/math/power.h"
#include "kernels/training/update.h"

namespace stillflow {
namespace {

// accum ^ -lr_power, for which there is mostly a root.
template <typename W>
W RatePower(W accum, W lr_power) {
  return lr_power == W{-0.5} ? std::sqrt(accum) : Pow(accum, -lr_power);
}

template <typename W>
void UpdateFtrl(W grad, W shrunk_grad, W lr, W l1, W l2, W lr_power, W& var, W& accum, W& linear) {
  const W new_accum = accum + grad * grad;
  const W new_power = RatePower(new_accum, lr_power);
  linear += shrunk_grad - (new_power - RatePower(accum, lr_power)) / lr * var;
  const W moved = std::copysign(l1, linear) - linear;
  const W scale = new_power / lr + W{2} * l2;
  var = std::abs(linear) > l1 ? moved / scale : W{0};
  accum = new_accum;
}

template <typename W>
struct Ftrl {
  W lr, l1, l2, lr_power;
  Ftrl(const W* scalars, const Attr*) : lr(scalars[0]), l1(scalars[1]), l2(scalars[2]), lr_power(scalars[3]) {}
  void operator()(W grad, W& var, W& accum, W& linear) const {
    UpdateFtrl(grad, grad, lr, l1, l2, lr_power, var, accum, linear);
  }
};

// The gradient of a further penalty of the squared variable is added, but not to the accumulated squares.
template <typename W>
struct FtrlV2 {
  W lr, l1, l2, l2_shrinkage, lr_power;
  FtrlV2(const W* scalars, const Attr*)
      : lr(scalars[0]), l1(scalars[1]), l2(scalars[2]), l2_shrinkage(scalars[3]), lr_power(scalars[4]) {}
  void operator()(W grad, W& var, W& accum, W& linear) const {
    UpdateFtrl(grad, grad + W{2} * l2_shrinkage * var, lr, l1, l2, lr_power, var, accum, linear);
  }
};

constexpr UpdateSignature kFtrl = {3, {"var", "accum", "linear"}, "grad", {"grad", "lr", "l1", "l2", "lr_power"}};
Status ApplyFtrl(const KernelCall& call) { return ApplyUpdate<Ftrl, 3>(call, kFtrl); }

constexpr UpdateSignature kSparseFtrl = {
    3, {"var", "accum", "linear"}, "grad", {"grad", "indices", "lr", "l1", "l2", "lr_power"}};
Status ApplySparseFtrl(const KernelCall& call) { return ApplyUpdate<Ftrl, 3>(call, kSparseFtrl); }

constexpr UpdateSignature kFtrlV2 = {
    3, {"var", "accum", "linear"}, "grad", {"grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"}};
Status ApplyFtrlV2(const KernelCall& call) { return ApplyUpdate<FtrlV2, 3>(call, kFtrlV2); }

constexpr UpdateSignature kSparseFtrlV2 = {
    3, {"var", "accum", "linear"}, "grad", {"grad", "indices", "lr", "l1", "l2", "l2_shrinkage", "lr_power"}};
Status ApplySparseFtrlV2(const KernelCall& call) { return ApplyUpdate<FtrlV2, 3>(call, kSparseFtrlV2); }

}  // namespace

STILLFLOW_KERNELS(training, apply_ftrl){
    {"apply_ftrl", "var, accum, linear, grad, lr, l1, l2, lr_power", ApplyFtrl},
    {"sparse_apply_ftrl", "var, accum, linear, grad, indices, lr, l1, l2, lr_power", ApplySparseFtrl},
    {"apply_ftrl_v2", "var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power", ApplyFtrlV2},
    {"sparse_apply_ftrl_v2", "var, accum, linear, grad, indices, lr, l1, l2, l2_shrinkage, lr_power",
     ApplySparseFtrlV2},
    {}};

}  // namespace stillflow
