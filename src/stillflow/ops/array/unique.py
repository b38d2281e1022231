"""Unique and its kin, and ListDiff: different elements in the order in which they come first."""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_INDEX = "out_idx: {int32, int64} = int32"


def _unique(name, inputs, attrs, kernel, outputs="y: T, idx: out_idx", **options):
    return define_op(
        f"{name}({inputs}) -> ({outputs})", f"T: type; {attrs}{_INDEX}", kernel=kernel, differentiable=None, **options
    )


_COUNTED = "y: T, idx: out_idx, count: out_idx"
_AXIS = "Taxis: {int32, int64} = int64; "
unique = _unique(
    "Unique",
    "x: T",
    "",
    "unique(x | out_idx)",
    public="unique",
    doc="""(y, idx): the different elements of a vector as they come first, and where in y each of x is.""",
)
unique_with_counts = _unique(
    "UniqueWithCounts",
    "x: T",
    "",
    "unique(x | out_idx)",
    _COUNTED,
    public="unique_with_counts",
    doc="Like `unique`, with a third result: how often each element of y occurs.",
)
unique_v2 = _unique("UniqueV2", "x: T, axis: Taxis", _AXIS, "unique_along(x, axis | out_idx)")
unique_with_counts_v2 = _unique(
    "UniqueWithCountsV2", "x: T, axis: Taxis", _AXIS, "unique_along(x, axis | out_idx)", _COUNTED
)
list_diff = define_op(
    "ListDiff(x: T, y: T) -> (out: T, idx: out_idx)",
    f"T: type; {_INDEX}",
    kernel="list_diff(x, y | out_idx)",
    differentiable=None,
)


@unique.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    return [(None,), context.shapes[0]]


@unique_with_counts.shape_rule
def _(context):
    return [(None,), context.shapes[0], (None,)]  # TensorFlow does not look at the rank here


@unique_v2.shape_rule
@unique_with_counts_v2.shape_rule
def _(context):
    dims, axes = context.shapes[0], context.value(1)
    result = indices = None
    if axes is not None and dims is not None and axes.size <= 1:
        axis = int(axes[0]) if axes.size else 0
        if -len(dims) <= axis < len(dims):
            axis %= len(dims)
            result, indices = (*dims[:axis], None, *dims[axis + 1 :]), (dims[axis],)
    return [result, indices, (None,)][: context.output_count()]


@list_diff.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    plain.with_rank(context.shapes[1], 1)
    return [(None,), (None,)]


@unique.folded_value
def _(context):
    value = context.value(0)
    if value is None or value.ndim != 1 or not context.attrs["T"].is_integer:
        return None
    _, first, places = np.unique(value, return_index=True, return_inverse=True)
    if context.output_index == 0:
        return value[np.sort(first)]
    return np.argsort(np.argsort(first))[places].astype(context.attrs["out_idx"].as_numpy_dtype)


@list_diff.folded_value
def _(context):
    x, y = context.value(0), context.value(1)
    if x is None or y is None:
        return None
    places = np.flatnonzero(~np.isin(x, y))
    return places.astype(context.attrs["out_idx"].as_numpy_dtype) if context.output_index else x[places]


@public("setdiff1d")
def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """(out, idx): the elements of the vector x that are not in y, and their places in x."""
    return list_diff(x, y, out_idx=index_dtype, name=name)
