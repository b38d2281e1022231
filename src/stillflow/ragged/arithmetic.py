"""Ranges, sums over segments and reductions of ragged tensors."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ragged.elementwise import map_flat_values
from stillflow.ragged.segments import positive_axis, row_splits_to_segment_ids
from stillflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)

_RANGE_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@public("ragged.range")
def ragged_range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Rows of numbers in equal steps: from starts[i] on before limits[i].

    Args:
      starts: scalars or vectors of one length, as `limits` and `deltas` are.
      limits: None takes `starts` for it and starts at 0.
      deltas: the steps.
      dtype: the type of the numbers; by default the largest of the arguments' types.
      row_splits_dtype: int32 or int64.

    Raises InvalidArgumentError for vectors of different lengths and steps of 0, when it runs.
    """
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        starts = convert_to_tensor(starts, dtype=dtype, name="starts")
        limits = convert_to_tensor(limits, dtype=dtype, name="limits")
        deltas = convert_to_tensor(deltas, dtype=dtype, name="deltas")
        if dtype is None:
            given = starts, limits, deltas
            assert all(tensor.dtype in _RANGE_TYPES for tensor in given)
            dtype = max((tensor.dtype for tensor in given), key=_RANGE_TYPES.index)
            starts, limits, deltas = (ops.cast(tensor, dtype) for tensor in given)
        splits, values = ops.ragged_range(starts, limits, deltas, Tsplits=row_splits_dtype, name=scope)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# ---- By segment ---------------------------------------------------------------------------------------------------


