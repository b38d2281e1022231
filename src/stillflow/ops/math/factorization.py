"""Ops of weighted alternating least squares."""

from __future__ import annotations

from stillflow.ops.registry import define_op

masked_matmul = define_op(
    "MaskedMatmul(a: float32, b: float32, mask_indices: int64, transpose_a: bool, transpose_b: bool) -> "
    "(prod_values: float32)",
    kernel="masked_matmul(a, b, mask_indices, transpose_a, transpose_b)",
    public="contrib.factorization.python.ops.gen_factorization_ops.masked_matmul",
    differentiable=False,
)
wals_compute_partial_lhs_and_rhs = define_op(
    "WALSComputePartialLhsAndRhs(factors: float32, factor_weights: float32, unobserved_weights: float32, "
    "input_weights: float32, input_indices: int64, input_values: float32, entry_weights: float32, "
    "input_block_size: int64, input_is_transpose: bool) -> (partial_lhs: float32, partial_rhs: float32)",
    kernel="wals_compute_partial_lhs_and_rhs(factors, factor_weights, unobserved_weights, input_weights, "
    "input_indices, input_values, entry_weights, input_block_size, input_is_transpose)",
    public="contrib.factorization.python.ops.gen_factorization_ops.wals_compute_partial_lhs_and_rhs",
    differentiable=False,
)


@masked_matmul.shape_rule
@wals_compute_partial_lhs_and_rhs.shape_rule
def _(context):
    """TensorFlow infers no shape here either."""
    return
