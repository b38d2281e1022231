"""GradientDescentOptimizer: variable -= learning_rate * gradient."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.GradientDescentOptimizer")
class GradientDescentOptimizer(Optimizer):
    """Plain gradient descent: variable -= learning_rate * gradient.

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor = None

    def _prepare(self):
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")

    def _update_dense(self, grad, var):
        rate = ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return ops.apply_gradient_descent(var, rate, grad, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        return ops.resource_scatter_add(handle.handle, indices, -grad * self._learning_rate)

    def _apply_sparse_duplicate_indices(self, grad, var):
        rate = ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)
