"""Ragged tensors: values one after the other, and splits that say where each row begins.

RaggedRange, RaggedGather, RaggedTensorToSparse, RaggedTensorToVariant, RaggedTensorFromVariant.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

ragged_range = define_op(
    "RaggedRange(starts: T, limits: T, deltas: T) -> (rt_nested_splits: Tsplits, rt_dense_values: T)",
    "T: {bfloat16, float32, float64, int32, int64} = int32; Tsplits: {int32, int64} = int64",
    kernel="ragged_range(starts, limits, deltas | Tsplits)",
    differentiable=False,
)
ragged_gather = define_op(
    "RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, "
    "indices: Tindices) -> (output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues)",
    "Tvalues: type; Tindices: {int32, int64}; Tsplits: {int32, int64} = int64; PARAMS_RAGGED_RANK: int >= 1; "
    "OUTPUT_RAGGED_RANK: int >= 0",
    kernel="ragged_gather(params_nested_splits, params_dense_values, indices)",
)
ragged_tensor_to_sparse = define_op(
    "RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T) -> "
    "(sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64)",
    "RAGGED_RANK: int >= 1; T: type; Tsplits: {int32, int64} = int64",
    kernel="ragged_tensor_to_sparse(rt_nested_splits, rt_dense_values)",
)
ragged_tensor_to_variant = define_op(
    "RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues) -> "
    "(encoded_ragged: variant)",
    "RAGGED_RANK: int >= 1; Tvalues: type; Tsplits: {int32, int64}; batched_input: bool",
    kernel="ragged_tensor_to_variant(rt_nested_splits, rt_dense_values | batched_input)",
    differentiable=False,
)
ragged_tensor_from_variant = define_op(
    "RaggedTensorFromVariant(encoded_ragged: variant) -> "
    "(output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues)",
    "input_ragged_rank: int >= -1; output_ragged_rank: int >= 1; Tvalues: type; Tsplits: {int32, int64}",
    kernel="ragged_tensor_from_variant(encoded_ragged | input_ragged_rank, output_ragged_rank, Tvalues, Tsplits)",
    differentiable=None,
)


@ragged_range.shape_rule
def _(context):
    rows = None
    for dims in context.shapes:
        plain.with_rank_at_most(dims, 1)
        if dims:
            rows = plain.merged_size(rows, dims[0])
    if all(dims == () for dims in context.shapes):
        rows = 1
    return [(None if rows is None else rows + 1,), (None,)]


def _check_nesting(splits):
    for dims in splits:
        plain.with_rank(dims, 1)


@ragged_gather.shape_rule
def _(context):
    *splits, values, indices = context.shapes
    output_rank = context.attrs["OUTPUT_RAGGED_RANK"]
    _check_nesting(splits)
    plain.with_rank_at_least(values, 1)
    if indices is not None and output_rank + 1 != len(splits) + len(indices):
        raise ShapeError("OUTPUT_RAGGED_RANK must be equal to PARAMS_RAGGED_RANK + rank(indices) - 1")
    return [(None,)] * output_rank + [None if values is None else (None, *values[1:])]


@ragged_gather.gradient
def _(op, *gradients):
    """Where each row comes from, the gradients of its values are summed."""
    *splits, values, indices = op.inputs
    borders = splits[0]
    for inner in splits[1:]:
        borders = ops.gather(inner, borders)
    flat = ops.reshape(indices, [-1])
    starts = ops.gather(borders, flat)
    limits = ops.gather(borders[1:], flat)
    _, rows = ops.ragged_range(starts, limits, ops.ones([], starts.dtype))
    gradient = IndexedSlices(gradients[-1], rows, ops.shape(values))
    return [None] * len(splits) + [gradient, None]


@ragged_tensor_to_sparse.shape_rule
def _(context):
    *splits, values = context.shapes
    _check_nesting(splits)
    plain.with_rank_at_least(values, 1)
    if values is None:
        return [(None, None), (None,), (None,)]
    count = None if None in values else 1
    for size in values if count is not None else ():
        count *= size
    rank = len(splits) + len(values)
    return [(count, rank), (count,), (rank,)]


@ragged_tensor_to_sparse.gradient
def _(op, _, gradient, __):
    values = op.inputs[-1]
    return [None] * (len(op.inputs) - 1) + [ops.reshape(gradient, ops.shape(values))]


@ragged_tensor_to_variant.shape_rule
def _(context):
    *splits, values = context.shapes
    _check_nesting(splits)
    plain.with_rank_at_least(values, 1)
    if not context.attrs["batched_input"]:
        return ()
    rows = splits[0] and splits[0][0]
    return (None if rows is None else rows - 1,)


@ragged_tensor_from_variant.shape_rule
def _(context):
    given, count = context.attrs["input_ragged_rank"], context.attrs["output_ragged_rank"]
    dims = context.shapes[0]
    if dims is not None and given >= 0:
        plain.with_rank(dims, count - given)
    return [(None,)] * count + [None]
