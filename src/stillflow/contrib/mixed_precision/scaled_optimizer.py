"""LossScaleOptimizer: an optimizer whose loss is scaled, and which leaves out steps with infinite gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.optimizer import Optimizer


@public("contrib.mixed_precision.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """Another optimizer, with a loss that a LossScaleManager's scale makes larger.

    Args:
      opt: the optimizer that applies the gradients, divided by the scale again.
      loss_scale_manager: a LossScaleManager.
    """

    def __init__(self, opt, loss_scale_manager):
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        """(gradient, variable) pairs; see Optimizer. They are those of the loss, which is scaled only in between."""
        scale = self._loss_scale_manager.get_loss_scale()
        loss = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            loss * ops.cast(scale, loss.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        inverse = ops.reciprocal(scale)
        return [
            (gradient if gradient is None else gradient * ops.cast(inverse, gradient.dtype.base_dtype), variable)
            for gradient, variable in pairs
        ]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies the gradients if all of them are finite, and changes the scale."""
        are_finite = [ops.reduce_all(ops.is_finite(gradient)) for gradient, _ in grads_and_vars]
        is_good = ops.reduce_all(are_finite)
        step = cond(is_good, lambda: self._opt.apply_gradients(grads_and_vars, global_step, name), ops.no_op)
        return group(step, self._loss_scale_manager.update_loss_scale(is_good))
