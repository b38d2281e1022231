"""Rows and values of ragged tensors picked by indices."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.repeat import repeat
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ragged.arrays import expand_dims, tile
from stillflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)


def _converted(params, indices):
    params = convert_to_tensor_or_ragged_tensor(params, name="params")
    indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    return match_row_splits_dtypes(params, indices)


@public("python.ops.ragged.ragged_gather_ops.gather")
def gather(params, indices, validate_indices=None, axis=0, batch_dims=0, name=None):
    """The rows params[i] for each i in `indices`, a tensor or ragged tensor of integers.

    Raises ValueError for an axis or batch dimensions other than 0, and indices of unknown rank.
    """
    if not isinstance(axis, int) or axis != 0:
        raise ValueError("axis != 0 is not supported for ragged gather yet.")
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = _converted(params, indices)
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return ops.gather(params, indices)
        rank = indices.shape.rank
        if rank is None:
            raise ValueError("indices.shape.ndims must be known statically")
        splits = list(params.nested_row_splits)
        out_splits, values = ops.ragged_gather(
            indices=indices,
            params_dense_values=params.flat_values,
            params_nested_splits=splits,
            OUTPUT_RAGGED_RANK=rank + len(splits) - 1,
        )
        return RaggedTensor.from_nested_row_splits(values, out_splits, validate=False)


@public("python.ops.ragged.ragged_gather_ops.gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None):
    """What tuples of indices name: params[i, j, ...] for each (i, j, ...) in the last dimension of `indices`.

    Raises ValueError for batch dimensions, and indices whose rank or last size is not known.
    """
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if not (is_ragged(params) or is_ragged(indices)):
        return ops.gather_nd(params, indices, name)
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = _converted(params, indices)
        rank, size = _checked_tuples(indices)
        if rank > 2:
            return _gather_nd_of_many(params, indices, rank)
        if size == 0:
            return _repeated(params, indices, rank)
        if size == 1:
            return gather(params, ops.reshape(indices, [-1]))
        return _gather_tuples(params, ops.cast(indices, params.row_splits.dtype), size)


def _checked_tuples(indices):
    shape = indices.shape
    if shape.rank is None:
        raise ValueError("indices.rank be statically known.")
    if shape.rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if isinstance(indices, RaggedTensor) and shape.rank == indices.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    size = dimension_value(shape[-1])
    if size is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    return shape.rank, size


def _gather_nd_of_many(params, indices, rank):
    is_dense = not isinstance(indices, RaggedTensor)
    if is_dense:
        indices = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=params.row_splits.dtype)
    result = indices.with_flat_values(gather_nd(params, indices.flat_values))
    if is_dense and isinstance(result, RaggedTensor) and result.ragged_rank == rank - 2:
        result = result.to_tensor()
    return result


def _repeated(params, indices, rank):
    """All of `params` for each empty tuple."""
    params_rank = params.ragged_rank + ops.rank(params.flat_values)
    for _ in range(rank - 1):
        params = expand_dims(params, axis=0)
    ones = ops.ones([params_rank], dtypes.int32)
    return tile(params, ops.concat([ops.shape(indices)[:-1], ones], axis=0))


def _gather_tuples(params, indices, size):
    """Finds the place of each tuple in the values of one ragged dimension after the other."""
    places = ops.gather(params.row_splits, indices[..., 0]) + indices[..., 1]
    values = params.values
    for dim in range(2, size):
        if not isinstance(values, RaggedTensor):
            rest = ops.concat([ops.expand_dims(places, axis=1), indices[..., dim:]], axis=1)
            return ops.gather_nd(values, rest)
        places = ops.gather(values.row_starts(), places) + indices[..., dim]
        values = values.values
    return gather(values, places)


@public("python.ops.ragged.ragged_batch_gather_ops.batch_gather")
def batch_gather(params, indices, name=None):
    """params[i, ..., indices[i, ..., j]] for each i: rows are picked from rows of the same batch.

    Raises ValueError for indices of unknown rank, scalars, and batches that do not fit.
    """
    if not (is_ragged(params) or is_ragged(indices)):
        return ops.batch_gather(params, indices, name)
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = _converted(params, indices)
        rank = indices.shape.rank
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if isinstance(indices, RaggedTensor):
            return _batch_gather_ragged(params, indices, rank)
        if rank == 1:
            return gather(params, indices)
        if rank == 2:
            starts = ops.expand_dims(params.row_starts(), 1)
            return gather(params.values, ops.cast(indices, starts.dtype) + starts)
        raise ValueError("batch shape from indices does not match params shape")


def _batch_gather_ragged(params, indices, rank):
    is_dense = not isinstance(params, RaggedTensor)
    if is_dense and (rank > 2 or (params.shape.rank is not None and params.shape.rank < 2)):
        raise ValueError("batch shape from indices does not match params shape")
    if rank > 2:
        check = checks.assert_equal(params.row_splits, indices.row_splits)
        with get_default_graph().control_dependencies([check]):
            values = batch_gather(params.values, indices.values)
            return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)
    if is_dense:
        params = RaggedTensor.from_tensor(params, ragged_rank=1, row_splits_dtype=indices.row_splits.dtype)
    starts = repeat(params.row_starts(), indices.row_lengths(), axis=0)
    values = gather(params.values, ops.cast(indices.values, starts.dtype) + starts)
    return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)
