"""ProximalAdagradOptimizer: Adagrad followed by the proximal step of L1 and L2 penalties."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(Optimizer):
    """accumulator += gradient ** 2, then ProximalGradientDescentOptimizer's step, at the rate
    learning_rate / sqrt(accumulator).

    Args:
      learning_rate: a number or a tensor.
      initial_accumulator_value: where the accumulators begin; positive.
      l1_regularization_strength, l2_regularization_strength: numbers or tensors, 0 or more.
      use_locking: accepted for compatibility; updates are always atomic.

    Raises:
      ValueError: if the accumulators are not to begin positive.
    """

    def __init__(
        self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
        l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad",
    ):  # fmt: skip
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _create_slots(self, var_list):
        for v in var_list:
            with get_default_graph().colocate_with(v):
                value = ops.constant(self._initial_accumulator_value, shape=v.shape, dtype=v.dtype.base_dtype)
            self._get_or_make_slot(v, value, "accumulator", self._name)

    def _prepare(self):
        self._scalars = [
            self._hyperparameter(self._learning_rate, "learning_rate"),
            self._hyperparameter(self._l1, "l1_regularization_strength"),
            self._hyperparameter(self._l2, "l2_regularization_strength"),
        ]

    def _scalars_for(self, var):
        return [ops.cast(scalar, var.dtype.base_dtype) for scalar in self._scalars]

    def _update_dense(self, grad, var):
        return ops.apply_proximal_adagrad(
            var, self.get_slot(var, "accumulator"), *self._scalars_for(var), grad, use_locking=self._use_locking
        )

    def _update_sparse(self, grad, var):
        return ops.sparse_apply_proximal_adagrad(
            var,
            self.get_slot(var, "accumulator"),
            *self._scalars_for(var),
            grad.values,
            grad.indices,
            use_locking=self._use_locking,
        )
