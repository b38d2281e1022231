"""LossScaleOptimizer: an optimizer whose loss is scaled, so that gradients in float16 do not vanish."""

from __future__ import annotations

from stillflow import ops
from stillflow.distribute.context import in_cross_replica_context
from stillflow.graph import dtypes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.keras.backend.values import track_variable
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.names import public
from stillflow.ops.control_flow.cond import smart_cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.platform import logging
from stillflow.training.loss_scale import as_loss_scale


@public("keras.mixed_precision.experimental.LossScaleOptimizer")
class LossScaleOptimizer(OptimizerV2):
    """Another optimizer, whose loss is multiplied, and its gradients divided, by a scale.

    `minimize` and `get_gradients` do both. Who computes gradients with a tf.GradientTape calls `get_scaled_loss`
    before and `get_unscaled_gradients` after it. A dynamic scale changes when gradients are applied, and gradients
    that are not finite are not applied.

    Args:
      opt: the optimizer of tf.keras that does the work.
      loss_scale: a tf.train.experimental.LossScale, a number, or "dynamic".

    Raises:
      ValueError: for another optimizer, and one that clips gradients.
    """

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, OptimizerV2):
            raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
        for what in ("clipnorm", "clipvalue"):
            if hasattr(opt, what):
                raise ValueError(
                    f"LossScaleOptimizer does not support wrapping optimizers with a {what}. Optimizer {opt} has "
                    f"{what} {getattr(opt, what)}"
                )
        self._hyper = {}
        self._optimizer = opt
        self._loss_scale = as_loss_scale(loss_scale)
        for variable in self._loss_scale._variables():
            track_variable(variable)
        self._track_trackable(opt, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    @property
    def loss_scale(self):
        """The tf.train.experimental.LossScale."""
        return self._loss_scale

    def get_scaled_loss(self, loss):
        """A loss, or a function that returns one, multiplied by the scale."""
        scale = self._loss_scale()
        if not callable(loss):
            return loss * ops.cast(scale, loss.dtype)

        def scaled_loss():
            value = loss()
            return value * ops.cast(scale, value.dtype)

        return scaled_loss

    def get_unscaled_gradients(self, grads):
        """A list of gradients divided by the scale; None stays None."""
        factor = 1.0 / self._loss_scale()
        return [None if grad is None else _times(grad, ops.cast(factor, grad.dtype)) for grad in grads]

    def _compute_gradients(self, loss, var_list, grad_loss=None):
        pairs = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        grads = self.get_unscaled_gradients([grad for grad, _ in pairs])
        return list(zip(grads, [variable for _, variable in pairs], strict=True))

    def get_gradients(self, loss, params):
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def apply_gradients(self, grads_and_vars, name=None):
        """Changes variables by gradients if these are finite, and the scale; see OptimizerV2.apply_gradients.

        Raises ValueError where a program of all replicas of a strategy is being built.
        """
        if in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        pairs = tuple(grads_and_vars)
        update, is_good = self._loss_scale.update([grad for grad, _ in pairs])

        def apply():
            ops.constant(0, dtypes.int32)  # TensorFlow's graphs have the number of the replica here
            return self._optimizer.apply_gradients(pairs, name)

        return group(smart_cond(is_good, apply, ops.no_op), update)

    @property
    def iterations(self):
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable):
        self._optimizer.iterations = variable

    @property
    def learning_rate(self):
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._optimizer.learning_rate = value

    @property
    def lr(self):
        return self._optimizer.lr

    @lr.setter
    def lr(self, value):
        self._optimizer.lr = value

    def get_slot_names(self):
        """The names of the other optimizer's slots."""
        return self._optimizer.get_slot_names()

    def get_config(self):
        raise NotImplementedError("get_config() is not yet implemented for LossScaleOptimizers")

    @classmethod
    def from_config(cls, config, custom_objects=None):
        raise NotImplementedError("from_config() is not yet implemented for LossScaleOptimizers")


def _times(grad, factor):
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * factor


def scaled_by_policy(optimizer, policy):
    """The optimizer of a model that has a policy: one with a scaled loss, if the policy has a scale.

    Raises ValueError for a list of optimizers, and for one that is not of tf.keras, where there is a scale.
    """
    scale = policy.loss_scale
    if scale is None:
        return optimizer
    if isinstance(optimizer, LossScaleOptimizer):
        if optimizer.loss_scale != scale:
            logging.warning(
                f"LossScale of LossScaleOptimizer passed to compile ({optimizer.loss_scale}) is not the same as the "
                f"dtype policy's loss scale ({scale}). Because the dtype policy has a loss scale, you should pass an "
                "optimizer that is not wrapped with a LossScaleOptimizer,"
            )
        return optimizer
    if isinstance(optimizer, list):
        raise ValueError(
            "When a dtype policy with a loss scale is used, you can only pass a single optimizer. Using policy "
            f"{policy} and got optimizers: {optimizer}"
        )
    if not isinstance(optimizer, OptimizerV2):
        raise ValueError(
            '"optimizer" must be an instance of tf.keras.optimizers.Optimizer when a dype policy with a loss scale  '
            f"used, but got: {optimizer}. Using policy: {policy}"
        )
    return LossScaleOptimizer(optimizer, scale)
