"""ProximalGradientDescentOptimizer: gradient descent followed by the proximal step of L1 and L2 penalties."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(Optimizer):
    """moved = variable - rate * gradient; variable = soft(moved, rate * l1) / (1 + rate * l2).

    soft(x, bound) is x taken towards 0 by the bound. See Duchi and Singer, "Efficient learning using forward-backward
    splitting", NIPS 2009.

    Args:
      learning_rate: a number or a tensor.
      l1_regularization_strength, l2_regularization_strength: numbers or tensors, 0 or more.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(
        self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False,
        name="ProximalGradientDescent",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _prepare(self):
        self._scalars = [
            self._hyperparameter(self._learning_rate, "learning_rate"),
            self._hyperparameter(self._l1, "l1_regularization_strength"),
            self._hyperparameter(self._l2, "l2_regularization_strength"),
        ]

    def _scalars_for(self, var):
        return [ops.cast(scalar, var.dtype.base_dtype) for scalar in self._scalars]

    def _update_dense(self, grad, var):
        return ops.apply_proximal_gradient_descent(var, *self._scalars_for(var), grad, use_locking=self._use_locking)

    def _update_sparse(self, grad, var):
        return ops.sparse_apply_proximal_gradient_descent(
            var, *self._scalars_for(var), grad.values, grad.indices, use_locking=self._use_locking
        )
