"""DropStaleGradientOptimizer: gradients that were computed too many steps ago are left out."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.training.global_step import get_global_step
from stillflow.training.optimizer import Optimizer
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros


@public("contrib.opt.DropStaleGradientOptimizer")
class DropStaleGradientOptimizer(Optimizer):
    """Applies gradients by another optimizer if few enough steps were taken since their computation began.

    Args:
      opt: the optimizer.
      staleness: how many steps other workers may have taken meanwhile.
      use_locking: accepted.
      name: the name of the optimizer.
    """

    def __init__(self, opt, staleness, use_locking=False, name="DropStaleGradient"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss, *args, **kwargs):
        """What the optimizer computes, after a look at the global step."""
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(ops.identity(loss), *args, **kwargs)

    def get_slot(self, *args, **kwargs):
        """The optimizer's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The names of the optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies gradients, or counts one more that was left out: its value is their number."""
        grads_and_vars = list(grads_and_vars)
        with colocate_with(global_step):
            dropped = get_variable("stale_counter", [], initializer=Zeros(), trainable=False)

        def accept():
            with control_dependencies(
                [self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)]
            ):
                return ops.identity(0.0)

        computed = [grad if isinstance(grad, Tensor) else grad.op for grad, _ in grads_and_vars if grad is not None]
        with control_dependencies(computed), colocate_with(global_step):
            staleness = ops.reshape(global_step - self._local_step, shape=())
        is_fresh = ops.less_equal(staleness, self._staleness)
        update = dropped.assign_add(cond(is_fresh, accept, lambda: ops.identity(1.0)))
        summaries.scalar("Gradient staleness percentage", dropped / ops.cast(global_step + 1, dtypes.float32))
        return update
