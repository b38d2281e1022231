"""Ops on shapes: Shape, ShapeN, Size, Rank, and what gradients of broadcasting and concatenation ask for."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import is_sparse

_INTS = "{int32, int64} = int32"

shape_op = define_op(
    "Shape(input: T) -> (output: out_type)",
    f"T: type; out_type: {_INTS}",
    kernel="shape(input | out_type)",
    differentiable=False,
    traits="reads_shape_only",
)
shape_n = define_op(
    "ShapeN(input: N * T) -> (output: N * out_type)",
    f"N: int >= 1; T: type; out_type: {_INTS}",
    kernel="shape(input | out_type)",
    differentiable=False,
    public="shape_n",
    doc="The shapes of several tensors of one type.",
)
size_op = define_op(
    "Size(input: T) -> (output: out_type)",
    f"T: type; out_type: {_INTS}",
    kernel="size(input | out_type)",
    differentiable=False,
    traits="reads_shape_only",
)
rank_op = define_op(
    "Rank(input: T) -> (output: int32)",
    "T: type",
    kernel="rank(input)",
    differentiable=False,
    traits="reads_shape_only",
)
broadcast_gradient_args = define_op(
    "BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T)",
    f"T: {_INTS}",
    kernel="broadcast_gradient_args(s0, s1)",
    differentiable=False,
)
concat_offset = define_op(
    "ConcatOffset(concat_dim: int32, shape: N * int32) -> (offset: N * int32)",
    "N: int >= 2",
    kernel="concat_offset(concat_dim, shape)",
    differentiable=False,
)


@shape_op.shape_rule
@shape_n.shape_rule
def _(context):
    return [(None if dims is None else len(dims),) for dims in context.shapes]


@shape_op.constant_value
def _(context):
    dims = context.shapes[context.output_index]
    if dims is None or None in dims:
        return None
    return np.array(dims, context.attrs["out_type"].as_numpy_dtype)


@shape_op.partial_value
@shape_n.partial_value
def _(context):
    return context.shapes[context.output_index]


@size_op.shape_rule
@rank_op.shape_rule
def _(context):
    return ()


@size_op.constant_value
def _(context):
    dims = context.shapes[0]
    if dims is None or None in dims:
        return None
    return np.asarray(np.prod(dims, dtype=np.int64), context.attrs["out_type"].as_numpy_dtype)


@rank_op.constant_value
def _(context):
    dims = context.shapes[0]
    return None if dims is None else np.asarray(len(dims), np.int32)


@shape_op.folded_value
@shape_n.folded_value
def _(context):
    value = context.value(context.output_index)
    return None if value is None else np.array(value.shape, context.attrs["out_type"].as_numpy_dtype)


@size_op.folded_value
def _(context):
    value = context.value(0)
    return None if value is None else np.asarray(value.size, context.attrs["out_type"].as_numpy_dtype)


@broadcast_gradient_args.shape_rule
def _(context):
    for dims in context.shapes:
        if dims is not None and len(dims) != 1:
            raise ShapeError(f"Shape must be rank 1 but is rank {len(dims)}")
    return [(None,), (None,)]


@broadcast_gradient_args.folded_value
def _(context):
    shapes = context.partial_value(0), context.partial_value(1)
    if None in shapes or any(None in shape for shape in shapes):
        return None
    axes = ops.repeated_axes(*shapes)[context.output_index]
    return np.array(axes, context.attrs["T"].as_numpy_dtype)


@concat_offset.shape_rule
def _(context):
    return context.shapes[1:]


@public("shape")
def shape(input, name=None, out_type=dtypes.int32):
    """The shape of a tensor, as an integer vector.

    Args:
      input: a tensor or SparseTensor.
      name: a name for the operation.
      out_type: int32 or int64.

    Returns:
      A constant where the shape is fully known, else a tensor that is computed when it is run.
    """
    return shape_internal(input, name, out_type=out_type)


@public("python.ops.array_ops.shape_internal")
def shape_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    """The shape of a tensor, an integer vector; a constant where it is known, unless not `optimize`."""
    with name_scope(name, "Shape", [input]) as scope:
        if is_sparse(input):
            return ops.cast_op(input.dense_shape, DstT=out_type)
        tensor = convert_to_tensor(input)
        if optimize and tensor.shape.is_fully_defined():
            return ops.constant(tensor.shape.as_list(), out_type, name=scope)
        return shape_op(input, out_type=out_type, name=scope)  # a resource variable is read again


@public("size")
@dispatched
def size(input, name=None, out_type=dtypes.int32):
    """The number of elements of a tensor, an integer scalar; a constant where it is known."""
    with name_scope(name, "Size", [input]) as scope:
        if is_sparse(input):
            return ops.prod_op(ops.cast_op(input.dense_shape, DstT=out_type), 0, name=scope)
        tensor = convert_to_tensor(input)
        if tensor.shape.is_fully_defined():
            return ops.constant(tensor.shape.num_elements(), out_type, name=scope)
        if tensor._dims is not None and 0 in tensor._dims:
            return ops.constant(0, out_type, name=scope)
        return size_op(input, out_type=out_type, name=scope)


@public("rank")
@dispatched
def rank(input, name=None):
    """The number of dimensions of a tensor, an int32 scalar; a constant where it is known."""
    return rank_internal(input, name)


def rank_internal(input, name=None, optimize=True):
    """`rank`; a node of its own, unless `optimize`."""
    with name_scope(name, "Rank", [input]) as scope:
        if is_sparse(input):
            return size_op(input.dense_shape, name=scope)
        tensor = convert_to_tensor(input)
        if optimize and tensor._dims is not None:
            return ops.constant(len(tensor._dims), dtypes.int32, name=scope)
        return rank_op(input, name=scope)
