"""Sparse tensors as strings, and back."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation
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


# ---- Kept in the session under numbers ----------------------------------------------------------------------------


@public("python.ops.sparse_ops._add_sparse_to_tensors_map")
def add_sparse_to_tensors_map(sp_input, container=None, shared_name=None, name=None):
    """The number, int64, under which the session keeps a sparse tensor."""
    x = as_sparse_tensor(sp_input)
    return ops.add_sparse_to_tensors_map(
        x.indices, x.values, x.dense_shape, container=container or "", shared_name=shared_name or "", name=name
    )


@public("python.ops.sparse_ops._add_many_sparse_to_tensors_map")
def add_many_sparse_to_tensors_map(sp_input, container=None, shared_name=None, name=None):
    """The numbers, int64 [rows], under which the session keeps the rows of a sparse tensor."""
    x = as_sparse_tensor(sp_input)
    return ops.add_many_sparse_to_tensors_map(
        x.indices, x.values, x.dense_shape, container=container or "", shared_name=shared_name or "", name=name
    )


@public("python.ops.sparse_ops._take_many_sparse_from_tensors_map")
def take_many_sparse_from_tensors_map(sparse_map_op, sparse_handles, rank=None, name=None):
    """The sparse tensors of these numbers, which the operation `sparse_map_op` gave, as rows of one.

    Raises TypeError if that is no operation which gives such numbers.
    """
    if not isinstance(sparse_map_op, Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, found "
            f"`{sparse_map_op.type}`."
        )
    with get_default_graph().colocate_with(sparse_map_op):
        indices, values, shape = ops.take_many_sparse_from_tensors_map(
            sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=sparse_map_op.get_attr("shared_name") or sparse_map_op.name,
            name=name,
        )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
