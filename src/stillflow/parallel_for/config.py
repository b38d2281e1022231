"""PForConfig: reductions over all rounds that the body of a vectorized loop asks for."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import TensorShape
from stillflow.names import public


@public("python.ops.parallel_for.control_flow_ops.PForConfig")
class PForConfig:
    """What `pfor` passes to a body with an argument `pfor_config`."""

    def __init__(self):
        self._length = None
        self._placeholders = {}  # tensor of a round -> placeholder of all
        self._reduced = {}  # the other way round

    def _set_iters(self, iters):
        self._length = iters

    def _has_reductions(self):
        return bool(self._reduced)

    def reduced_for(self, item):
        """The tensor whose values of all rounds a placeholder stands for, or None."""
        return self._reduced.get(item)

    def reduce_concat(self, x):
        """The values of `x` in all rounds: a tensor of one more dimension, the same in each round."""
        if x not in self._placeholders:
            length = self._length if isinstance(self._length, int) else None
            with get_default_graph().control_dependencies([x]):  # so that x is vectorized before
                placeholder = ops.placeholder(x.dtype, TensorShape([length]).concatenate(x.shape))
            self._placeholders[x] = placeholder
            self._reduced[placeholder] = x
        return self._placeholders[x]

    def reduce_mean(self, x):
        """The mean of `x` over all rounds."""
        return ops.reduce_mean(self.reduce_concat(x), axis=0)

    def reduce_sum(self, x):
        """The sum of `x` over all rounds."""
        return ops.reduce_sum(self.reduce_concat(x), axis=0)
