"""Splits of rows, and what says the same: the row of each value, the lengths of rows."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.repeat import repeat
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

SPLITS_TYPES = (dtypes.int32, dtypes.int64)


@public("python.ops.ragged.ragged_util.convert_to_int_tensor")
def as_int_tensor(tensor, name, dtype=dtypes.int32):
    """A tensor of integers as one of `dtype`. Raises TypeError for other types."""
    tensor = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return ops.cast(tensor, dtype)


@public("python.ops.ragged.ragged_util.get_positive_axis")
def positive_axis(axis, rank):
    """An axis counted from the front. Raises TypeError and ValueError for what is none."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


@public("python.ops.ragged.ragged_util.lengths_to_splits")
def lengths_to_splits(lengths):
    """The splits of rows of these lengths."""
    return ops.concat([[0], ops.cumsum(lengths)], axis=-1)


@public("python.ops.ragged.ragged_util.repeat_ranges")
def repeat_ranges(params, splits, repeats):
    """Each of params[splits[i]:splits[i + 1]] as often as `repeats`, one number or one for each, says."""
    if repeats.shape.rank != 0:
        starts = repeat(splits[:-1], repeats, axis=0)
        limits = repeat(splits[1:], repeats, axis=0)
    else:
        # A split that stands `repeats` times in a row is `repeats` places away from the next one.
        repeated = repeat(splits, repeats, axis=0)
        count = ops.shape(repeated, out_type=repeats.dtype)[0]
        starts, limits = repeated[: count - repeats], repeated[repeats:]
    one = ops.ones((), starts.dtype)
    places = ops.ragged_range(starts, limits, one)
    return ops.gather(params, places.rt_dense_values)


@public("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value: [0, 0, 0, 2, 2, 3] for splits [0, 3, 3, 5, 6].

    Raises ValueError for splits that are no integers, no vector, or none.
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = convert_to_tensor(splits, name="splits", preferred_dtype=dtypes.int64)
        if splits.dtype not in SPLITS_TYPES:
            raise ValueError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if dimension_value(splits.shape[0]) == 0:
            raise ValueError("Invalid row_splits: []")
        out_type = splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        lengths = splits[1:] - splits[:-1]
        count = ops.shape(splits, out_type=out_type)[-1] - 1
        return repeat(ops.range(count), lengths, axis=0)


@public("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The splits of rows whose values have these segments: [0, 3, 3, 5, 6] for [0, 0, 0, 2, 2, 3].

    Args:
      segment_ids: a vector of integers in ascending order.
      num_segments: how many rows there are; by default up to the last one that has values.
      out_type: int32 or int64; by default that of the arguments.

    Raises:
      TypeError: for segments that are no integers.
      ValueError: for segments that are no vector, and counts that are no scalar.
    """
    if out_type is None:
        given = [value for value in (segment_ids, num_segments) if isinstance(value, Tensor)]
        out_type = given[0].dtype if given else dtypes.int64
    else:
        out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        segment_ids = as_int_tensor(segment_ids, "segment_ids")
        segment_ids.shape.assert_has_rank(1)
        if num_segments is not None:
            num_segments = as_int_tensor(num_segments, "num_segments")
            num_segments.shape.assert_has_rank(0)
        lengths = ops.bincount(segment_ids, minlength=num_segments, maxlength=num_segments, dtype=out_type)
        splits = ops.concat([[0], ops.cumsum(lengths)], axis=0)
        known = None if num_segments is None else constant_value(num_segments)
        if known is not None:
            splits.set_shape([int(known) + 1])
        return splits
