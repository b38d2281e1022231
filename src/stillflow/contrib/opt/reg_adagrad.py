"""RegAdagradOptimizer: Adagrad whose sums can be left alone, for gradients of regularization."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.names import public
from stillflow.training.adagrad import AdagradOptimizer


@public("contrib.opt.RegAdagradOptimizer")
class RegAdagradOptimizer(AdagradOptimizer):
    """tf.train.AdagradOptimizer with a context in which steps do not add to the sums of squared gradients.

    Args:
      learning_rate: a number or tensor.
      initial_accumulator_value: what the sums begin with, a positive number.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="RegAdagrad"):
        super().__init__(
            learning_rate, initial_accumulator_value=initial_accumulator_value, use_locking=use_locking, name=name
        )
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self):
        """A context in which steps that are built leave the sums alone."""
        before = self._should_update_slots
        self._should_update_slots = False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _update_dense(self, grad, var):
        return ops.apply_adagrad(
            var,
            self.get_slot(var, "accumulator"),
            ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
            grad,
            use_locking=self._use_locking,
            update_slots=self._should_update_slots,
        )

    def _update_sparse(self, grad, var):
        return ops.sparse_apply_adagrad(
            var,
            self.get_slot(var, "accumulator"),
            ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
            grad.values,
            grad.indices,
            use_locking=self._use_locking,
            update_slots=self._should_update_slots,
        )
