"""RMSPropOptimizer: steps scaled by a running mean of squared gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.training.optimizer import Optimizer
from stillflow.variables.initializers import Ones


@public("train.RMSPropOptimizer")
class RMSPropOptimizer(Optimizer):
    """The algorithm of Tieleman and Hinton's lecture 6.5, "RMSProp", 2012:

        rms = decay * rms + (1 - decay) * gradient ** 2
        mom = momentum * mom + learning_rate * gradient / sqrt(rms + epsilon)
        variable -= mom

    A sparse gradient changes only the rows that it has.

    Args:
      learning_rate, decay, momentum, epsilon: numbers, tensors, or functions that return one.
      use_locking: accepted for compatibility; updates are always atomic.
      centered: whether to subtract the square of the running mean gradient from `rms`, which makes it a variance.
    """

    def __init__(
        self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
        name="RMSProp",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            ones = Ones(dtype=dtype) if v.shape.is_fully_defined() else ops.ones_like(v)
            self._get_or_make_slot_with_initializer(v, ones, v.shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._tensors = [
            self._hyperparameter(self._learning_rate, "learning_rate"),
            self._hyperparameter(self._decay, "decay"),
            self._hyperparameter(self._momentum, "momentum"),
            self._hyperparameter(self._epsilon, "epsilon"),
        ]

    def _arguments(self, var):
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        scalars = [ops.cast(tensor, var.dtype.base_dtype) for tensor in self._tensors]
        return [var, *(self.get_slot(var, name) for name in names), *scalars]

    def _update_dense(self, grad, var):
        apply = ops.apply_centered_rms_prop if self._centered else ops.apply_rms_prop
        return apply(*self._arguments(var), grad, use_locking=self._use_locking)

    def _update_sparse(self, grad, var):
        apply = ops.sparse_apply_centered_rms_prop if self._centered else ops.sparse_apply_rms_prop
        return apply(*self._arguments(var), grad.values, grad.indices, use_locking=self._use_locking)
