"""bucketize: numbers of the intervals that values lie in."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public


@public("contrib.slim.bucketize", "contrib.layers.python.ops.bucketization_op.bucketize")
def bucketize(input_tensor, boundaries, name=None):
    """How many of `boundaries`, a list of ascending numbers, are not above each value: int32 of the tensor's shape.

    Raises TypeError for boundaries that are no list.
    """
    return ops.bucketize(input_tensor, boundaries=boundaries, name=name)
