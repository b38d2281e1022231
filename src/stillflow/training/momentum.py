"""MomentumOptimizer: gradient descent with a decaying sum of past gradients, Nesterov's variant included."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.MomentumOptimizer")
class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + gradient; variable -= learning_rate * accumulation.

    A sparse gradient changes only the rows that it has, of the variable and of the accumulation.

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      momentum: likewise.
      use_locking: accepted for compatibility; updates are always atomic.
      use_nesterov: whether to look ahead: variable -= learning_rate * (gradient + momentum * accumulation).
    """

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = self._hyperparameter(self._momentum, "momentum")

    def _update_dense(self, grad, var):
        dtype = var.dtype.base_dtype
        return ops.apply_momentum(
            var,
            self.get_slot(var, "momentum"),
            ops.cast(self._learning_rate_tensor, dtype),
            grad,
            ops.cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )

    def _update_sparse(self, grad, var):
        dtype = var.dtype.base_dtype
        return ops.sparse_apply_momentum(
            var,
            self.get_slot(var, "momentum"),
            ops.cast(self._learning_rate_tensor, dtype),
            grad.values,
            grad.indices,
            ops.cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
