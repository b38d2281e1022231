"""Labels of several classes in a dense tensor, as SparseTensors."""

from __future__ import annotations

import numbers

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor


def _ignored(dtype, ignore_value):
    """The value that stands for nothing, by default "" of strings and 0 of numbers, as a tensor."""
    if ignore_value is None:
        ignore_value = "" if dtype == dtypes.string else dtype.as_numpy_dtype()
    return ops.cast(ignore_value, dtype, name="ignore_value")


@public("contrib.layers.python.ops.sparse_ops.dense_to_sparse_tensor")
def dense_to_sparse_tensor(dense_tensor, ignore_value=None):
    """A SparseTensor of what is not `ignore_value`; by default not "" of strings, not 0 of numbers."""
    with name_scope("DenseToSparseTensor"):
        dense = convert_to_tensor(dense_tensor)
        places = ops.where(ops.not_equal(dense, _ignored(dense.dtype, ignore_value)), name="indices")
        values = ops.gather_nd(dense, places, name="values")
        return SparseTensor(places, values, ops.shape(dense, out_type=dtypes.int64, name="dense_shape"))


@public("contrib.layers.python.ops.sparse_ops.indicators_to_sparse_ids")
def indicators_to_sparse_ids(indicators, ignore_value=None, dtype=dtypes.int64):
    """The classes that each row of indicators names, in order, as a SparseTensor.

    Args:
      indicators: [..., classes]; the places along the last axis of what is not `ignore_value` are returned.
      ignore_value: what says that a class is not there; by default "" of strings, 0 of numbers.
      dtype: the integer type of the result.

    Returns a SparseTensor [..., longest row].

    Raises ValueError for a dtype that is not an integer type.
    """
    if not dtype.is_integer:
        raise ValueError(f"Invalid dtype {dtype} not integer.")
    with name_scope(None, "indicators_to_sparse_ids", (indicators, ignore_value)):
        indicators = convert_to_tensor(indicators, name="indicators")
        is_missing = ops.equal(indicators, _ignored(indicators.dtype, ignore_value), name="missing")
        zeros = ops.zeros_like(indicators, dtype=dtypes.int64, name="zeros")
        ones = ops.ones_like(indicators, dtype=dtypes.int64, name="ones")
        ones = ops.where(is_missing, zeros, ones, name="binary_indicators")
        # Columns of the result, counted from 1: 0 is what is missing.
        columns = ops.where(is_missing, zeros, ops.cumsum(ones, axis=-1), name="row_index_indicators")
        width = ops.reshape(ops.reduce_max(columns), shape=(1,), name="result_last_dim")
        found = dense_to_sparse_tensor(columns, ignore_value=0)
        # A place's last index is the class, its value the column: they change places.
        row = found.indices[:, :-1]
        column = ops.reshape(found.values - 1, (-1, 1))
        return SparseTensor(
            ops.concat((row, column), axis=1, name="indices"),
            ops.cast(found.indices[:, -1], dtype, name="values"),
            ops.concat((found.dense_shape[0:-1], width), axis=0, name="dense_shape"),
        )


@public("contrib.layers.python.ops.sparse_ops.sparse_row_envelope")
def sparse_row_envelope(sparse_input, row_axis=0, col_axis=1, name=None):
    """How long each row of a SparseTensor is: its last column plus 1, or 0 for a row without values.

    Args:
      sparse_input: a SparseTensor, at least a matrix.
      row_axis, col_axis: ints, which axes are the rows and the columns.
      name: the scope of the new nodes.

    Returns an int64 vector.

    Raises ValueError unless the axes are two different ints.
    """
    if not (isinstance(row_axis, numbers.Integral) and isinstance(col_axis, numbers.Integral)):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows = sparse_input.indices[:, row_axis]
        columns = sparse_input.indices[:, col_axis]
        count = ops.cast(sparse_input.dense_shape[row_axis], dtypes.int32)
        lengths = ops.unsorted_segment_max(columns + 1, rows, count, name=name)
        zeros = ops.zeros_like(lengths)
        return ops.where(lengths > zeros, lengths, zeros)
