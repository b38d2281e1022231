"""Bitcast: the bytes of elements as elements of another type."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops.registry import define_op

_TYPES = (
    "{bfloat16, float16, float32, float64, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, "
    "complex128, qint8, quint8, qint16, quint16, qint32}"
)
bitcast = define_op(
    "Bitcast(input: T) -> (output: type)",
    f"T: {_TYPES}; type: {_TYPES}",
    kernel="bitcast(input | type)",
    differentiable=None,
    public="bitcast",
    doc="""The bytes of elements as elements of another type, larger or smaller ones with one dimension less or
    more.
    """,
)


@bitcast.shape_rule
def _(context):
    dims = context.shapes[0]
    if dims is None:
        return None
    before, after = (dtypes.as_dtype(context.attrs[name]).size for name in ("T", "type"))
    if before > after:
        return (*dims, before // after)
    if before == after:
        return dims
    if not dims or dims[-1] not in (None, after // before):
        raise ShapeError(
            f"Cannot bitcast due to shape. {dims[-1] if dims else 'A scalar'} does not match {after // before}"
        )
    return dims[:-1]
