"""Reductions of rows by segment: SegmentSum and its kin for sorted ids, UnsortedSegmentSum for any."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

_REAL = "float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64"
_NUMBERS = (
    "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64"
)


def _sorted(name, operation, types, **options):
    return define_op(
        f"{name}(data: T, segment_ids: Tindices) -> (output: T)",
        f"T: {{{types}}}; Tindices: {{int32, int64}}",
        kernel=f"segment(data, segment_ids | '{operation}')",
        **options,
    )


def _unsorted(name, operation, types, **options):
    return define_op(
        f"{name}(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T)",
        f"T: {{{types}}}; Tindices: {{int32, int64}}; Tnumsegments: {{int32, int64}} = int32",
        kernel=f"unsorted_segment(data, segment_ids, num_segments | '{operation}')",
        **options,
    )


segment_sum = _sorted(
    "SegmentSum",
    "sum",
    _NUMBERS,
    public="segment_sum math.segment_sum",
    doc="Sums of the rows of each segment; `segment_ids` must not decrease.",
)
segment_mean = _sorted(
    "SegmentMean",
    "mean",
    _NUMBERS,
    public="segment_mean math.segment_mean",
    doc="Means of the rows of each segment; `segment_ids` must not decrease.",
)
segment_prod = _sorted(
    "SegmentProd",
    "prod",
    _NUMBERS,
    differentiable=None,
    public="segment_prod math.segment_prod",
    doc="Products of the rows of each segment; `segment_ids` must not decrease.",
)
segment_min = _sorted(
    "SegmentMin",
    "min",
    _REAL,
    public="segment_min math.segment_min",
    doc="Minima of the rows of each segment; `segment_ids` must not decrease.",
)
segment_max = _sorted(
    "SegmentMax",
    "max",
    _REAL,
    public="segment_max math.segment_max",
    doc="Maxima of the rows of each segment; `segment_ids` must not decrease.",
)
unsorted_segment_sum = _unsorted(
    "UnsortedSegmentSum",
    "sum",
    _NUMBERS,
    public="unsorted_segment_sum math.unsorted_segment_sum",
    doc="Sums of the rows of each of `num_segments` segments; rows with negative ids are left out.",
)
unsorted_segment_prod = _unsorted(
    "UnsortedSegmentProd",
    "prod",
    _NUMBERS,
    public="unsorted_segment_prod math.unsorted_segment_prod",
    doc="""Products of the rows of each of `num_segments` segments; rows with negative ids are left out.""",
)
unsorted_segment_min = _unsorted(
    "UnsortedSegmentMin",
    "min",
    _REAL,
    public="unsorted_segment_min math.unsorted_segment_min",
    doc="""Minima of the rows of each of `num_segments` segments; rows with negative ids are left out.""",
)
unsorted_segment_max = _unsorted(
    "UnsortedSegmentMax",
    "max",
    _REAL,
    public="unsorted_segment_max math.unsorted_segment_max",
    doc="""Maxima of the rows of each of `num_segments` segments; rows with negative ids are left out.""",
)


@segment_sum.shape_rule
@segment_mean.shape_rule
@segment_prod.shape_rule
@segment_min.shape_rule
@segment_max.shape_rule
def _(context):
    data, ids = context.shapes
    data = plain.with_rank_at_least(data, 1)
    plain.with_rank(ids, 1)
    return None if data is None else (None, *data[1:])


@unsorted_segment_sum.shape_rule
@unsorted_segment_prod.shape_rule
@unsorted_segment_min.shape_rule
@unsorted_segment_max.shape_rule
def _(context):
    data, ids, count_dims = context.shapes
    plain.with_rank(count_dims, 0)
    if data is None or ids is None:
        return None
    plain.with_rank_at_least(data, len(ids))
    plain.merged(data[: len(ids)], ids)
    segments = context.value(2)
    if segments is not None and segments < 0:
        raise ShapeError(f"Dimension size, given by scalar input 2, must be non-negative but is {segments}")
    return (None if segments is None else int(segments), *data[len(ids) :])


# ---- Functions ----------------------------------------------------------------------------------------------


@public("unsorted_segment_mean", "math.unsorted_segment_mean")
@dispatched
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """Means of the rows of each of `num_segments` segments; rows with negative ids are left out."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


