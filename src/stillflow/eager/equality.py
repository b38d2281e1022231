"""== and != of tensors and variables that have values, and of those of functions that are traced."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.mode import eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.ops import equality


def _is_of_graph(x):
    return isinstance(x, Tensor) and not (x._op._graph.executes_eagerly or x._op._graph.building_function)


@eager_version_of(equality.elements_equal)
def elements_equal(x, y):
    return x is y if _is_of_graph(x) else ops.equal_op(x, y)


@eager_version_of(equality.elements_differ)
def elements_differ(x, y):
    return x is not y if _is_of_graph(x) else ops.not_equal_op(x, y)
