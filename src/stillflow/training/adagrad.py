"""AdagradOptimizer: each element's step shrinks with the sum of its squared gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.training.optimizer import Optimizer
from stillflow.variables.initializers import Constant


@public("train.AdagradOptimizer")
class AdagradOptimizer(Optimizer):
    """accumulator += gradient ** 2; variable -= learning_rate * gradient / sqrt(accumulator).

    See Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization",
    JMLR 12, 2011.

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      initial_accumulator_value: where the accumulators begin; positive.
      use_locking: accepted for compatibility; updates are always atomic.

    Raises:
      ValueError: if the accumulators are not to begin positive.
    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor = None

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            self._get_or_make_slot_with_initializer(
                v, self._initializer(v, dtype), v.shape, dtype, "accumulator", self._name
            )

    def _initializer(self, v, dtype):
        if v.shape.is_fully_defined():
            return Constant(self._initial_accumulator_value, dtype=dtype)
        return lambda: ops.cast(ops.fill_op(ops.shape(v), self._initial_accumulator_value), dtype)

    def _prepare(self):
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")

    def _update_dense(self, grad, var):
        return ops.apply_adagrad(
            var,
            self.get_slot(var, "accumulator"),
            ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
            grad,
            use_locking=self._use_locking,
        )

    def _update_sparse(self, grad, var):
        return ops.sparse_apply_adagrad(
            var,
            self.get_slot(var, "accumulator"),
            ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
            grad.values,
            grad.indices,
            use_locking=self._use_locking,
        )
