"""Pack and Unpack: tf.stack and tf.unstack, along a new dimension."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import ShapeError, constant_value
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

pack = define_op(
    "Pack(values: N * T) -> (output: T)", "N: int >= 1; T: type; axis: int = 0", kernel="pack(values | axis)"
)
unpack = define_op(
    "Unpack(value: T) -> (output: num * T)", "num: int >= 0; T: type; axis: int = 0", kernel="unpack(value | axis)"
)
parallel_concat = define_op(
    "ParallelConcat(values: N * T) -> (output: T)",
    "N: int >= 1; T: type; shape: shape",
    kernel="concat_rows(values)",
    differentiable=None,
)


def _checked_axis(axis, rank):
    if not -rank <= axis < rank:
        raise ShapeError(f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    return axis % rank


@pack.shape_rule
def _(context):
    dims = None
    for shape in reversed(context.shapes):
        dims = plain.merged(shape, dims)
    if dims is None:
        return None
    axis = _checked_axis(context.attrs["axis"], len(dims) + 1)
    return (*dims[:axis], len(context.shapes), *dims[axis:])


@pack.constant_value
def _(context):
    return None if context.attrs["axis"] else _stacked(context)


@pack.folded_value
def _(context):
    return _stacked(context) if context.attrs["axis"] else None


def _stacked(context):
    values = []
    for i in range(context.attrs["N"]):
        value = context.value(i)
        if value is None:
            return None
        values.append(value)
    return np.stack(values, context.attrs["axis"])


@pack.partial_value
def _(context):
    if context.shapes[0] not in ((), None) or not context.attrs["T"].is_integer:
        return None
    sizes = []
    for i in range(context.attrs["N"]):
        size = context.partial_value(i)
        sizes.append(size if isinstance(size, int) else None)
    return tuple(sizes)


@unpack.shape_rule
def _(context):
    dims = context.shapes[0]
    count = context.attrs["num"]
    if dims is None:
        return [None] * count
    axis = _checked_axis(context.attrs["axis"], len(dims))
    if dims[axis] not in (None, count):
        raise ShapeError(f"Dimension must be {count} but is {dims[axis]}")
    return [dims[:axis] + dims[axis + 1 :]] * count


@unpack.folded_value
def _(context):
    value = context.value(0)
    return None if value is None else np.asarray(value.take(context.output_index, context.attrs["axis"]))


@parallel_concat.shape_rule
def _(context):
    shape = context.attrs["shape"]._dims
    if shape is None or None in shape:
        raise ShapeError("shape attr must be fully defined.")
    if not shape:
        raise ShapeError("Shape must be at least rank 1 but is rank 0")
    if shape[0] != len(context.shapes):  # TensorFlow leaves rows that nobody writes as memory has them
        raise ShapeError(f"shape attr says {shape[0]} rows, but there are {len(context.shapes)} inputs")
    for dims in context.shapes:
        if dims is None or None in dims:
            raise ShapeError("All input shapes must be fully defined.")
        plain.merged(dims, (1, *shape[1:]))
    return shape


@public("stack")
@dispatched
def stack(values, axis=0, name="stack"):
    """Tensors of one shape stacked along a new dimension `axis`.

    Raises:
      TypeError: if the tensors are of different types.
      ValueError: if they are of different shapes, or the axis is out of range.
    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # what cannot become one constant may be several
    dims = convert_to_tensor(values[0], name=name)._dims
    if dims is not None and not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(f"axis = {axis} not in [{-len(dims) - 1}, {len(dims) + 1})")
    return pack(values, axis=axis, name=name)


def static_value(tensor, partial=False):
    """What is known of a tensor's value while the graph is built, as an array; None if nothing is.

    With `partial`, stacked values of which only some are known come as lists with None for the others.
    """
    if not isinstance(tensor, Tensor):
        return tensor
    value = constant_value(tensor)
    if value is not None or not partial or tensor._op.type != "Pack" or tensor._op._attrs["axis"] != 0:
        return value
    return [static_value(part, partial) for part in tensor._op._inputs]


@public("unstack")
def unstack(value, num=None, axis=0, name="unstack"):
    """The parts of `value` along `axis`, a list of tensors with that dimension removed.

    Args:
      num: how many there are, where it is not known.

    Raises:
      ValueError: if the number is unknown, or the axis is out of range.
    """
    if num is None:
        value = convert_to_tensor(value)
        dims = value._dims
        if dims is not None:
            if not -len(dims) <= axis < len(dims):
                raise ValueError(f"axis = {axis} not in [{-len(dims)}, {len(dims)})")
            num = dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    parts = unpack(value, num=num, axis=axis, name=name)
    return parts if num else []  # a node without outputs comes as the operation


@public("parallel_stack")
def parallel_stack(values, name="parallel_stack"):
    """Like `stack` along dimension 0, for values whose shapes are known."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        shape = TensorShape([len(values)]).concatenate(first.shape)
        return parallel_concat([ops.expand_dims(value, 0) for value in values], shape=shape)


@pack.gradient
def _(op, grad):
    return unstack(grad, num=op._attrs["N"], axis=op._attrs["axis"])


@unpack.gradient
def _(op, *grads):
    return stack(grads, axis=op._attrs["axis"])


@public("pack")
def stack_named_pack(values, axis=0, name="pack"):
    """Tensors of one shape stacked along a new dimension `axis`."""
    return stack(values, axis, name)


@public("unpack")
def unstack_named_unpack(value, num=None, axis=0, name="unpack"):
    """A list of the parts of `value` along `axis`."""
    return unstack(value, num, axis, name)
