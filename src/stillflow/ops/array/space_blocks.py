"""SpaceToBatch(ND), BatchToSpace(ND), SpaceToDepth, DepthToSpace: blocks of arrays as batches or as depth."""

from __future__ import annotations

import math

import numpy as np

from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

space_to_batch_nd = define_op(
    "SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> (output: T)",
    "T: type; Tblock_shape: {int32, int64} = int32; Tpaddings: {int32, int64} = int32",
    kernel="space_to_batch_nd(input, block_shape, paddings)",
    public="space_to_batch_nd manip.space_to_batch_nd",
    doc="""Blocks of the dimensions after the first cut up: each place in a block becomes a batch of its own.

    Args:
      input: [batch, sizes..., ...] of any numbers.
      block_shape: a vector of integers: the size of blocks along each dimension that is cut.
      paddings: [number of these, 2]: how many zeros come first and last; blocks must divide the padded
      sizes.

    Returns:
      [product of block_shape * batch, padded sizes / block_shape..., ...].
    """,
)
batch_to_space_nd = define_op(
    "BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> (output: T)",
    "T: type; Tblock_shape: {int32, int64} = int32; Tcrops: {int32, int64} = int32",
    kernel="batch_to_space_nd(input, block_shape, crops)",
    public="batch_to_space_nd manip.batch_to_space_nd",
    doc="""The other way round: batches put side by side as blocks, and `crops` taken away; see space_to_batch_nd.""",
)
space_to_batch_op = define_op(
    "SpaceToBatch(input: T, paddings: Tpaddings) -> (output: T)",
    "T: type; Tpaddings: {int32, int64} = int32; block_size: int >= 2",
    kernel="space_to_batch(input, paddings | block_size)",
)
batch_to_space_op = define_op(
    "BatchToSpace(input: T, crops: Tidx) -> (output: T)",
    "T: type; block_size: int >= 2; Tidx: {int32, int64} = int32",
    kernel="batch_to_space(input, crops | block_size)",
)
_DEPTH_ATTRS = "T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
space_to_depth_op = define_op(
    "SpaceToDepth(input: T) -> (output: T)", _DEPTH_ATTRS, kernel="space_to_depth(input | block_size, data_format)"
)
depth_to_space_op = define_op(
    "DepthToSpace(input: T) -> (output: T)", _DEPTH_ATTRS, kernel="depth_to_space(input | block_size, data_format)"
)


# ---- Shapes -----------------------------------------------------------------------------------------------------


def _blocks_of(value):
    """The sizes of blocks as a list, None if they are not known."""
    if value is None:
        return None
    if np.any(value < 1):
        raise ShapeError("block_shape must be positive")
    return value.tolist()


def _margins_of(name, value):
    """Pairs of margins, None if they are not known."""
    if value is None:
        return None
    if np.any(value < 0):
        raise ShapeError(f"{name} cannot be negative")
    return value.tolist()


def _divided(size, block):
    if size is None:
        return None
    if size % block:
        raise ShapeError(f"Dimension size must be evenly divisible by {block} but is {size}")
    return size // block


def _cut(dims, blocks, paddings):
    """The shape of what has blocks as batches."""
    paddings = _margins_of("paddings", paddings)
    batch, *sizes = dims[: len(blocks) + 1]
    for i, block in enumerate(blocks):
        padded = None if paddings is None or sizes[i] is None else sizes[i] + sum(paddings[i])
        sizes[i] = _divided(padded, block)
    batch = None if batch is None else batch * math.prod(blocks)
    return (batch, *sizes, *dims[len(blocks) + 1 :])


def _whole(dims, blocks, crops):
    """The shape of what has blocks side by side."""
    batch, *sizes = dims[: len(blocks) + 1]
    for block in blocks:
        batch = _divided(batch, block)
    crops = _margins_of("crops", crops)
    for i, block in enumerate(blocks):
        left = None if crops is None or sizes[i] is None else sizes[i] * block
        for crop in () if left is None else crops[i]:
            if crop > left:
                raise ShapeError(f"Negative dimension size caused by subtracting {crop} from {left}")
            left -= crop
        sizes[i] = left
    return (batch, *sizes, *dims[len(blocks) + 1 :])


def _of_vectors(context, shape_of):
    dims, block_dims, margin_dims = context.shapes
    if dims is None and block_dims is None:  # refused in TensorFlow's graphs; eager execution compiles without shapes
        return None
    if block_dims is None or len(block_dims) != 1:
        raise ShapeError("block_shape must have rank 1.")
    (count,) = block_dims
    if count is None:
        raise ShapeError("block_shape must have known size.")
    plain.with_rank_at_least(dims, count + 1)
    plain.merged(margin_dims, (count, 2))
    blocks, margins = context.value(1), context.value(2)  # both are known when either is refused, as in TensorFlow
    blocks = _blocks_of(blocks)
    if dims is None or blocks is None:
        _margins_of(context.op_def.inputs[2].name, margins)
        return None if dims is None else (None,) * (count + 1) + tuple(dims[count + 1 :])
    return shape_of(dims, blocks, margins)


