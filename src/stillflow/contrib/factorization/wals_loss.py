"""The loss of WALSModel, without a product of all rows and columns: a sparse part and one of Gramians."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.ops.sparse_tensor import SparseTensor


def losses(
    entries, left, right, gramian, row_weights, col_weights, num_rows, total_rows, total_cols, unobserved_weight,
    regularization,
):  # fmt: skip
    """(loss without regularization, regularization, sum of weights) for all rows, as some of them tell.

    Args:
      entries: a SparseTensor [rows, columns] of what is there of the matrix.
      left, right: the factors of these rows and columns.
      gramian: right' right of all columns.
      row_weights, col_weights: vectors of weights, or None.
      num_rows, total_rows, total_cols: how many rows these are, and how many rows and columns there are.
    """
    approximations = ops.masked_matmul(left, right, entries.indices, transpose_a=False, transpose_b=True)
    approximation = SparseTensor(entries.indices, approximations, entries.dense_shape)
    approximation_squared = ops.square(approximation)
    residual = ops.sparse_add(entries, approximation * (-1))  # type: ignore[operator]
    residual_squared = ops.square(residual)
    rows = ops.constant(0.0) if row_weights is None else ops.expand_dims(row_weights, 1)
    columns = ops.constant(0.0) if col_weights is None else ops.expand_dims(col_weights, 0)
    partial_gramian = ops.matmul(left, left, transpose_a=True)
    scale = total_rows / ops.cast(num_rows, dtypes.float32)
    unobserved = unobserved_weight * (
        ops.sparse_reduce_sum(residual_squared)
        - ops.sparse_reduce_sum(approximation_squared)
        + ops.trace(ops.matmul(partial_gramian, gramian))
    )
    observed = ops.sparse_reduce_sum(rows * (residual_squared * columns))
    loss = (unobserved + observed) * scale
    if regularization is not None:
        regularizer = regularization * (ops.trace(partial_gramian) * scale + ops.trace(gramian))
    else:
        regularizer = ops.constant(0.0)
    sum_weights = unobserved_weight * ops.cast(total_rows * total_cols, dtypes.float32)
    if row_weights is not None and col_weights is not None:
        ones = ops.ones(ops.shape(entries.values))
        ones = SparseTensor(indices=entries.indices, values=ones, dense_shape=entries.dense_shape)
        sum_weights += ops.sparse_reduce_sum(rows * (ones * columns)) * scale
    return loss, regularizer, sum_weights
