"""tensorflow.python.data.util.sparse: sparse tensors among the components of elements."""

from __future__ import annotations

from stillflow.composites.sparse_serialization import deserialize_sparse, serialize_many_sparse, serialize_sparse
from stillflow.datasets import nest
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public_module
from stillflow.ops.sparse_tensor import SparseTensor, is_sparse

public_module("python.data.util.sparse")


def any_sparse(classes):
    """Whether one of the classes is SparseTensor."""
    return any(kind is SparseTensor for kind in nest.flatten(classes))


def as_dense_shapes(shapes, classes):
    """The shapes, unknown ones where classes are SparseTensor."""
    pairs = zip(nest.flatten(shapes), nest.flatten(classes), strict=True)
    found = [TensorShape(None) if kind is SparseTensor else shape for shape, kind in pairs]
    return nest.pack_sequence_as(shapes, found)


def as_dense_types(types, classes):
    """The types, that of variants where classes are SparseTensor."""
    pairs = zip(nest.flatten(types), nest.flatten(classes), strict=True)
    found = [dtypes.variant if kind is SparseTensor else dtype for dtype, kind in pairs]
    return nest.pack_sequence_as(types, found)


def get_classes(tensors):
    """SparseTensor or Tensor for each component."""
    kinds = [SparseTensor if isinstance(tensor, SparseTensor) else Tensor for tensor in nest.flatten(tensors)]
    return nest.pack_sequence_as(tensors, kinds)


def serialize_sparse_tensors(tensors):
    """The components, sparse ones as vectors of three variants."""
    return nest.map_structure(
        lambda tensor: serialize_sparse(tensor, out_type=dtypes.variant) if is_sparse(tensor) else tensor, tensors
    )


def serialize_many_sparse_tensors(tensors):
    """The components, sparse ones as matrices of three variants for each row."""
    return nest.map_structure(
        lambda tensor: serialize_many_sparse(tensor, out_type=dtypes.variant) if is_sparse(tensor) else tensor,
        tensors,
    )


def deserialize_sparse_tensors(tensors, types, shapes, classes):
    """What was serialized, where classes are SparseTensor."""
    parts = zip(*map(nest.flatten, (tensors, types, shapes, classes)), strict=True)
    found = [
        deserialize_sparse(tensor, dtype=dtype, rank=shape.rank) if kind is SparseTensor else tensor
        for tensor, dtype, shape, kind in parts
    ]
    return nest.pack_sequence_as(types, found)
