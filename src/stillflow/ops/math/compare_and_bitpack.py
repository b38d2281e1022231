"""CompareAndBitpack: eight comparisons as the bits of a byte."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

compare_and_bitpack = define_op(
    "CompareAndBitpack(input: T, threshold: T) -> (output: uint8)",
    "T: {bool, float16, float32, float64, int8, int16, int32, int64}",
    kernel="compare_and_bitpack(input, threshold)",
    differentiable=None,
    public="python.ops.math_ops.compare_and_bitpack",
    doc="Whether elements of the last dimension are greater than a scalar, eight as the bits of a byte each.",
)


@compare_and_bitpack.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 1)
    plain.with_rank(context.shapes[1], 0)
    if dims is None or dims[-1] is None:
        return None if dims is None else (*dims[:-1], None)
    if dims[-1] % 8:
        raise ShapeError(f"Dimension size must be evenly divisible by 8 but is {dims[-1]}")
    return (*dims[:-1], dims[-1] // 8)
