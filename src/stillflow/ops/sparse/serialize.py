"""Sparse tensors as variants, which data sets hold, or as serialized TensorProto messages."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op


def _define(name, kernel, dims):
    op = define_op(
        f"{name}(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> (serialized_sparse: out_type)",
        "T: type; out_type: {string, variant} = string",
        kernel=f"{kernel}(sparse_indices, sparse_values, sparse_shape | out_type)",
        differentiable=None,
    )

    @op.shape_rule
    def _(context):
        for shape, rank in zip(context.shapes, (2, 1, 1), strict=True):
            plain.with_rank(shape, rank)
        return dims

    return op


serialize_sparse = _define("SerializeSparse", "serialize_sparse", (3,))
serialize_many_sparse = _define("SerializeManySparse", "serialize_many_sparse", (None, 3))

deserialize_sparse = define_op(
    "DeserializeSparse(serialized_sparse: Tserialized) -> "
    "(sparse_indices: int64, sparse_values: dtype, sparse_shape: int64)",
    "dtype: type; Tserialized: {string, variant} = string",
    kernel="deserialize_sparse(serialized_sparse | dtype)",
    differentiable=None,
)


@deserialize_sparse.shape_rule
def _(context):
    plain.with_rank_at_least(context.shapes[0], 1)
    return [(None, None), (None,), (None,)]


deserialize_many_sparse_op = define_op(
    "DeserializeManySparse(serialized_sparse: string) -> "
    "(sparse_indices: int64, sparse_values: dtype, sparse_shape: int64)",
    "dtype: type",
    kernel="deserialize_sparse(serialized_sparse | dtype)",
    differentiable=None,
)


@deserialize_many_sparse_op.shape_rule
def _(context):
    dims = plain.with_rank(context.shapes[0], 2)
    if dims[1] not in (3, None):
        raise ShapeError(f"Dimension must be 3 but is {dims[1]}")
    return [(None, None), (None,), (None,)]
