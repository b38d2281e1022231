"""Bucketize: the index of the bucket, given its boundaries, that each value falls into."""

from __future__ import annotations

from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

bucketize = define_op(
    "Bucketize(input: T) -> (output: int32)",
    "T: {int32, int64, float32, float64}; boundaries: list(float)",
    kernel="bucketize(input | boundaries)",
    differentiable=None,
    public="python.ops.math_ops._bucketize",
    doc="How many of the `boundaries`, which ascend, are not above each number: int32 of the same shape.",
)
bucketize.shape_rule(unchanged_shape)
