"""Comparisons, logic on truth values, and choosing by them: Equal, Less, LogicalAnd, Select and their kin."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.math.elementwise_binary import broadcast, broadcast_rule
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

_ORDERED = "float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64"
_EQUATABLE = (
    "bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, complex64, quint8, qint8, qint32, "
    "string, bool, complex128"
)


def _equality(name, elementwise, is_negated):
    return define_op(
        f"{name}(x: T, y: T) -> (z: bool)",
        f"T: {{{_EQUATABLE}}}; incompatible_shape_error: bool = true",
        elementwise=elementwise,
        kernel=f"equal(x, y | {str(is_negated).lower()}, incompatible_shape_error)",
        commutative=True,
        differentiable=False,
    )


def _order(name, elementwise, **options):
    return define_op(
        f"{name}(x: T, y: T) -> (z: bool)",
        f"T: {{{_ORDERED}}}",
        elementwise=elementwise,
        differentiable=False,
        **options,
    )


equal_op = _equality("Equal", "equal", False)
not_equal_op = _equality("NotEqual", "not_equal", True)


@equal_op.constant_value
def _equal_value(context):
    x, y = context.value(0), context.value(1)
    return None if x is None or y is None else np.equal(x, y)


@not_equal_op.constant_value
def _not_equal_value(context):
    x, y = context.value(0), context.value(1)
    return None if x is None or y is None else np.not_equal(x, y)


less = _order("Less", "less", public="less math.less", doc="Whether x < y.")
less_equal = _order("LessEqual", "less_equal", public="less_equal math.less_equal", doc="Whether x <= y.")
greater = _order("Greater", "greater", public="greater math.greater", doc="Whether x > y.")
greater_equal = _order(
    "GreaterEqual", "greater_equal", public="greater_equal math.greater_equal", doc="Whether x >= y."
)
approximate_equal = define_op(
    "ApproximateEqual(x: T, y: T) -> (z: bool)",
    "T: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}; tolerance: float = 9.999999747378752e-06",
    elementwise="approximate_equal | tolerance",
    commutative=True,
    differentiable=False,
)
logical_and = define_op(
    "LogicalAnd(x: bool, y: bool) -> (z: bool)",
    elementwise="logical_and",
    commutative=True,
    differentiable=False,
    public="logical_and math.logical_and",
    doc="Whether both are true.",
)
logical_or = define_op(
    "LogicalOr(x: bool, y: bool) -> (z: bool)",
    elementwise="logical_or",
    commutative=True,
    differentiable=False,
    public="logical_or math.logical_or",
    doc="Whether one or both are true.",
)
logical_not = define_op(
    "LogicalNot(x: bool) -> (y: bool)",
    elementwise="logical_not",
    differentiable=False,
    public="logical_not math.logical_not",
    doc="Whether x is false.",
)
select = define_op(
    "Select(condition: bool, t: T, e: T) -> (output: T)",
    "T: type",
    elementwise="select",
    kernel="select(condition, t, e)",
    broadcasts=False,
)
select_v2 = define_op(
    "SelectV2(condition: bool, t: T, e: T) -> (output: T)",
    "T: type",
    elementwise="select",
    kernel="select_v2(condition, t, e)",
)

for _op in (less, less_equal, greater, greater_equal, logical_and, logical_or):
    _op.shape_rule(broadcast_rule)
logical_not.shape_rule(unchanged_shape)


@equal_op.shape_rule
@not_equal_op.shape_rule
def _(context):
    if context.attrs["incompatible_shape_error"]:
        return broadcast(*context.shapes)
    if any(dims is None or None in dims for dims in context.shapes):
        return None
    try:
        return broadcast(*context.shapes)
    except ShapeError:
        return ()


@approximate_equal.shape_rule
def _(context):
    merged = merge(*context.shapes)
    if merged is False:
        raise ShapeError(incompatible(*context.shapes))
    return merged


@select.shape_rule
def _(context):
    condition, then, otherwise = context.shapes
    branches = merge(then, otherwise)
    if branches is False:
        raise ShapeError(incompatible(then, otherwise))
    if condition is None or branches is None or condition == ():
        return branches
    if len(condition) != 1 or branches == ():
        merged = merge(branches, condition)
        if merged is False:
            raise ShapeError(incompatible(branches, condition))
        return merged
    # A vector chooses among rows, or among elements.
    if merge(condition, branches[:1]) is False:
        raise ShapeError(incompatible(condition, branches[:1]))
    return branches


@select_v2.shape_rule
def _(context):
    condition, then, otherwise = context.shapes
    return broadcast(condition, broadcast(then, otherwise))


@select.gradient
def _(op, grad):
    condition, then, _ = op._inputs
    zeros = ops.zeros_like(then)
    return None, select(condition, grad, zeros), select(condition, zeros, grad)


@select_v2.gradient
def _(op, grad):
    condition, then, otherwise = op._inputs
    zeros = ops.zeros([], grad.dtype.base_dtype)
    then_grad = select_v2(condition, grad, zeros)
    then_shape = ops.shape(then)
    output_shape = ops.shape(op._outputs[0])
    then_grad = _summed(then_grad, then_shape, output_shape)
    otherwise_grad = select_v2(condition, zeros, grad)
    return None, then_grad, _summed(otherwise_grad, ops.shape(otherwise), output_shape)


def _summed(grad, shape, output_shape):
    axes, _ = ops.broadcast_gradient_args(shape, output_shape)
    return ops.reshape(ops.reduce_sum(grad, axes, keepdims=True), shape)


# ---- Functions --------------------------------------------------------------------------------------------


@public("logical_xor", "math.logical_xor")
@dispatched
def logical_xor(x, y, name="LogicalXor"):
    """Whether exactly one of x and y is true."""
    either = logical_or(x, y)
    both = logical_and(x, y)
    return logical_and(either, logical_not(both), name=name)


@public("where")
@dispatched
def where(condition, x=None, y=None, name=None):
    """Elements of x where `condition` is true and of y elsewhere; without x and y, where it is true.

    Args:
      condition: a bool tensor of the shape of x, a scalar, or a vector that chooses among rows.
      x: a tensor, or None.
      y: a tensor of the shape and type of x, or None.

    Returns:
      A tensor like x, or the int64 positions of true elements, a row for each.

    Raises:
      ValueError: if only one of x and y is given.
    """
    return _where(condition, x, y, name, select)


@public("where_v2")
def where_v2(condition, x=None, y=None, name=None):
    """Like `where`, but condition, x and y are broadcast against each other."""
    return _where(condition, x, y, name, select_v2)


def _where(condition, x, y, name, chooser):
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool_, name="condition")
            return ops.where_op(condition, name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return chooser(condition, x, y, name=name)


# ---- Values known while building --------------------------------------------------------------------------


def _fold(function):
    def rule(context):
        x, y = context.value(0), context.value(1)
        if x is None or y is None or x.dtype.kind not in "iubf":
            return None
        return np.asarray(function(x, y))

    return rule


for _op, _function in (
    (equal_op, np.equal), (not_equal_op, np.not_equal), (less, np.less), (less_equal, np.less_equal),
    (greater, np.greater), (greater_equal, np.greater_equal), (logical_and, np.logical_and),
    (logical_or, np.logical_or),
):  # fmt: skip
    _op.folded_value(_fold(_function))


@logical_not.folded_value
def _(context):
    x = context.value(0)
    return None if x is None else np.asarray(np.logical_not(x))


@select.folded_value
def _(context):
    condition, then, otherwise = (context.value(i) for i in range(3))
    if condition is None or then is None or otherwise is None or condition.shape not in ((), then.shape):
        return None
    return np.asarray(np.where(condition, then, otherwise), then.dtype)


@select_v2.folded_value
def _(context):
    condition, then, otherwise = (context.value(i) for i in range(3))
    if condition is None or then is None or otherwise is None or then.dtype.kind not in "iub":
        return None
    return np.asarray(np.where(condition, then, otherwise), then.dtype)


@public("equal", "math.equal")
@dispatched
def equal(x, y, name=None):
    """Whether x == y, elementwise.

    Args:
      x: a tensor of numbers, bools or strings.
      y: a tensor of the same type, whose shape broadcasts with that of `x`.
      name: a name for the operation.

    Returns:
      A bool tensor of the broadcast shape. NaN equals nothing.

    Raises:
      ValueError: for shapes that do not broadcast.
      TypeError: for different types.
    """
    return equal_op(x, y, name=name)


@public("not_equal", "math.not_equal")
@dispatched
def not_equal(x, y, name=None):
    """Whether x != y."""
    return not_equal_op(x, y, name=name)