@public("unsorted_segment_sqrt_n", "math.unsorted_segment_sqrt_n")
@dispatched
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """Sums of the rows of each of `num_segments` segments, divided by the roots of their numbers."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / ops.sqrt(counts)


def _row_counts(data, segment_ids, num_segments):
    """How many rows each segment has, at least 1, in a shape that divides sums of them."""
    ones = ops.ones(ops.shape(segment_ids), data.dtype)
    counts = unsorted_segment_sum(ones, segment_ids, num_segments)
    inner_rank = len(data._dims) - len(segment_ids._dims)
    return ops.maximum(ops.reshape(counts, [num_segments] + [1] * inner_rank), 1)


# ---- Gradients ----------------------------------------------------------------------------------------------


@segment_sum.gradient
def _(op, grad):
    return ops.gather(grad, op._inputs[1]), None


@segment_mean.gradient
def _(op, grad):
    data, ids = op._inputs
    rank = ops.rank(data)
    ones_shape = ops.concat([ops.shape(ids), ops.fill(ops.expand_dims(rank - 1, 0), 1)], 0)
    ones = ops.fill(ones_shape, ops.constant(1, grad.dtype))
    scaled = ops.divide(grad, segment_sum(ones, ids))
    return ops.gather(scaled, ids), None


@segment_min.gradient
@segment_max.gradient
def _(op, grad):
    """The rows that are the extremum share the gradient."""
    data, ids = op._inputs
    zeros = ops.zeros_like(data, dtype=data.dtype)
    is_selected = ops.equal(data, ops.gather(op._outputs[0], ids))
    count = segment_sum(ops.cast(is_selected, grad.dtype), ids)
    shares = ops.gather(ops.divide(grad, count), ids)
    return ops.where(is_selected, shares, zeros), None


def _picked(rows, ids):
    """The row of each id, and zeros for negative ids; besides, the ids made usable and which were so already."""
    clipped = ops.maximum(ids, ops.zeros_like(ids))
    picked = ops.gather(rows, clipped)
    is_positive = _spread(ops.greater_equal(ids, 0), picked)
    return _or_zeros(is_positive, picked), clipped, is_positive


def _spread(mask, rows):
    """A mask of rows in the shape of the rows."""
    for _ in range(len(rows._dims) - len(mask._dims)):
        mask = ops.expand_dims(mask, -1)
    return mask & ops.ones_like(rows, dtype=dtypes.bool_)


def _or_zeros(is_positive, rows):
    zeros = ops.zeros_like(rows)
    return ops.where(is_positive, rows, zeros)


@unsorted_segment_sum.gradient
def _(op, grad):
    return _picked(grad, op._inputs[1])[0], None, None


@unsorted_segment_min.gradient
@unsorted_segment_max.gradient
def _(op, grad):
    data, ids, segments = op._inputs
    outputs, clipped, is_positive = _picked(op._outputs[0], ids)
    is_selected = ops.logical_and(ops.equal(data, outputs), is_positive)
    count = unsorted_segment_sum(ops.cast(is_selected, grad.dtype), ids, segments)
    shares = _or_zeros(is_positive, ops.gather(ops.divide(grad, count), clipped))
    zeros = ops.zeros_like(shares)
    return ops.where(is_selected, shares, zeros), None, None


@unsorted_segment_prod.gradient
def _(op, grad):
    """The product of the other rows, found without dividing where an element is 0."""
    data, ids, segments = op._inputs
    is_zero = ops.equal(data, 0)
    zero_count = unsorted_segment_sum(ops.cast(is_zero, dtypes.int32), ids, segments)
    grad = ops.where(ops.greater(zero_count, 1), ops.zeros_like(grad), grad)
    without_zeros = ops.where(is_zero, ops.ones_like(data), data)
    product = unsorted_segment_prod(without_zeros, ids, segments)
    clipped = ops.maximum(ids, ops.zeros_like(ids))
    whole = ops.gather(op._outputs[0], clipped)
    others = ops.gather(product, clipped)
    partial = ops.where(is_zero, others, whole / data)
    picked = ops.gather(grad, clipped)
    is_positive = _spread(ops.greater_equal(ids, 0), picked)
    return _or_zeros(is_positive, picked) * partial, None, None
