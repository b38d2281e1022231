"""MultitaskOptimizerWrapper: leaves alone what a batch says nothing about."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.clip import clip_by_global_norm, global_norm
from stillflow.composites.statistics import count_nonzero
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.training.optimizer import Optimizer


@public("contrib.opt.MultitaskOptimizerWrapper")
class MultitaskOptimizerWrapper:
    """An optimizer that does not update variables, nor their slots, whose gradient is zero throughout.

    For models of several tasks of which each batch has one: the variables of the other tasks would drift, as their
    momentum goes on. The optimizer given is changed, and what is returned has all of its methods.

    Args:
      opt: the optimizer.

    Raises TypeError if that is none.
    """

    def __init__(self, opt):
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, _unless_zero(getattr(opt, name)))

    def __getattr__(self, name):
        return getattr(self._opt, name)


def _unless_zero(apply):
    def apply_unless_zero(grad, *args, **kwargs):
        def update():
            with get_default_graph().control_dependencies([apply(grad, *args, **kwargs)]):
                return ops.no_op()

        return cond(_is_zero(grad), ops.no_op, update)

    return apply_unless_zero


def _is_zero(grad):
    return ops.equal(count_nonzero(grad), 0)


@public("contrib.opt.clip_gradients_by_global_norm")
def clip_gradients_by_global_norm(gradients_variables, clip_norm=20.0):
    """Clips gradients by their global norm, to which gradients that are zero throughout do not count.

    Args:
      gradients_variables: pairs as `Optimizer.compute_gradients` returns them.
      clip_norm: the largest norm.

    Returns:
      A list of pairs (clipped gradient, variable), and the norm.
    """
    gradients, variables = zip(*gradients_variables, strict=True)

    def scalar_if_zero(grad):
        if grad is None:
            return None
        return cond(_is_zero(grad), lambda: ops.zeros([], dtype=grad.dtype), lambda: grad)

    norm = global_norm([scalar_if_zero(grad) for grad in gradients])
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables, strict=True)), norm
