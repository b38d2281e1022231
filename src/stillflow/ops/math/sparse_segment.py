"""SparseSegmentSum and its kin: rows picked by index and reduced by segment."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_REAL = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"
_FLOATS = "{float32, float64}"
_INDEX = "Tidx: {int32, int64} = int32"


def _plain(name, operation, types):
    return define_op(
        f"{name}(data: T, indices: Tidx, segment_ids: int32) -> (output: T)",
        f"T: {types}; {_INDEX}",
        kernel=f"sparse_segment(data, indices, segment_ids | '{operation}')",
    )


def _counted(name, operation, types):
    return define_op(
        f"{name}WithNumSegments(data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments) "
        "-> (output: T)",
        f"T: {types}; {_INDEX}; Tnumsegments: {{int32, int64}} = int32",
        kernel=f"sparse_segment_n(data, indices, segment_ids, num_segments | '{operation}')",
    )


def _gradient(name, operation):
    return define_op(
        f"{name}Grad(grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32) -> (output: T)",
        f"T: {_FLOATS}; {_INDEX}",
        kernel=f"sparse_segment_grad(grad, indices, segment_ids, output_dim0 | '{operation}')",
        differentiable=None,
    )


sparse_segment_sum_op = _plain("SparseSegmentSum", "sum", _REAL)
sparse_segment_mean_op = _plain("SparseSegmentMean", "mean", _FLOATS)
sparse_segment_sqrt_n_op = _plain("SparseSegmentSqrtN", "sqrt_n", _FLOATS)
sparse_segment_sum_with_num_segments = _counted("SparseSegmentSum", "sum", _REAL)
sparse_segment_mean_with_num_segments = _counted("SparseSegmentMean", "mean", _FLOATS)
sparse_segment_sqrt_n_with_num_segments = _counted("SparseSegmentSqrtN", "sqrt_n", _FLOATS)
sparse_segment_mean_grad = _gradient("SparseSegmentMean", "mean")
sparse_segment_sqrt_n_grad = _gradient("SparseSegmentSqrtN", "sqrt_n")


def _check(context):
    data, indices, ids = context.shapes[:3]
    plain.with_rank_at_least(data, 1)
    plain.merged(plain.with_rank(indices, 1), plain.with_rank(ids, 1))


def _rows(context, index):
    """The output's number of rows, which is the value of an input."""
    plain.with_rank(context.shapes[index], 0)
    rows = context.value(index)
    if rows is not None and rows < 0:
        raise ShapeError(f"Cannot specify a negative value for {context.op_def.inputs[index].name}")
    return None if rows is None else int(rows)


@sparse_segment_sum_op.shape_rule
@sparse_segment_mean_op.shape_rule
@sparse_segment_sqrt_n_op.shape_rule
def _(context):
    _check(context)
    data = context.shapes[0]
    return None if data is None else (None, *data[1:])


@sparse_segment_sum_with_num_segments.shape_rule
@sparse_segment_mean_with_num_segments.shape_rule
@sparse_segment_sqrt_n_with_num_segments.shape_rule
@sparse_segment_mean_grad.shape_rule
@sparse_segment_sqrt_n_grad.shape_rule
def _(context):
    _check(context)
    rows, data = _rows(context, 3), context.shapes[0]
    return None if data is None else (rows, *data[1:])


# ---- Functions ----------------------------------------------------------------------------------------------


@public("sparse_segment_sum", "sparse.segment_sum")
def sparse_segment_sum(data, indices, segment_ids, name=None, num_segments=None):
    """Sums of the rows of `data` at `indices`, by segment; `segment_ids` must not decrease."""
    if num_segments is None:
        return sparse_segment_sum_op(data, indices, segment_ids, name=name)
    return sparse_segment_sum_with_num_segments(data, indices, segment_ids, num_segments, name=name)


@public("sparse_segment_mean", "sparse.segment_mean")
def sparse_segment_mean(data, indices, segment_ids, name=None, num_segments=None):
    """Means of the rows of `data` at `indices`, by segment; `segment_ids` must not decrease."""
    if num_segments is None:
        return sparse_segment_mean_op(data, indices, segment_ids, name=name)
    return sparse_segment_mean_with_num_segments(data, indices, segment_ids, num_segments, name=name)


@public("sparse_segment_sqrt_n", "sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None):
    """Sums of the rows of `data` at `indices` by segment, divided by the roots of their numbers."""
    if num_segments is None:
        return sparse_segment_sqrt_n_op(data, indices, segment_ids, name=name)
    return sparse_segment_sqrt_n_with_num_segments(data, indices, segment_ids, num_segments, name=name)


# ---- Gradients ----------------------------------------------------------------------------------------------


def _padded(op, gradients):
    return (*gradients, *[None] * (len(op._inputs) - len(gradients)))


@sparse_segment_sum_op.gradient
@sparse_segment_sum_with_num_segments.gradient
def _(op, grad):
    data, indices, ids = op._inputs[:3]
    rows = ops.shape(data)[0]
    return _padded(op, [ops.unsorted_segment_sum(ops.gather(grad, ids), indices, rows)])


def _scaled_gradient(grad_op):
    def gradient(op, grad):
        data, indices, ids = op._inputs[:3]
        rows = ops.shape(data)[0]
        return _padded(op, [grad_op(grad, indices, ids, rows)])

    return gradient


for _op in (sparse_segment_mean_op, sparse_segment_mean_with_num_segments):
    _op.gradient(_scaled_gradient(sparse_segment_mean_grad))
for _op in (sparse_segment_sqrt_n_op, sparse_segment_sqrt_n_with_num_segments):
    _op.gradient(_scaled_gradient(sparse_segment_sqrt_n_grad))
