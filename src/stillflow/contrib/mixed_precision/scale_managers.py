"""Loss scales: a fixed one, and one that grows as long as gradients are finite."""

from __future__ import annotations

import abc
from typing import Any

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.variable import Variable


@public("contrib.mixed_precision.LossScaleManager")
class LossScaleManager(abc.ABC):
    """What a loss is multiplied by, so that its gradients in float16 do not vanish."""

    @abc.abstractmethod
    def get_loss_scale(self):
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads):
        """An operation that changes the scale after a step whose gradients were finite, as a bool scalar says."""


@public("contrib.mixed_precision.FixedLossScaleManager")
class FixedLossScaleManager(LossScaleManager):
    """A scale that stays as it is. Raises ValueError for less than 1."""

    def __init__(self, loss_scale):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        return ops.no_op()


@public("contrib.mixed_precision.ExponentialUpdateLossScaleManager")
class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after some good steps in a row, and shrinks after some bad ones, to no less than 1.

    Args:
      init_loss_scale: the scale to begin with.
      incr_every_n_steps: after how many steps with finite gradients it is multiplied by `incr_ratio`.
      decr_every_n_nan_or_inf: after how many with others it is multiplied by `decr_ratio`.
      incr_ratio, decr_ratio: numbers above and below 1.
    """

    def __init__(self, init_loss_scale, incr_every_n_steps, decr_every_n_nan_or_inf=2, incr_ratio=2, decr_ratio=0.8):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale: Any = Variable(
            convert_to_tensor(init_loss_scale, dtypes.float32),
            name="loss_scale",
            dtype=dtypes.float32,
            trainable=False,
        )
        self._num_good_steps: Any = Variable(0, name="good_steps", dtype=dtypes.int32, trainable=False)
        self._num_bad_steps: Any = Variable(0, name="bad_steps", dtype=dtypes.int32, trainable=False)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        return cond(finite_grads, self._after_a_good_step, self._after_a_bad_step)

    def _after_a_good_step(self):
        def grow():
            grown = cond(
                ops.is_finite(self._loss_scale * self._incr_ratio),
                lambda: self._loss_scale * self._incr_ratio,
                lambda: self._loss_scale,
            )
            update = ops.assign(self._loss_scale, grown)
            return group(update, self._reset_counts())

        return cond(
            self._num_good_steps + 1 >= self._incr_every_n_steps,
            grow,
            lambda: ops.assign_add(self._num_good_steps, 1).op,
        )

    def _after_a_bad_step(self):
        def shrink():
            shrunk = ops.maximum(1.0, self._loss_scale * self._decr_ratio)
            update = ops.assign(self._loss_scale, shrunk)
            return group(update, self._reset_counts())

        def count():
            return group(ops.assign_add(self._num_bad_steps, 1), ops.assign(self._num_good_steps, 0))

        return cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, count)

    def _reset_counts(self):
        return group(ops.assign(self._num_good_steps, 0), ops.assign(self._num_bad_steps, 0))
