"""Adam that takes the powers of its betas from the global step, and has no variables of its own for them."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.opt.lazy_adam import apply_to_rows
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.training.adam import AdamOptimizer
from stillflow.training.optimizer import Optimizer


@public("contrib.opt.AdamGSOptimizer")
class AdamGSOptimizer(AdamOptimizer):
    """tf.train.AdamOptimizer whose number of steps is `global_step` plus one.

    Several workers need not keep the powers of beta in step with each other. The powers are those of the global step
    when a step begins, so `minimize` must count it.

    Args:
      global_step: the variable that `minimize` counts up.
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that return one.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(
        self, global_step=0, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _get_beta_accumulators(self):
        return ops.pow(self._beta1_t, self._steps), ops.pow(self._beta2_t, self._steps)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        super()._prepare()
        self._steps = ops.cast(ops.identity(self._global_step) + 1, dtypes.float32)

    def _finish(self, update_ops, name_scope):
        return Optimizer._finish(self, update_ops, name_scope)


@public("contrib.opt.LazyAdamGSOptimizer")
class LazyAdamGSOptimizer(AdamGSOptimizer):
    """AdamGSOptimizer whose sparse updates change only the rows they have, as LazyAdamOptimizer's do."""

    def _update_sparse(self, grad, var):
        return apply_to_rows(
            grad, var, self.get_slot(var, "m"), self.get_slot(var, "v"), self._scalars(var.dtype.base_dtype),
            self._use_locking,
        )  # fmt: skip
