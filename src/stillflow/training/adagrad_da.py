"""AdagradDAOptimizer: Adagrad with dual averaging, for sparse linear models."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.AdagradDAOptimizer")
class AdagradDAOptimizer(Optimizer):
    """Variables follow from the sums of their gradients and of the squares of these:

        variable = -rate * soft(sum, l1 * steps) / (l2 * steps * rate + sqrt(sum of squares))

    where soft(x, bound) is x taken towards 0 by the bound. See Duchi, Hazan and Singer, "Adaptive subgradient
    methods for online learning and stochastic optimization", JMLR 12, 2011.

    Args:
      learning_rate: a number or a tensor.
      global_step: an int64 variable that counts the steps.
      initial_gradient_squared_accumulator_value: where the sums of squares begin; positive.
      l1_regularization_strength, l2_regularization_strength: numbers, 0 or more.
      use_locking: accepted for compatibility; updates are always atomic.

    Raises:
      ValueError: if the sums of squares are not to begin positive.
    """

    def __init__(
        self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA",
    ):  # fmt: skip
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_value = initial_gradient_squared_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            with get_default_graph().colocate_with(v):
                zeros = ops.constant(0.0, shape=v.shape, dtype=dtype)
                squares = ops.constant(self._initial_value, shape=v.shape, dtype=dtype)
            self._get_or_make_slot(v, zeros, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self):
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        with get_default_graph().colocate_with(self._learning_rate_tensor):
            self._steps = ops.identity(self._global_step) + 1

    def _slots_of(self, var):
        return self.get_slot(var, "gradient_accumulator"), self.get_slot(var, "gradient_squared_accumulator")

    def _scalars(self, var):
        """The rate, both strengths, and the number of steps."""
        dtype = var.dtype.base_dtype
        with get_default_graph().device(var.device):
            steps = ops.identity(self._steps)
        return [*(ops.cast(each, dtype) for each in (self._learning_rate_tensor, self._l1, self._l2)), steps]

    def _update_dense(self, grad, var):
        return ops.apply_adagrad_da(
            var, *self._slots_of(var), grad, *self._scalars(var), use_locking=self._use_locking
        )

    def _update_sparse(self, grad, var):
        return ops.sparse_apply_adagrad_da(
            var, *self._slots_of(var), grad.values, grad.indices, *self._scalars(var), use_locking=self._use_locking
        )
