"""LowerBound, UpperBound, Bincount, HistogramFixedWidth, UnravelIndex: places of values, and how many there are."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op


def _bound(name, kernel):
    return define_op(
        f"{name}(sorted_inputs: T, values: T) -> (output: out_type)",
        "T: type; out_type: {int32, int64} = int32",
        kernel=f"{kernel}(sorted_inputs, values | out_type)",
        differentiable=None,
    )


lower_bound = _bound("LowerBound", "lower_bound")
upper_bound = _bound("UpperBound", "upper_bound")
bincount_op = define_op(
    "Bincount(arr: int32, size: int32, weights: T) -> (bins: T)",
    "T: {int32, int64, float32, float64}",
    kernel="bincount(arr, size, weights)",
    differentiable=None,
)
histogram_fixed_width_op = define_op(
    "HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> (out: dtype)",
    "T: {int32, int64, float32, float64}; dtype: {int32, int64} = int32",
    kernel="histogram_fixed_width(values, value_range, nbins | dtype)",
    differentiable=None,
)
unravel_index = define_op(
    "UnravelIndex(indices: Tidx, dims: Tidx) -> (output: Tidx)",
    "Tidx: {int32, int64} = int32",
    kernel="unravel_index(indices, dims)",
    differentiable=None,
    public="unravel_index",
    doc="""The coordinates, a row for each dimension, of places counted through an array of shape `dims`.""",
)


@lower_bound.shape_rule
@upper_bound.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 2)
    return plain.with_rank(context.shapes[1], 2)


@bincount_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    size = context.value(1)
    if size is None:
        return (None,)
    if size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    return (int(size),)


@histogram_fixed_width_op.shape_rule
def _(context):
    range_dims = plain.with_rank(context.shapes[1], 1)
    plain.merged_size(range_dims[0], 2)
    plain.with_rank(context.shapes[2], 0)
    bins = context.value(2)
    if bins is None:
        return (None,)
    if bins <= 0:
        raise ShapeError(f"Requires nbins > 0: {bins}")
    return (int(bins),)


@unravel_index.shape_rule
def _(context):
    indices, dims = context.shapes
    dims = plain.with_rank(dims, 1)
    plain.with_rank_at_most(indices, 1)
    return None if indices is None else (dims[0], *indices)


# ---- Functions ----------------------------------------------------------------------------------------------


@public("searchsorted")
def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where each of `values` may be put into its row of `sorted_sequence` so that the row stays sorted.

    Args:
      sorted_sequence: a tensor whose rows, along the last dimension, are sorted.
      values: a tensor of as many rows.
      side: "left" for the place before equal elements, "right" for that after them.

    Raises ValueError for any other `side`.
    """
    size = ops.shape(sorted_sequence)[-1]
    values_size = ops.shape(values)[-1]
    rows = ops.reshape(sorted_sequence, [-1, size])
    value_rows = ops.reshape(values, [-1, values_size])
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    bound = upper_bound if side == "right" else lower_bound
    return ops.reshape(bound(rows, value_rows, out_type=out_type, name=name), ops.shape(values))


@public("compat.v2.math.bincount")
def bincount_v2(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None):
    """How often each integer occurs in `arr`, or the sum of its `weights`.

    The result has a place for each number up to the largest, but at least `minlength` and at most `maxlength`.
    """
    with name_scope("bincount" if name is None else name):
        arr = convert_to_tensor(arr, dtypes.int32, name="arr")
        is_not_empty = ops.reduce_prod(ops.shape(arr)) > 0
        size = ops.cast(is_not_empty, dtypes.int32) * (ops.reduce_max(arr) + 1)
        if minlength is not None:
            size = ops.maximum(convert_to_tensor(minlength, dtypes.int32, name="minlength"), size)
        if maxlength is not None:
            size = ops.minimum(convert_to_tensor(maxlength, dtypes.int32, name="maxlength"), size)
        if weights is not None:
            return ops.unsorted_segment_sum(convert_to_tensor(weights, name="weights"), arr, size)
        return bincount_op(arr, size, ops.constant([], dtype))


@public("histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values lie in each of `nbins` equal parts of `value_range`; those outside are in the first or last."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return histogram_fixed_width_op(values, value_range, nbins, dtype=dtype, name=scope)


@public("bincount", "math.bincount")
def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each integer occurs in `arr`, or the sum of its `weights`."""
    return bincount_v2(arr, weights, minlength, maxlength, dtype)
