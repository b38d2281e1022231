// apply_adagrad, apply_adagrad_v2, apply_proximal_adagrad, apply_adagrad_da: the step of each element shrinks with
// the sum of the squares of its gradients.
//
// Inputs and attributes stand in the list at the end; training/update.h says how kernels of this kind work.
#include <cmath>

#include "kernels/training/update.h"

namespace stillflow {
namespace {

template <typename W>
struct Adagrad {
  W lr;
  bool updates_slots;
  Adagrad(const W* scalars, const Attr* attrs) : lr(scalars[0]), updates_slots(attrs[0].i != 0) {}
  void operator()(W grad, W& var, W& accum) const {
    accum = updates_slots ? accum + grad * grad : accum;
    var -= grad * lr / std::sqrt(accum);
  }
};

template <typename W>
struct AdagradV2 {
  W lr, epsilon;
  bool updates_slots;
  AdagradV2(const W* scalars, const Attr* attrs)
      : lr(scalars[0]), epsilon(scalars[1]), updates_slots(attrs[0].i != 0) {}
  void operator()(W grad, W& var, W& accum) const {
    accum = updates_slots ? accum + grad * grad : accum;
    var -= grad * lr / (std::sqrt(accum) + epsilon);
  }
};

// A step of Adagrad, then the point nearest to its end that pays for l1 and l2.
template <typename W>
struct ProximalAdagrad {
  W lr, l1, l2;
  ProximalAdagrad(const W* scalars, const Attr*) : lr(scalars[0]), l1(scalars[1]), l2(scalars[2]) {}
  void operator()(W grad, W& var, W& accum) const {
    accum += grad * grad;
    const W rate = lr / std::sqrt(accum);
    const W moved = var - grad * rate;
    const W shrunk = std::abs(moved) - rate * l1;
    const W kept = l1 > 0 ? std::copysign(shrunk > 0 ? shrunk : W{0}, moved) : moved;
    var = kept / (W{1} + l2 * rate);
  }
};

// Dual averaging: the variable follows from the sums of gradients and squares alone.
template <typename W>
struct AdagradDA {
  W lr, l1, l2, steps;
  AdagradDA(const W* scalars, const Attr*) : lr(scalars[0]), l1(scalars[1]), l2(scalars[2]), steps(scalars[3]) {}
  void operator()(W grad, W& var, W& sum, W& square_sum) const {
    sum += grad;
    square_sum += grad * grad;
    const W shrunk = std::abs(sum) - l1 * steps;
    const W kept = l1 > 0 ? std::copysign(shrunk > 0 ? shrunk : W{0}, sum) : sum;
    var = -kept * lr / (l2 * steps * lr + std::sqrt(square_sum));
  }
};

constexpr UpdateSignature kAdagrad = {2, {"var", "accum"}, "grad", {"lr", "grad"}};
Status ApplyAdagrad(const KernelCall& call) { return ApplyUpdate<Adagrad, 2>(call, kAdagrad); }

constexpr UpdateSignature kSparseAdagrad = {2, {"var", "accum"}, "grad", {"lr", "grad", "indices"}};
Status ApplySparseAdagrad(const KernelCall& call) { return ApplyUpdate<Adagrad, 2>(call, kSparseAdagrad); }

constexpr UpdateSignature kAdagradV2 = {2, {"var", "accum"}, "grad", {"lr", "epsilon", "grad"}};
Status ApplyAdagradV2(const KernelCall& call) { return ApplyUpdate<AdagradV2, 2>(call, kAdagradV2); }

constexpr UpdateSignature kSparseAdagradV2 = {2, {"var", "accum"}, "grad", {"lr", "epsilon", "grad", "indices"}};
Status ApplySparseAdagradV2(const KernelCall& call) { return ApplyUpdate<AdagradV2, 2>(call, kSparseAdagradV2); }

constexpr UpdateSignature kProximalAdagrad = {2, {"var", "accum"}, "grad", {"lr", "l1", "l2", "grad"}};
Status ApplyProximalAdagrad(const KernelCall& call) {
  return ApplyUpdate<ProximalAdagrad, 2>(call, kProximalAdagrad);
}

constexpr UpdateSignature kSparseProximalAdagrad = {
    2, {"var", "accum"}, "grad", {"lr", "l1", "l2", "grad", "indices"}};
Status ApplySparseProximalAdagrad(const KernelCall& call) {
  return ApplyUpdate<ProximalAdagrad, 2>(call, kSparseProximalAdagrad);
}

constexpr UpdateSignature kAdagradDA = {3,
                                        {"var", "gradient_accumulator", "gradient_squared_accumulator"},
                                        "grad",
                                        {"grad", "lr", "l1", "l2", "global_step"}};
Status ApplyAdagradDA(const KernelCall& call) { return ApplyUpdate<AdagradDA, 3>(call, kAdagradDA); }

constexpr UpdateSignature kSparseAdagradDA = {3,
                                              {"var", "gradient_accumulator", "gradient_squared_accumulator"},
                                              "grad",
                                              {"grad", "indices", "lr", "l1", "l2", "global_step"}};
Status ApplySparseAdagradDA(const KernelCall& call) { return ApplyUpdate<AdagradDA, 3>(call, kSparseAdagradDA); }

}  // namespace

STILLFLOW_KERNELS(training, apply_adagrad){
    {"apply_adagrad", "var, accum, lr, grad | update_slots", ApplyAdagrad},
    {"sparse_apply_adagrad", "var, accum, lr, grad, indices | update_slots", ApplySparseAdagrad},
    {"apply_adagrad_v2", "var, accum, lr, epsilon, grad | update_slots", ApplyAdagradV2},
    {"sparse_apply_adagrad_v2", "var, accum, lr, epsilon, grad, indices | update_slots", ApplySparseAdagradV2},
    {"apply_proximal_adagrad", "var, accum, lr, l1, l2, grad", ApplyProximalAdagrad},
    {"sparse_apply_proximal_adagrad", "var, accum, lr, l1, l2, grad, indices", ApplySparseProximalAdagrad},
    {"apply_adagrad_da", "var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step",
     ApplyAdagradDA},
    {"sparse_apply_adagrad_da",
     "var, gradient_accumulator, gradient_squared_accumulator, grad, indices, lr, l1, l2, global_step",
     ApplySparseAdagradDA},
    {}};

}  // namespace stillflow
