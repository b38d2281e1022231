"""Slice: the part of an array that begins at one place and has one size."""

from __future__ import annotations

import builtins

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

slice_op = define_op(
    "Slice(input: T, begin: Index, size: Index) -> (output: T)",
    "T: type; Index: {int32, int64}",
    kernel="slice(input, begin, size)",
    traits="moves_elements",
)


@slice_op.shape_rule
def _(context):
    dims, begin_shape, size_shape = context.shapes
    shape = plain.merged(plain.with_rank(begin_shape, 1), plain.with_rank(size_shape, 1))
    if shape[0] is not None:
        dims = plain.with_rank(dims, shape[0])
    begin = context.partial_value(1)
    size = context.value(2)
    if size is None:
        sizes = context.partial_value(2)
        if sizes is None:
            return None if dims is None else (None,) * len(dims)
        return tuple(None if part is None or part < 0 else part for part in sizes)
    return tuple(_rest(dims, begin, i) if part == -1 else _checked(part) for i, part in enumerate(size.tolist()))


def _rest(dims, begin, i):
    """What is left of dimension i from the beginning on."""
    if dims is None or begin is None or dims[i] is None or begin[i] is None:
        return None
    if begin[i] > dims[i]:
        raise ShapeError(f"Negative dimension size caused by subtracting {begin[i]} from {dims[i]}")
    return dims[i] - begin[i]


def _checked(size):
    if size < 0:
        raise ShapeError(f"Invalid value in tensor used for shape: {size}")
    return size


@slice_op.folded_value
def _(context):
    value, begin, size = context.value(0), context.value(1), context.value(2)
    if value is None or begin is None or size is None:
        return None
    index = []
    for whole, first, part in zip(value.shape, begin.tolist(), size.tolist(), strict=True):
        end = whole if part == -1 else first + part
        if not 0 <= first <= end <= whole:
            return None
        index.append(builtins.slice(first, end))
    return value[tuple(index)]


@public("slice")
def slice(input_, begin, size, name=None):
    """A part of a tensor.

    Args:
      input_: a tensor.
      begin: an int32 or int64 vector with an element for each dimension: where the part begins.
      size: likewise, how large it is; -1 takes all that is left.
      name: a name for the operation.

    Raises:
      ValueError: if `begin` or `size` have another length.
      InvalidArgumentError: when run, if the part is not within the tensor.
    """
    return slice_op(input_, begin, size, name=name)


@slice_op.gradient
def _(op, grad):
    """Zeros around."""
    source, begin = op._inputs[:2]
    rank = ops.rank(source)
    size = ops.shape(op._outputs[0])
    column = ops.stack([rank, 1])
    before = ops.reshape(begin, column)
    after = ops.reshape(ops.shape(source) - size - begin, column)
    return ops.pad(grad, ops.concat([before, after], 1)), None, None
