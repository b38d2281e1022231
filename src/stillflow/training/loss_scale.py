"""tf.train.experimental's loss scales: the loss is made larger, so that gradients in float16 do not vanish."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond, smart_cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.tracking.base import Trackable
from stillflow.training.optimizer import Optimizer
from stillflow.variables.variable import Variable


@public("train.experimental.LossScale")
class LossScale(Trackable, abc.ABC):
    """What a loss is multiplied by, and gradients are divided by. A checkpoint keeps its variables."""

    def __init__(self):
        super().__init__()

    @abc.abstractmethod
    def __call__(self):
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads):
        """What to do after a step with such gradients, already divided by the scale; None stands for no gradient.

        Returns:
          An operation that changes the scale, and whether the gradients are to be applied: a bool or a bool tensor.
        """

    @abc.abstractmethod
    def get_config(self):
        """The arguments that make such a scale, as a dict."""

    @classmethod
    def from_config(cls, config):
        """The scale that `get_config` described."""
        return cls(**config)

    def _variables(self):
        """A list of the scale's variables."""
        return [entry.ref for entry in self._checkpoint_dependencies if isinstance(entry.ref, Variable)]

    def _add_weight(self, name, initial_value, dtype=None):
        variable = Variable(initial_value, name=name, dtype=dtype, trainable=False, use_resource=True)
        return self._track_trackable(variable, name=name)


@public("train.experimental.FixedLossScale")
class FixedLossScale(LossScale):
    """A scale that stays as it is. Raises ValueError for anything but a number of at least 1."""

    def __init__(self, loss_scale_value):
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self):
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads):
        return ops.no_op(), True

    def __repr__(self):
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self):
        return {"loss_scale_value": self._loss_scale_value}


@public("train.experimental.DynamicLossScale")
class DynamicLossScale(LossScale):
    """A scale that falls when gradients are infinite or not numbers, and rises when they have not been for a while.

    Args:
      initial_loss_scale: the scale at first.
      increment_period: how many steps with finite gradients in a row make it rise.
      multiplier: by what it rises and falls.
    """

    def __init__(self, initial_loss_scale=2**15, increment_period=2000, multiplier=2.0):
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self):
        return self._initial_loss_scale

    @property
    def increment_period(self):
        return self._increment_period

    @property
    def multiplier(self):
        return self._multiplier

    def __call__(self):
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads):
        is_finite = _is_all_finite(nest.flatten(grads))

        def rise():
            larger = self._current_loss_scale * self._multiplier
            return group(_assign_if_finite(self._current_loss_scale, larger), self._num_good_steps.assign(0))

        def after_finite_gradients():
            return cond(
                self._num_good_steps + 1 >= self._increment_period,
                rise,
                lambda: self._num_good_steps.assign_add(1).op,
            )

        def after_others():
            smaller = ops.maximum(self._current_loss_scale / self._multiplier, 1)
            return group(self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller))

        return cond(is_finite, after_finite_gradients, after_others), is_finite

    def __repr__(self):
        return (
            f"DynamicLossScale(initial_loss_scale={self._initial_loss_scale}, "
            f"increment_period={self._increment_period}, multiplier={self._multiplier})"
        )

    def get_config(self):
        return {
            "initial_loss_scale": self._initial_loss_scale,
            "increment_period": self._increment_period,
            "multiplier": self._multiplier,
        }


def _is_all_finite(grads):
    each = [ops.reduce_all(ops.is_finite(grad)) for grad in grads if grad is not None]
    return ops.reduce_all(each)


def _assign_if_finite(variable, value):
    return cond(ops.is_finite(value), lambda: variable.assign(value).op, ops.no_op)


@public("python.training.experimental.loss_scale.get")
def as_loss_scale(value):
    """A loss scale, of itself, a number for a fixed one, or "dynamic"; None of None. Raises ValueError otherwise."""
    if isinstance(value, (int, float)):
        return FixedLossScale(value)
    if isinstance(value, str) and value == "dynamic":
        return DynamicLossScale()
    if value is None or isinstance(value, LossScale):
        return value
    raise ValueError(f"Could not interpret loss scale identifier: {value}")


@public("train.experimental.MixedPrecisionLossScaleOptimizer")
class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer whose loss is scaled, and its gradients back; with a dynamic scale, bad steps are left out.

    Args:
      opt: the optimizer that does the work.
      loss_scale: a LossScale, a number, or "dynamic".

    Raises ValueError for other things.
    """

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = as_loss_scale(loss_scale)
        self._track_trackable(opt, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(
        self, loss, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, grad_loss=None,
    ):  # fmt: skip
        """The gradients of the loss, as if it had not been scaled; see Optimizer.compute_gradients."""
        scale = self._loss_scale()
        scaled = (lambda: loss() * scale) if callable(loss) else loss * scale
        pairs = self._optimizer.compute_gradients(
            scaled, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        factor = 1 / self._loss_scale()
        return [(_scaled(grad, factor), variable) for grad, variable in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies the gradients; with a dynamic scale, if all are finite, and changes the scale."""
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        grads_and_vars = tuple(grads_and_vars)
        name = self.get_name() if name is None else name
        update, is_good = self._loss_scale.update([grad for grad, _ in grads_and_vars])

        def apply():
            ops.constant(0, dtypes.int32)  # TensorFlow's graphs have the number of the replica here
            return self._optimizer.apply_gradients(grads_and_vars, global_step, f"{name}-wrapped")

        return group(smart_cond(is_good, apply, ops.no_op), update, name=name)


def _scaled(grad, factor):
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return None if grad is None else grad * factor