def _by_segment(of_segments, data, segment_ids, num_segments, separator=None, name=None):
    """Rows combined whose segments are the same, value by value: a row is as long as the longest of them."""
    if not (is_ragged(data) or is_ragged(segment_ids)):
        options = () if separator is None else (separator,)
        return of_segments(data, segment_ids, num_segments, *options, name)
    with name_scope(name, "RaggedSegment", [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        segment_ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
        data, segment_ids = match_row_splits_dtypes(data, segment_ids)
        if segment_ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if isinstance(segment_ids, RaggedTensor):
            return _by_ragged_segment(of_segments, data, segment_ids, num_segments, separator)
        splits = data.row_splits
        lengths = splits[1:] - splits[:-1]
        longest = ops.maximum(ops.unsorted_segment_max(lengths, segment_ids, num_segments), 0)
        out_splits = ops.concat([ops.zeros([1], longest.dtype), ops.cumsum(longest)], axis=0)
        starts = ops.gather(out_splits, segment_ids)
        places = ragged_range(starts, starts + lengths).values
        values = _by_segment(of_segments, data.values, places, out_splits[-1], separator)
        return RaggedTensor.from_row_splits(values, out_splits, validate=False)


def _by_ragged_segment(of_segments, data, segment_ids, num_segments, separator):
    if not isinstance(data, RaggedTensor):
        raise ValueError(
            "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not."
        )
    check = checks.assert_equal(
        segment_ids.row_splits, data.row_splits, message="segment_ids.shape must be a prefix of data.shape"
    )
    with get_default_graph().control_dependencies([check]):
        return _by_segment(of_segments, data.values, segment_ids.values, num_segments, separator)


def _of_segments(of_segments, name):
    def combine(data, segment_ids, num_segments, name=None):
        return _by_segment(of_segments, data, segment_ids, num_segments, name=name or default_name)

    default_name = name
    combine.__doc__ = of_segments.__doc__
    return combine


segment_sum = public("python.ops.ragged.ragged_math_ops.segment_sum")(
    _of_segments(ops.unsorted_segment_sum, "RaggedSegmentSum")
)
segment_prod = public("python.ops.ragged.ragged_math_ops.segment_prod")(
    _of_segments(ops.unsorted_segment_prod, "RaggedSegmentProd")
)
segment_min = public("python.ops.ragged.ragged_math_ops.segment_min")(
    _of_segments(ops.unsorted_segment_min, "RaggedSegmentMin")
)
segment_max = public("python.ops.ragged.ragged_math_ops.segment_max")(
    _of_segments(ops.unsorted_segment_max, "RaggedSegmentMax")
)


def _ones_like(ragged):
    return RaggedTensor.from_nested_row_splits(
        ops.ones_like(ragged.flat_values), ragged.nested_row_splits, validate=False
    )


@public("python.ops.ragged.ragged_math_ops.segment_mean")
def segment_mean(data, segment_ids, num_segments, name=None):
    """The means of rows of the same segment, value by value."""
    with name_scope(name, "RaggedSegmentMean", [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data)
        total = segment_sum(data, segment_ids, num_segments)
        count = segment_sum(_ones_like(data), segment_ids, num_segments)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / count.flat_values)
        return total / count


@public("python.ops.ragged.ragged_math_ops.segment_sqrt_n")
def segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sums of rows of the same segment, divided by the square roots of their numbers, value by value."""
    with name_scope(name, "RaggedSegmentSqrtN", [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data)
        total = segment_sum(data, segment_ids, num_segments)
        count = segment_sum(_ones_like(data), segment_ids, num_segments)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / ops.sqrt(count.flat_values))
        return total / ops.sqrt(count)


# ---- Along dimensions ---------------------------------------------------------------------------------------------


def reduced(reduce, of_segments, ragged, axis, keepdims, separator=None, name=None):
    """A reduction along an axis or several, which must be known while the graph is built; by default along all.

    Raises ValueError for `keepdims` of ragged tensors, and an axis that is not known.
    """
    if not is_ragged(ragged):
        options = {} if separator is None else {"separator": separator}
        return reduce(ragged, axis, name=name, **options)
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
    if isinstance(axis, (np.ndarray, np.generic)):
        axis = axis.tolist()
    if axis is None:
        return reduce(ragged.flat_values, None, name=name)
    with name_scope(name, "RaggedReduce", [ragged, axis]):
        if isinstance(axis, (tuple, list)):
            if not axis:
                return ragged
            axes = sorted(positive_axis(each, len(ragged.shape)) for each in axis)
            for each in reversed(axes):
                ragged = reduced(reduce, of_segments, ragged, each, keepdims, separator)
            return ragged
        ragged = convert_to_tensor_or_ragged_tensor(ragged, name="rt_input")
        axis = positive_axis(axis, ragged.shape.rank)
        splits = ragged.row_splits
        if axis == 0:
            lengths = splits[1:] - splits[:-1]
            count = ops.maximum(ops.reduce_max(lengths), 0)
            return _by_segment(of_segments, ragged.values, ragged_range(lengths).values, count, separator)
        if axis == 1:
            count = ops.shape(splits)[0] - 1
            return _by_segment(of_segments, ragged.values, row_splits_to_segment_ids(splits), count, separator)
        return ragged.with_values(reduced(reduce, of_segments, ragged.values, axis - 1, keepdims, separator))


def _reduction(reduce, of_segments, name):
    def reduction(input_tensor, axis=None, keepdims=None, name=None):
        return reduced(reduce, of_segments, input_tensor, axis, keepdims, name=name or default_name)

    default_name = name
    reduction.__doc__ = reduce.__doc__
    return reduction


reduce_sum = public("python.ops.ragged.ragged_math_ops.reduce_sum")(
    _reduction(ops.reduce_sum, ops.unsorted_segment_sum, "RaggedReduceSum")
)
reduce_prod = public("python.ops.ragged.ragged_math_ops.reduce_prod")(
    _reduction(ops.reduce_prod, ops.unsorted_segment_prod, "RaggedReduceProd")
)
reduce_min = public("python.ops.ragged.ragged_math_ops.reduce_min")(
    _reduction(ops.reduce_min, ops.unsorted_segment_min, "RaggedReduceMin")
)
reduce_max = public("python.ops.ragged.ragged_math_ops.reduce_max")(
    _reduction(ops.reduce_max, ops.unsorted_segment_max, "RaggedReduceMax")
)


@public("python.ops.ragged.ragged_math_ops.reduce_mean")
def reduce_mean(input_tensor, axis=None, keepdims=None, name=None):
    """Means along an axis or several, or of everything."""
    with name_scope(name, "RaggedReduceMean", [input_tensor, axis]):
        input_tensor = convert_to_tensor_or_ragged_tensor(input_tensor)
        total = reduce_sum(input_tensor, axis, keepdims)
        ones = _ones_like(input_tensor) if is_ragged(input_tensor) else ops.ones_like(input_tensor)
        count = reduce_sum(ones, axis, keepdims)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / count.flat_values)
        return total / count


def _cast(ragged, dtype):
    return map_flat_values(ops.cast, ragged, dtype)


@public("python.ops.ragged.ragged_math_ops.reduce_all")
def reduce_all(input_tensor, axis=None, keepdims=None, name=None):
    """Whether all along an axis or several is true, or everything."""
    with name_scope(name, "RaggedReduceAll", [input_tensor, axis]):
        return _cast(reduce_prod(_cast(input_tensor, dtypes.int32), axis, keepdims), dtypes.bool_)


@public("python.ops.ragged.ragged_math_ops.reduce_any")
def reduce_any(input_tensor, axis=None, keepdims=None, name=None):
    """Whether anything along an axis or several is true, or anything at all."""
    with name_scope(name, "RaggedReduceAny", [input_tensor, axis]):
        return _cast(reduce_sum(_cast(input_tensor, dtypes.int32), axis, keepdims), dtypes.bool_)
