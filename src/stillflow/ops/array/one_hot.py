"""OneHot: rows with one element on at a given place."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor, widened
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

one_hot_op = define_op(
    "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> (output: T)",
    "axis: int = -1; T: type; TI: {uint8, int32, int64} = int64",
    kernel="one_hot(indices, depth, on_value, off_value | axis)",
    differentiable=False,
)


@one_hot_op.shape_rule
def _(context):
    dims, depth_shape, *value_shapes = context.shapes
    axis = context.attrs["axis"]
    if axis < -1:
        raise ShapeError("axis must be >= -1")
    plain.with_rank(depth_shape, 0)
    for shape in value_shapes:
        plain.with_rank(shape, 0)
    depth = context.value(1)
    if depth is not None and depth < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {depth}")
    if dims is None:
        return None
    at = axis % (len(dims) + 1)
    return (*dims[:at], None if depth is None else int(depth), *dims[at:])


@public("one_hot")
@dispatched
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A tensor with a new dimension of size `depth`, in which element i is `on_value` where the index is i.

    Args:
      indices: an integer tensor; those outside of [0, depth) give no `on_value`.
      on_value, off_value: scalars, 1 and 0 by default.
      axis: where the new dimension goes, at the end by default.
      dtype: the element type, by default that of the values, or float32.

    Raises TypeError if values and dtype do not agree.
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as scope:
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        on_type, off_type = (
            None if value is None else convert_to_tensor(value).dtype.base_dtype for value in (on_value, off_value)
        )
        for label, found in (("on_value", on_type), ("off_value", off_type)):
            if dtype is not None and found is not None and found is not dtype:
                raise TypeError(f"dtype {found} of {label} does not match dtype parameter {dtype}")
        if dtype is None:
            dtype = on_type or off_type or dtypes.float32
        if on_value is None:
            on_value, on_type = convert_to_tensor(1, dtype, name="on_value"), dtype
        if off_value is None:
            off_value, off_type = convert_to_tensor(0, dtype, name="off_value"), dtype
        if on_type is not off_type:
            raise TypeError(f"dtype {on_type} of on_value does not match dtype {off_type} of off_value")
        return one_hot_op(indices, depth, on_value, off_value, axis=axis, name=scope)


@public("sequence_mask")
def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool_, name=None):
    """A mask with a row of `maxlen` for each length, true in its first so many places.

    Args:
      lengths: an integer tensor.
      maxlen: an integer scalar, by default the greatest length.
      dtype: the type to convert the mask to.

    Raises ValueError if `maxlen` is no scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(widened(lengths))
        if maxlen is None:
            maxlen = ops.reduce_max(lengths, ops.all_dimensions(lengths))
            maxlen = ops.maximum(ops.constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = convert_to_tensor(widened(maxlen))
        if maxlen._dims:
            raise ValueError("maxlen must be scalar for sequence_mask")
        row = ops.range_op(ops.constant(0, maxlen.dtype), maxlen, ops.constant(1, maxlen.dtype))
        column = ops.cast_op(ops.expand_dims(lengths, -1), DstT=maxlen.dtype)
        result = row < column
        if dtype is None or dtypes.as_dtype(dtype).base_dtype is result.dtype.base_dtype:
            return result
        return ops.cast_op(result, DstT=dtype)
