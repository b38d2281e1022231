"""tf.repeat: elements several times each."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("repeat", "python.ops.ragged.ragged_util.repeat")
def repeat(input, repeats, axis=None, name=None):
    """Elements several times each, along an axis or, without one, along all that is made flat.

    Args:
      input: any tensor.
      repeats: how often, an integer or one for each element along the axis.
      axis: an integer.

    Raises:
      TypeError: for an axis or counts that are no integers.
      ValueError: for an axis that there is not, or counts that do not fit.
    """
    data = input
    if axis is None:
        data, axis = ops.reshape(data, [-1]), 0
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [data, repeats]):
        data = convert_to_tensor(data, name="data")
        repeats = _as_counts(repeats)
        repeats.shape.with_rank_at_most(1)
        data = _with_a_dimension(data)
        shape = ops.shape(data)
        axis = _positive_axis(axis, data.shape.rank)
        if repeats.shape.rank == 1:
            data.shape.dims[axis].assert_is_compatible_with(repeats.shape[0])
        if repeats.shape.rank == 0:
            tiled = _tiled(ops.expand_dims(data, axis + 1), axis + 1, repeats)
            return ops.reshape(tiled, _joined_at(shape, axis))
        return _repeated_by_element(data, shape, repeats, axis)


def _repeated_by_element(data, shape, repeats, axis):
    """Tiles as often as the largest count says, and takes as many as each says."""
    if repeats.shape.rank != axis + 1:
        repeats_shape, repeats_rank = ops.shape(repeats), ops.rank(repeats)
        full_shape = ops.concat([shape[: axis + 1 - repeats_rank], repeats_shape], axis=0)
        repeats = ops.broadcast_to(repeats, full_shape)
        repeats.set_shape([None] * (axis + 1))
    most = ops.maximum(0, ops.max_op(repeats, ops.all_dimensions(repeats)))
    mask = ops.sequence_mask(repeats, most)
    tiled = _tiled(ops.expand_dims(data, axis + 1), axis + 1, most)
    result = ops.boolean_mask(tiled, mask)
    if axis != 0:
        result = ops.reshape(result, _joined_at(shape, axis))
    if data.shape.rank is not None:
        size = 0 if repeats.shape[0] == 0 else None
        result.set_shape(data.shape[:axis].concatenate([size]).concatenate(data.shape[axis + 1 :]))
    return result


def _as_counts(repeats):
    repeats = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
    if not repeats.dtype.is_integer:
        raise TypeError(f"repeats must be an integer tensor; dtype={repeats.dtype}")
    return ops.cast_op(repeats, DstT=dtypes.int32)


def _with_a_dimension(data):
    """A scalar as a vector."""
    if data.shape.rank is None:
        shape, rank = ops.shape(data), ops.rank(data)
        return ops.reshape(data, ops.concat([[1], shape], axis=0)[-rank:])
    return ops.stack([data]) if data.shape.rank == 0 else data


def _positive_axis(axis, rank):
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


def _tiled(data, axis, count):
    if data.shape.rank is not None:
        multiples = [1] * data.shape.rank
        multiples[axis] = count
        return ops.tile(data, multiples)
    ones = ops.ones(ops.rank(data), dtypes.int32)
    return ops.tile(data, ops.concat([ones[:axis], [count], ones[axis + 1 :]], axis=0))


def _joined_at(shape, axis):
    return ops.concat([shape[:axis], [-1], shape[axis + 1 :]], axis=0)
