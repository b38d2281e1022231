"""Cross: cross products of vectors of three elements."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

cross = define_op(
    "Cross(a: T, b: T) -> (product: T)",
    "T: {float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}",
    kernel="cross(a, b)",
    public="cross linalg.cross",
    doc="Cross products of the vectors of three elements in the last dimension.",
)


@cross.shape_rule
def _(context):
    dims = plain.merged(*(plain.with_rank_at_least(dims, 1) for dims in context.shapes))
    if dims is None:
        return None
    return (*dims[:-1], plain.merged_size(dims[-1], 3))


@cross.gradient
def _(op, grad):
    u, v = op._inputs
    return ops.cross(v, grad), ops.cross(grad, u)
