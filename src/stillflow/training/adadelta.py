"""AdadeltaOptimizer: steps scaled by the ratio of the running RMS of past steps to that of gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.AdadeltaOptimizer")
class AdadeltaOptimizer(Optimizer):
    """The algorithm of Zeiler, "ADADELTA: an adaptive learning rate method", 2012:

        accum = rho * accum + (1 - rho) * gradient ** 2
        step = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * gradient
        accum_update = rho * accum_update + (1 - rho) * step ** 2
        variable -= learning_rate * step

    A sparse gradient changes only the rows that it has.

    Args:
      learning_rate, rho, epsilon: numbers, tensors, or functions that return one.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self):
        self._lr_t = self._hyperparameter(self._lr, "lr")
        self._rho_t = self._hyperparameter(self._rho, "rho")
        self._epsilon_t = self._hyperparameter(self._epsilon, "epsilon")

    def _arguments(self, var):
        dtype = var.dtype.base_dtype
        scalars = [ops.cast(scalar, dtype) for scalar in (self._lr_t, self._rho_t, self._epsilon_t)]
        return [var, self.get_slot(var, "accum"), self.get_slot(var, "accum_update"), *scalars]

    def _update_dense(self, grad, var):
        return ops.apply_adadelta(*self._arguments(var), grad, use_locking=self._use_locking)

    def _update_sparse(self, grad, var):
        return ops.sparse_apply_adadelta(
            *self._arguments(var), grad.values, grad.indices, use_locking=self._use_locking
        )
