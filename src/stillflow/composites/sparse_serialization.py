"""Sparse tensors as strings, and back."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor


@public("serialize_sparse", "io.serialize_sparse")
def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """A sparse tensor as three serialized TensorProto messages, or three variants: indices, values and shape.

    Args:
      sp_input: a SparseTensor or SparseTensorValue.
      out_type: tf.string or tf.variant.

    Returns:
      [3] of `out_type`.
    """
    x = as_sparse_tensor(sp_input)
    return ops.serialize_sparse(x.indices, x.values, x.dense_shape, name=name, out_type=out_type)


@public("serialize_many_sparse", "io.serialize_many_sparse")
def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """serialize_sparse of each row of a sparse tensor of rank 2 or more: [rows, 3] of `out_type`.

    Raises InvalidArgumentError at run time for another rank, or entries that are not in order of rows.
    """
    x = as_sparse_tensor(sp_input)
    return ops.serialize_many_sparse(x.indices, x.values, x.dense_shape, name=name, out_type=out_type)


@public("python.ops.sparse_ops.deserialize_sparse")
def deserialize_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The SparseTensor of which serialized ones, [..., 3], are the parts along the dimensions in front.

    Args:
      dtype: the type of its values.
      rank: how many dimensions it has, if that is known.

    Raises InvalidArgumentError at run time for strings that are none, or of another type.
    """
    return _of_rank(ops.deserialize_sparse(serialized_sparse, dtype, name=name), rank)


@public("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The SparseTensor whose rows are serialized in strings [rows, 3]; see deserialize_sparse."""
    return _of_rank(ops.deserialize_many_sparse_op(serialized_sparse, dtype, name=name), rank)


def _of_rank(parts, rank):
    indices, values, shape = parts
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
