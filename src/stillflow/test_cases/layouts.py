"""tensorflow.python.framework.test_util: shapes and images with their channels last, as ones with them first."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.operation import Tensor
from stillflow.names import public


def _permuted(value, order):
    if isinstance(value, Tensor):
        return ops.transpose(value, order)
    return [value[i] for i in order]


def _rank(value):
    return len(value.shape.as_list() if isinstance(value, Tensor) else value)


@public("python.framework.test_util.NHWCToNCHW")
def channels_first(input_tensor):
    """A tensor, or a list of sizes, of [batch, ..., channels] as one of [batch, channels, ...]."""
    rank = _rank(input_tensor)
    return _permuted(input_tensor, [0, rank - 1, *range(1, rank - 1)])


@public("python.framework.test_util.NCHWToNHWC")
def channels_last(input_tensor):
    """A tensor, or a list of sizes, of [batch, channels, ...] as one of [batch, ..., channels]."""
    return _permuted(input_tensor, [0, *range(2, _rank(input_tensor)), 1])
