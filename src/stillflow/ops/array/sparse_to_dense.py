"""SparseToDense: an array of one value everywhere but at some places."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

sparse_to_dense_op = define_op(
    "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) -> "
    "(dense: T)",
    "validate_indices: bool = true; T: type; Tindices: {int32, int64}",
    kernel="sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value | validate_indices)",
)


@sparse_to_dense_op.shape_rule
def _(context):
    return plain.spelled(context, 1)


@sparse_to_dense_op.gradient
def _(op, grad):
    """The values' gradients are picked from their places; the default's is what is left."""
    places, shape = op._inputs[:2]
    picked = ops.gather_nd(grad, places)
    rest = ops.reduce_sum(grad) - ops.reduce_sum(picked)
    return ops.zeros_like(places), ops.zeros_like(shape), picked, rest


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """An array of `output_shape` with `sparse_values` at `sparse_indices` and `default_value` elsewhere."""
    return sparse_to_dense_op(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name
    )