@space_to_batch_nd.shape_rule
def _(context):
    return _of_vectors(context, _cut)


@batch_to_space_nd.shape_rule
def _(context):
    return _of_vectors(context, _whole)


def _of_block_size(context, shape_of):
    plain.merged(plain.with_rank(context.shapes[1], 2), (2, 2))
    dims = plain.with_rank(context.shapes[0], 4)
    return shape_of(dims, [context.attrs["block_size"]] * 2, context.value(1))


@space_to_batch_op.shape_rule
def _(context):
    return _of_block_size(context, _cut)


@batch_to_space_op.shape_rule
def _(context):
    return _of_block_size(context, _whole)


def _depth_axes(context):
    """(the input's shape, axis of the height, axis of the depth); None for the format of quantized numbers."""
    formats = {b"NHWC": (1, 3), b"NCHW": (2, 1)}
    axes = formats.get(context.attrs["data_format"])
    return (plain.with_rank(context.shapes[0], 5 if axes is None else 4), *(axes or (None, None)))


@space_to_depth_op.shape_rule
def _(context):
    dims, rows, depth = _depth_axes(context)
    if rows is None:
        return (None,) * 5
    block = context.attrs["block_size"]
    result = list(dims)
    for axis in (rows, rows + 1):
        if dims[axis] is not None and dims[axis] % block:
            raise ShapeError(f"Dimension size must be evenly divisible by {block} but is {dims[axis]}")
        result[axis] = None if dims[axis] is None else dims[axis] // block
    result[depth] = None if dims[depth] is None else dims[depth] * block * block
    return tuple(result)


@depth_to_space_op.shape_rule
def _(context):
    dims, rows, depth = _depth_axes(context)
    if rows is None:
        return (None,) * 5
    block = context.attrs["block_size"]
    result = list(dims)
    if dims[depth] is not None and dims[depth] % (block * block):
        raise ShapeError(f"Dimension size must be evenly divisible by {block * block} but is {dims[depth]}")
    for axis in (rows, rows + 1):
        result[axis] = None if dims[axis] is None else dims[axis] * block
    result[depth] = None if dims[depth] is None else dims[depth] // (block * block)
    return tuple(result)


@public("space_to_depth", "nn.space_to_depth")
def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Blocks of [batch, height, width, depth] as depth: [batch, height / size, width / size, size * size * depth]."""
    return space_to_depth_op(input, block_size=block_size, data_format=data_format, name=name)


@public("depth_to_space", "nn.depth_to_space")
def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Depth of [batch, height, width, depth] as blocks: [batch, height * size, width * size, depth / size / size]."""
    return depth_to_space_op(input, block_size=block_size, data_format=data_format, name=name)


# ---- Gradients --------------------------------------------------------------------------------------------------


@public("space_to_batch", "nn.space_to_batch")
def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """space_to_batch_nd for square blocks of [batch, height, width, depth]; `block_shape` is a newer name."""
    block_size = renamed("block_shape", block_shape, "block_size", block_size)
    result = space_to_batch_nd(input, np.array([block_size, block_size], np.int64), paddings, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


@public("batch_to_space")
def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """batch_to_space_nd for square blocks of [batch, height, width, depth]; `block_shape` is a newer name."""
    block_size = renamed("block_shape", block_shape, "block_size", block_size)
    result = batch_to_space_nd(input, np.array([block_size, block_size], np.int64), crops, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


@space_to_batch_nd.gradient
def _(op, grad):
    return batch_to_space_nd(grad, op._inputs[1], op._inputs[2]), None, None


@batch_to_space_nd.gradient
def _(op, grad):
    return space_to_batch_nd(grad, op._inputs[1], op._inputs[2]), None, None


@space_to_batch_op.gradient
def _(op, grad):
    return batch_to_space(grad, op._inputs[1], op._attrs["block_size"]), None


@batch_to_space_op.gradient
def _(op, grad):
    return space_to_batch(grad, op._inputs[1], op._attrs["block_size"]), None


def _check_format(op):
    if op._attrs["data_format"] == b"NCHW_VECT_C":
        raise ValueError(f"Cannot compute {op.type} gradient with NCHW_VECT_C. NCHW_VECT_C requires qint8 data type.")


@space_to_depth_op.gradient
def _(op, grad):
    _check_format(op)
    return depth_to_space_op(grad, block_size=op._attrs["block_size"], data_format=op._attrs["data_format"])


@depth_to_space_op.gradient
def _(op, grad):
    _check_format(op)
    return space_to_depth_op(grad, block_size=op._attrs["block_size"], data_format=op._attrs["data_format"])
