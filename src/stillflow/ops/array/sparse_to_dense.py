"""SparseToDense: an array of one value everywhere but at some places."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
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


@public("sparse_to_dense")
def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """An array of one value everywhere but at some places.

    Args:
      sparse_indices: int32 or int64: the places, [n, rank], or [n] or a scalar if the output is a vector.
      output_shape: the output's shape, a vector of the same type.
      sparse_values: the values there, [n] or a scalar.
      default_value: the value elsewhere, a scalar of the same type.
      validate_indices: whether the places must be in order and different.

    Raises:
      InvalidArgumentError: when run, if a place is outside of the output, or out of order.
    """
    return sparse_to_dense_op(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name
    )
