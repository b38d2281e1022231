// apply_momentum, apply_keras_momentum: gradients are summed up, and old ones fade.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct Momentum {
  W lr, momentum;
  bool uses_nesterov;
  Momentum(const W* scalars, const Attr* attrs)
      : lr(scalars[0]), momentum(scalars[1]), uses_nesterov(attrs[0].i != 0) {}
  void operator()(W grad, W& var, W& accum) const {
    accum = accum * momentum + grad;
    var -= uses_nesterov ? grad * lr + accum * momentum * lr : accum * lr;
  }
};

// Here `accum` is the step, with the learning rates of former steps in it.
template <typename W>
struct KerasMomentum {
  W lr, momentum;
  bool uses_nesterov;
  KerasMomentum(const W* scalars, const Attr* attrs)
      : lr(scalars[0]), momentum(scalars[1]), uses_nesterov(attrs[0].i != 0) {}
  void operator()(W grad, W& var, W& accum) const {
    accum = accum * momentum - grad * lr;
    var += uses_nesterov ? accum * momentum - grad * lr : accum;
  }
};

constexpr UpdateSignature kMomentum = {2, {"var", "accum"}, "grad", {"lr", "grad", "momentum"}};
Status ApplyMomentum(const KernelCall& call) { return ApplyUpdate<Momentum, 2>(call, kMomentum); }

constexpr UpdateSignature kSparseMomentum = {2, {"var", "accum"}, "grad", {"lr", "grad", "indices", "momentum"}};
Status ApplySparseMomentum(const KernelCall& call) { return ApplyUpdate<Momentum, 2>(call, kSparseMomentum); }

Status ApplyKerasMomentum(const KernelCall& call) { return ApplyUpdate<KerasMomentum, 2>(call, kMomentum); }
Status ApplySparseKerasMomentum(const KernelCall& call) {
  return ApplyUpdate<KerasMomentum, 2>(call, kSparseMomentum);
}

}  // namespace

STILLFLOW_KERNELS(training, apply_momentum){
    {"apply_momentum", "var, accum, lr, grad, momentum | use_nesterov", ApplyMomentum},
    {"sparse_apply_momentum", "var, accum, lr, grad, indices, momentum | use_nesterov", ApplySparseMomentum},
    {"apply_keras_momentum", "var, accum, lr, grad, momentum | use_nesterov", ApplyKerasMomentum},
    {"sparse_apply_keras_momentum", "var, accum, lr, grad, indices, momentum | use_nesterov",
     ApplySparseKerasMomentum},
    {}};

}  // namespace stillflow
