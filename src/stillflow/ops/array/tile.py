"""Tile and BroadcastTo: arrays repeated along their dimensions."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

tile = define_op(
    "Tile(input: T, multiples: Tmultiples) -> (output: T)",
    "T: type; Tmultiples: {int32, int64} = int32",
    kernel="tile(input, multiples)",
    traits="moves_elements",
    public="tile manip.tile",
    doc="`input` repeated: dimension i multiples[i] times.",
)
broadcast_to = define_op(
    "BroadcastTo(input: T, shape: Tidx) -> (output: T)",
    "T: type; Tidx: {int32, int64} = int32",
    kernel="broadcast_to(input, shape)",
    traits="moves_elements",
    public="broadcast_to",
    doc="`input` in a larger shape, its dimensions of size 1 repeated.",
)
broadcast_args = define_op(
    "BroadcastArgs(s0: T, s1: T) -> (r0: T)",
    "T: {int32, int64} = int32",
    kernel="broadcast_args(s0, s1)",
    differentiable=False,
)


@tile.shape_rule
def _(context):
    dims = context.shapes[0]
    multiples = plain.spelled(context, 1)
    if dims is not None:
        multiples = plain.with_rank(multiples, len(dims))
    if multiples is None:
        return None
    dims = plain.with_rank(dims, len(multiples))
    return tuple(plain.product(pair) for pair in zip(dims, multiples, strict=True))


@tile.folded_value
def _(context):
    value, multiples = context.value(0), context.value(1)
    if value is None or multiples is None or multiples.size != value.ndim or np.any(multiples < 0):
        return None
    return np.tile(value, multiples.tolist())


@broadcast_to.shape_rule
def _(context):
    dims = context.shapes[0]
    shape = plain.spelled(context, 1)
    if shape is None or dims is None:
        return shape
    plain.with_rank_at_most(dims, len(shape))
    sizes = list(shape)
    for axis in range(-1, -len(dims) - 1, -1):
        if dims[axis] is not None and dims[axis] > 1:
            sizes[axis] = plain.merged_size(dims[axis], sizes[axis])
    return tuple(sizes)


@broadcast_to.folded_value
def _(context):
    value, shape = context.value(0), context.value(1)
    return None if value is None or shape is None else np.broadcast_to(value, shape.tolist())


@broadcast_args.shape_rule
def _(context):
    (x,), (y,) = (plain.with_rank(dims, 1) for dims in context.shapes)
    return (None if x is None or y is None else max(x, y),)


@broadcast_args.folded_value
def _(context):
    shapes = context.value(0), context.value(1)
    if shapes[0] is None or shapes[1] is None:
        return None
    return np.array(np.broadcast_shapes(*(shape.tolist() for shape in shapes)), shapes[0].dtype)


@public("broadcast_static_shape", "python.framework.common_shapes.broadcast_shape")
def broadcast_static_shape(shape_x, shape_y):
    """The TensorShape of two TensorShapes broadcast against each other. Raises ValueError if they do not fit."""
    x, y = TensorShape(shape_x)._dims, TensorShape(shape_y)._dims
    if x is None or y is None:
        return TensorShape(None)
    rank = max(len(x), len(y))
    result = []
    for a, b in zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True):
        if a is None or b is None:
            # A size above 1 must be the result's, if the other one fits at all.
            known = a if b is None else b
            result.append(known if known is not None and known > 1 else None)
        elif a == 1 or b in (1, a):
            result.append(b if a == 1 else a)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting: {TensorShape._of(x)} and {TensorShape._of(y)}")
    return TensorShape._of(tuple(result))


@public("python.framework.common_shapes.is_broadcast_compatible")
def is_broadcast_compatible(shape_x, shape_y):
    """Whether two TensorShapes have ranks that are known, and broadcast against each other."""
    try:
        return broadcast_static_shape(shape_x, shape_y).ndims is not None
    except ValueError:
        return False


@tile.gradient
def _(op, grad):
    """Sums over the repetitions."""
    source, multiples = op._inputs
    shape = ops.shape(source, out_type=multiples.dtype)
    split_shape = ops.reshape(ops.transpose(ops.stack([multiples, shape])), [-1])
    axes = ops.range(0, ops.size(split_shape), 2)
    if isinstance(grad, IndexedSlices):
        rows = ops.cast(shape[0], grad.indices.dtype)
        grad = ops.unsorted_segment_sum(grad.values, ops.floor_mod(grad.indices, rows), rows)
        split_shape = ops.concat([[1], split_shape[1:]], axis=0)
    result = ops.reduce_sum(ops.reshape(grad, split_shape), axes)
    result.set_shape(source.shape)
    return result, None


@broadcast_to.gradient
def _(op, grad):
    source, target_shape = op._inputs
    shape = ops.shape(source)
    _, axes = ops.broadcast_gradient_args(target_shape, shape)
    return ops.reshape(ops.reduce_sum(grad, axis=axes, keepdims=True), shape), None


@public("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape, an integer vector tensor, of two such shapes broadcast against each other."""
    return broadcast_args(shape_x, shape_y)
