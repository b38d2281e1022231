"""VariableClippingOptimizer: keeps the norms of variables below a bound."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.composites.clip import clip_by_norm
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.platform import logging
from stillflow.training.optimizer import Optimizer


@public("contrib.opt.VariableClippingOptimizer")
class VariableClippingOptimizer(Optimizer):
    """Clips variables by their norms after each step of another optimizer.

    Args:
      opt: the optimizer.
      vars_to_clip_dims: {variable: the dimensions over which its norm is taken}. [1] is a norm for each row.
      max_norm: the largest norm.
      use_locking: accepted for compatibility; updates are always atomic.
      colocate_clip_ops_with_vars: whether norms are computed where the variable is.
    """

    def __init__(
        self, opt, vars_to_clip_dims, max_norm, use_locking=False, colocate_clip_ops_with_vars=False,
        name="VariableClipping",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {v: dims[:] for v, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args, **kwargs):
        """What the optimizer computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        """The optimizer's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The names of the optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies gradients as the optimizer does, then clips what has changed."""
        grads_and_vars = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clips = []
            with get_default_graph().control_dependencies([update]):
                for grad, var in grads_and_vars:
                    if grad is None or var not in self._vars_to_clip_dims:
                        continue
                    with name_scope(f"clip_{var.op.name}"):
                        is_sparse = isinstance(grad, IndexedSlices)
                        clips.append(self._clip_rows(grad, var) if is_sparse else self._clip(var))
            return group(update, *clips, name=scope)

    def _clip(self, var):
        with self._placement_of(var):
            value = var.read_value()
            excess = value - clip_by_norm(value, self._max_norm, self._vars_to_clip_dims[var])
        with get_default_graph().colocate_with(var):
            return var.assign_sub(excess, use_locking=self._use_locking)

    def _clip_rows(self, grad, var):
        dims = self._vars_to_clip_dims[var]
        if 0 in dims:
            logging.warning(
                "Clipping norm across dims %s for %s is inefficient when including sparse dimension 0.",
                dims, var.op.name,
            )  # fmt: skip
            return self._clip(var)
        graph = get_default_graph()
        with graph.colocate_with(var):
            rows = ops.gather(var, grad.indices)
        with self._placement_of(var):
            excess = rows - clip_by_norm(rows, self._max_norm, dims)
        with graph.colocate_with(var):
            return var.scatter_sub(
                IndexedSlices(excess, grad.indices, grad.dense_shape), use_locking=self._use_locking
            )

    def _placement_of(self, var):
        if self._colocate_clip_ops_with_vars:
            return get_default_graph().colocate_with(var)
        return contextlib.nullcontext()
