"""Cumsum, Cumprod and CumulativeLogsumexp: running sums and products along an axis."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

_ATTRS = (
    "exclusive: bool = false; reverse: bool = false; T: {float32, float64, int32, uint8, int16, int8, complex64, "
    "int64, qint8, quint8, qint32, bfloat16, uint16, complex128, float16, uint32, uint64}; "
    "Tidx: {int32, int64} = int32"
)

cumsum_op = define_op(
    "Cumsum(x: T, axis: Tidx) -> (out: T)", _ATTRS, kernel="cumulative(x, axis | exclusive, reverse, 'sum')"
)
cumprod_op = define_op(
    "Cumprod(x: T, axis: Tidx) -> (out: T)", _ATTRS, kernel="cumulative(x, axis | exclusive, reverse, 'product')"
)
cumulative_logsumexp_op = define_op(
    "CumulativeLogsumexp(x: T, axis: Tidx) -> (out: T)",
    "exclusive: bool = false; reverse: bool = false; T: {float16, float32, float64}; Tidx: {int32, int64} = int32",
    kernel="cumulative_logsumexp(x, axis | exclusive, reverse)",
)
cumulative_logsumexp_op.shape_rule(unchanged_shape)
cumsum_op.shape_rule(unchanged_shape)
cumprod_op.shape_rule(unchanged_shape)


def _fold(function):
    def rule(context):
        value, axis = context.value(0), context.value(1)
        if value is None or axis is None or not value.ndim or not context.attrs["T"].is_integer:
            return None
        if context.attrs["exclusive"] or context.attrs["reverse"]:
            return None
        return function(value, int(axis), value.dtype)

    return rule


cumsum_op.folded_value(_fold(np.cumsum))
cumprod_op.folded_value(_fold(np.cumprod))


@public("cumsum", "math.cumsum")
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along an axis: [a, b, c] -> [a, a + b, a + b + c].

    Args:
      exclusive: whether each sum leaves its own element out.
      reverse: whether to begin at the end.
    """
    with name_scope(name, "Cumsum", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return cumsum_op(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


@public("cumprod", "math.cumprod")
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running products along an axis; see `cumsum`."""
    with name_scope(name, "Cumprod", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return cumprod_op(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


@public("math.cumulative_logsumexp")
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running logarithms of sums of exponentials along an axis; see `cumsum`. That of nothing is x.dtype.min."""
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return cumulative_logsumexp_op(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


@cumsum_op.gradient
def _(op, grad):
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    return cumsum(grad, op._inputs[1], exclusive=exclusive, reverse=not reverse), None


@cumprod_op.gradient
def _(op, grad):
    x, axis = op._inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    total = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return total / x, None


@cumulative_logsumexp_op.gradient
def _(op, grad):
    x, axis = op._inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    # Logarithms are taken of what is positive and of what is negative by themselves.
    log_positive = ops.where_v2(ops.greater(grad, 0), ops.log(grad), grad.dtype.min)
    log_negative = ops.where_v2(ops.less(grad, 0), ops.log(-grad), grad.dtype.min)

    def spread(log_grad):
        relative = log_grad - op._outputs[0]
        return ops.exp(cumulative_logsumexp(relative, axis=axis, reverse=not reverse, exclusive=exclusive) + x)

    positive = spread(log_positive)
    return positive - spread(log_negative), None
