"""CheckNumerics and EnsureShape: identities that fail on NaN or infinity, or on another shape."""

from __future__ import annotations

from stillflow.graph.shape import as_shape
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

check_numerics = define_op(
    "CheckNumerics(tensor: T) -> (output: T)",
    "T: {bfloat16, float16, float32, float64}; message: string",
    kernel="check_numerics(tensor | message)",
    stateful=True,
    traits="is_check",
    public="check_numerics debugging.check_numerics",
    doc="`tensor`; a run in which it holds infinities or NaN fails with `message`.",
)
ensure_shape_op = define_op(
    "EnsureShape(input: T) -> (output: T)",
    "shape: shape; T: type",
    kernel="ensure_shape(input | shape, input_name)",
    traits="is_check",
)


@check_numerics.shape_rule
def _(context):
    return context.shapes[0]


@ensure_shape_op.shape_rule
def _(context):
    return plain.merged(context.shapes[0], context.attrs["shape"]._dims)


@public("ensure_shape")
def ensure_shape(x, shape, name=None):
    """`x`, of which `shape` is known from here on; a run in which it has another one fails."""
    return ensure_shape_op(x, shape=as_shape(shape), name=name)


@check_numerics.gradient
def _(op, grad):
    # TensorFlow puts the bytes of the message into the text as Python shows them.
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {op._attrs['message']!r}"
    return check_numerics(grad, message)


@ensure_shape_op.gradient
def _(op, grad):
    return grad
