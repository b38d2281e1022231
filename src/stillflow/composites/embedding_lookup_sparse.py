"""embedding_lookup_sparse: rows of a table by lists of numbers, the rows of each list combined into one."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.composites.embedding_lookup import as_parts, embedding_lookup
from stillflow.composites.sparse import sparse_retain
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value, unknown_shape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.variables.resource_variable import is_resource_variable

_COMBINERS = ("mean", "sqrtn", "sum")


@public(
    "nn.embedding_lookup_sparse",
    "contrib.slim.embedding_lookup_sparse_with_distributed_aggregation",
    "contrib.layers.python.layers.embedding_ops.embedding_lookup_sparse_with_distributed_aggregation",
)
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None, max_norm=None
):
    """For each row of `sp_ids` the rows of a table that it lists, combined into one.

    Args:
      params: the table, or a list of its parts, as for `embedding_lookup`.
      sp_ids: a SparseTensor of integers, [n, any]; rows must be in order, and none but the last may be empty.
      sp_weights: a SparseTensor of the same entries with their weights, or None for weights of 1.
      partition_strategy: "mod" or "div".
      combiner: "sum", "mean" (divided by the sum of the weights; None too) or "sqrtn" (by the root of the sum
        of their squares).
      max_norm: the largest norm of a row of the table; longer ones are scaled down.

    Raises:
      TypeError: if `sp_ids` or `sp_weights` is no SparseTensor.
      ValueError: for another combiner, or weights that are not at the same places.
    """
    if combiner is None:
        logging.getLogger("tensorflow").warning(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = as_parts(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)
        sp_ids.indices.shape.assert_is_compatible_with(sp_weights.indices.shape)
        sp_ids.dense_shape.shape.assert_is_compatible_with(sp_weights.dense_shape.shape)
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as scope:
        segments = ops.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, places = ops.unique(sp_ids.values)
        rows = embedding_lookup(params, ids, partition_strategy, max_norm=max_norm)
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = ops.cast(rows, dtypes.float32)
        if sp_weights is not None:
            return _weighted(rows, places, segments, sp_weights.values, combiner, scope)
        combine = {
            "sum": ops.sparse_segment_sum,
            "mean": ops.sparse_segment_mean,
            "sqrtn": ops.sparse_segment_sqrt_n,
        }
        return combine[combiner](rows, places, segments, name=scope)


def _weighted(rows, places, segments, weights, combiner, scope):
    """Sums of rows times weights, divided by the sum of the weights or by the root of that of their squares."""
    if weights.dtype is not rows.dtype:
        weights = ops.cast(weights, rows.dtype)
    rows = ops.gather(rows, places)
    ones = ops.fill(ops.expand_dims(ops.rank(rows) - 1, 0), 1)
    broadcast_shape = ops.concat([ops.shape(weights), ones], 0)
    known = weights.shape
    weights = ops.reshape(weights, broadcast_shape)
    if rows.shape.rank is not None:
        weights.set_shape(known.concatenate(TensorShape([1] * (rows.shape.rank - 1))))
    rows = rows * weights
    if combiner == "sum":
        return ops.segment_sum(rows, segments, name=scope)
    total = ops.segment_sum(rows, segments)
    if combiner == "mean":
        return ops.div(total, ops.segment_sum(weights, segments), name=scope)
    squares = ops.segment_sum(ops.pow(weights, 2), segments)
    return ops.div(total, ops.sqrt(squares), name=scope)


# ---- With ids and rows that are missing -------------------------------------------------------------------------


@public("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
):
    """`embedding_lookup_sparse` without negative ids and without weights that are not positive.

    A row without ids gets the row `default_id` of the table, or zeros if that is None. `sparse_ids` may have more
    than two dimensions; the result has all but its last, and then those of a row.

    Raises ValueError without a table.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    tables = as_parts(embedding_weights)
    if not tables:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = [
        table if is_resource_variable(table) and dtype in (None, table.dtype) else convert_to_tensor(table, dtype)
        for table in tables
    ]
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        known_rank = dimension_value(shape.shape[0])
        rank = ops.size(shape) if known_rank is None else known_rank
        row_count = ops.reduce_prod(ops.slice(shape, [0], [rank - 1]))
        sparse_ids = ops.sparse_reshape(sparse_ids, [row_count, ops.gather(shape, rank - 1)])
        if sparse_weights is not None:
            sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _valid(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = ops.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = ops.sparse_fill_empty_rows(sparse_weights, 1.0)
        rows = embedding_lookup_sparse(
            tables,
            sparse_ids,
            sparse_weights,
            partition_strategy,
            None if default_id is None else scope,
            combiner,
            max_norm,
        )
        if default_id is None:
            is_empty = ops.reshape(is_empty, [-1, 1])
            is_empty = ops.tile(is_empty, ops.stack([1, ops.shape(rows)[1]]))
            rows = ops.where(is_empty, ops.zeros_like(rows), rows, name=scope)
        outer = ops.slice(ops.cast(shape, dtypes.int32), [0], [rank - 1])
        result = ops.reshape(rows, ops.concat([outer, ops.slice(ops.shape(rows), [1], [-1])], 0))
        outer_dims = unknown_shape(None if known_rank is None else known_rank - 1)
        result.set_shape(outer_dims.concatenate(rows.shape[1:]))
        return result


def _valid(ids, weights, combiner):
    """The entries with an id that is not negative, and a weight that is positive unless weights are summed."""
    is_valid = ops.greater_equal(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, is_valid), None
    is_valid = ops.logical_and(is_valid, ops.ones_like(weights.values, dtype=dtypes.bool_))
    ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    if combiner != "sum":
        is_valid = ops.greater(weights.values, 0)
        ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    return ids, weights
