"""Reshape, QuantizedReshape, ExpandDims and Squeeze: the same elements in another shape."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.indexed_slices import converting_quietly
from stillflow.graph.shape_inference import ShapeError, dims_text
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

reshape = define_op(
    "Reshape(tensor: T, shape: Tshape) -> (output: T)",
    "T: type; Tshape: {int32, int64} = int32",
    kernel="reshape(tensor, shape)",
    traits="keeps_order moves_elements",
    public="reshape manip.reshape",
    doc="The elements of `tensor` in another shape, in which one size may be -1.",
)
quantized_reshape = define_op(
    "QuantizedReshape(tensor: T, shape: Tshape, input_min: float32, input_max: float32) -> "
    "(output: T, output_min: float32, output_max: float32)",
    "T: type; Tshape: {int32, int64} = int32",
    kernel="quantized_reshape(tensor, shape, input_min, input_max)",
    differentiable=None,
)
expand_dims_op = define_op(
    "ExpandDims(input: T, dim: Tdim) -> (output: T)",
    "T: type; Tdim: {int32, int64} = int32",
    kernel="expand_dims(input, dim)",
    traits="keeps_order moves_elements",
)
squeeze_op = define_op(
    "Squeeze(input: T) -> (output: T)",
    "T: type; squeeze_dims: list(int) >= 0 = []",
    kernel="squeeze(input | squeeze_dims)",
    traits="keeps_order moves_elements",
)


@reshape.shape_rule
def _reshaped(context):
    dims, spelled = context.shapes[:2]
    if spelled is not None and len(spelled) != 1:
        raise ShapeError(f"Shape must be rank 1 but is rank {len(spelled)}")
    wanted = context.partial_value(1)
    if wanted is None:
        return None if spelled is None or spelled[0] is None else (None,) * spelled[0]
    if wanted.count(-1) > 1:
        raise ShapeError("Only one input size may be -1")
    plain.spelled(context, 1)
    return _resolve(dims, wanted)


@quantized_reshape.shape_rule
def _(context):
    for dims in context.shapes[2:]:
        plain.with_rank(dims, 0)
    return [_reshaped(context), (), ()]


def _resolve(dims, wanted):
    """The wanted sizes with -1, or a single unknown size, worked out from what is there."""
    count = plain.product(dims)
    result = tuple(None if size in (None, -1) else size for size in wanted)
    known = 1
    for size in result:
        known *= 1 if size is None else size
    if None not in result:
        if count is not None and count != known:
            raise ShapeError(
                f"Cannot reshape a tensor with {count} elements to shape {dims_text(result)} ({known} elements)"
            )
        return result
    if count is None or result.count(None) > 1:
        return result
    if known == 0:
        if count > 0:
            raise ShapeError(
                f"Cannot reshape a tensor with {count} elements to shape {dims_text(result)} (0 elements)"
            )
        return result
    if count % known:
        raise ShapeError(f"Dimension size must be evenly divisible by {known} but is {count}")
    return tuple(count // known if size is None else size for size in result)


@reshape.folded_value
def _(context):
    value, shape = context.value(0), context.value(1)
    if value is None or shape is None:
        return None
    try:
        return value.reshape(shape.tolist())
    except ValueError:
        return None


@expand_dims_op.shape_rule
def _(context):
    dims = context.shapes[0]
    axis = context.value(1)
    if dims is None:
        return None
    if axis is None:
        return None  # as in TensorFlow, although the rank could be told
    if axis.size != 1:
        raise ShapeError("'dim' input must be a tensor with a single value")
    at = int(axis.reshape(()))
    if not -len(dims) - 1 <= at <= len(dims):
        raise ShapeError(f"dim {at} not in the interval [{-len(dims) - 1}, {len(dims)}].")
    at %= len(dims) + 1
    return (*dims[:at], 1, *dims[at:])


@expand_dims_op.folded_value
def _(context):
    value, axis = context.value(0), context.value(1)
    return None if value is None or axis is None else np.expand_dims(value, int(axis.reshape(())))


@squeeze_op.shape_rule
def _(context):
    dims = context.shapes[0]
    if dims is None:
        return None
    axes = set()
    for i, axis in enumerate(context.attrs["squeeze_dims"]):
        if not -len(dims) <= axis < len(dims):
            raise ShapeError(f"squeeze_dims[{i}] not in [{-len(dims)},{len(dims)}).")
        axes.add(axis % len(dims))
    if not axes and None in dims:
        return None  # an unknown size may be 1
    for axis in axes:
        if dims[axis] not in (None, 1):
            raise ShapeError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}")
    return tuple(size for i, size in enumerate(dims) if not (i in axes if axes else size == 1))


@squeeze_op.folded_value
def _(context):
    value, axes = context.value(0), context.attrs["squeeze_dims"]
    return None if value is None else np.squeeze(value, axes or None)


@public("squeeze")
@dispatched
def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """`input` without dimensions of size 1.

    Args:
      input: a tensor.
      axis: an integer or a list of them in [-rank, rank): the dimensions to remove; by default all of size 1.
      name: a name for the operation.
      squeeze_dims: the old name of `axis`.

    Raises:
      ValueError: for a dimension of another size, or out of range. When run, InvalidArgumentError for the same.
    """
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return squeeze_op(input, squeeze_dims=axis, name=name)


@public("expand_dims")
@dispatched
def expand_dims(input, axis=None, name=None, dim=None):
    """`input` with one more dimension, of size 1.

    Args:
      input: a tensor.
      axis: an integer scalar in [-rank - 1, rank]: the place of the new dimension in the result.
      name: a name for the operation.
      dim: the old name of `axis`.

    Raises:
      ValueError: without an axis, or for one that is out of range.
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return expand_dims_op(input, axis, name=name)


# ---- Gradients --------------------------------------------------------------------------------------------


def _like_input(op, grad):
    with converting_quietly():
        return ops.reshape(grad, ops.shape(op._inputs[0]))


@reshape.gradient
@expand_dims_op.gradient
def _(op, grad):
    return _like_input(op, grad), None


@squeeze_op.gradient
def _(op, grad):
    return _like_input(op, grad)
