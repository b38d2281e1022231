"""Range and LinSpace: numbers in equal steps."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor, widened
from stillflow.ops.registry import define_op

range_op = define_op(
    "Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx)",
    "Tidx: {bfloat16, float32, float64, int32, int64} = int32",
    kernel="range(start, limit, delta)",
    differentiable=False,
)
lin_space = define_op(
    "LinSpace(start: T, stop: T, num: Tidx) -> (output: T)",
    "T: {bfloat16, float32, float64}; Tidx: {int32, int64} = int32",
    kernel="lin_space(start, stop, num)",
    differentiable=False,
    public="lin_space linspace",
    doc="`num` floating numbers in equal steps from `start` to `stop`, both included.",
)


@range_op.shape_rule
def _(context):
    for dims in context.shapes:
        plain.with_rank(dims, 0)
    values = [context.value(i) for i in (0, 1, 2)]
    if any(value is None for value in values):
        return (None,)
    start, limit, delta = (value.item() for value in values)
    if start > limit and delta > 0:
        raise ShapeError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if start < limit and delta < 0:
        raise ShapeError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if delta == 0:
        raise ShapeError("Requires delta != 0")
    if isinstance(start, int):
        return (-(-abs(limit - start) // abs(delta)),)
    with np.errstate(over="ignore", invalid="ignore"):
        size = plain.as_int64(np.ceil(abs(np.float64(limit - start) / delta)))
    if size < 0:
        raise ShapeError(f"Dimension {size} must be >= 0")
    return (size,)


@range_op.constant_value
def _(context):
    start, limit, delta = (context.value(i) for i in (0, 1, 2))
    if start is None or limit is None or delta is None or not context.attrs["Tidx"].is_integer:
        return None  # the kernel adds up floating steps, which numpy does not
    return np.arange(start, limit, delta, dtype=context.attrs["Tidx"].as_numpy_dtype)


@lin_space.shape_rule
def _(context):
    for dims in context.shapes:
        plain.with_rank(dims, 0)
    count = context.value(2)
    if count is None:
        return (None,)
    if count <= 0:
        raise ShapeError(f"Requires num > 0: {count}")
    return (int(count),)


_WIDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@public("range")
def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` (0 if only one number is given) up to, without, `limit`, in steps of `delta`.

    Args:
      start, limit, delta: scalars.
      dtype: the type of the result; by default the widest of those of the scalars.

    Raises ValueError for steps that lead away from the limit, where that is known.
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        start = convert_to_tensor(widened(start), dtype, name="start")
        limit = convert_to_tensor(widened(limit), dtype, name="limit")
        delta = convert_to_tensor(widened(delta), dtype, name="delta")
        if dtype is None:
            for part in (start, limit, delta):
                if part.dtype not in _WIDER:
                    raise AssertionError(f"The numbers of a range cannot be {part.dtype.name} unless dtype says so")
            widest = max((part.dtype for part in (start, limit, delta)), key=_WIDER.index)
            start, limit, delta = (
                part if part.dtype is widest else ops.cast(part, widest) for part in (start, limit, delta)
            )
        return range_op(start, limit, delta, name=scope)


def all_dimensions(tensor):
    """The numbers of a tensor's dimensions: a constant where the rank is known."""
    if tensor._dims is not None:
        return ops.constant(np.arange(len(tensor._dims)), dtypes.int32)
    return range_op(0, ops.rank(tensor), 1)
