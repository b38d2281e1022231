"""Covariance matrices that are made of any numbers."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.layers.dense import fully_connected
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros

# How far off the diagonal numbers of a new covariance are.
_LOG_OFF_DIAGONAL = -5.0


@public("contrib.timeseries.python.timeseries.math_utils.clip_covariance")
def clip_covariance(covariance_matrix, maximum_variance_ratio, minimum_variance):
    """Matrices [..., size, size] whose diagonals are raised to `minimum_variance`, and to a part of the greatest."""
    diagonal = ops.matrix_diag_part(covariance_matrix)
    greatest = ops.reduce_max(diagonal, axis=-1, keepdims=True)
    raised = ops.maximum(diagonal, greatest / maximum_variance_ratio)
    return ops.matrix_set_diag(covariance_matrix, ops.maximum(raised, minimum_variance))


@public("contrib.timeseries.python.timeseries.math_utils.sign_magnitude_positive_definite")
def sign_magnitude_positive_definite(raw, off_diagonal_scale=0.0, overall_scale=0.0):
    """Positive definite matrices [..., size, size] of any numbers.

    What is above the diagonal of `raw` makes the magnitudes, what is below the signs of a Cholesky factor.

    Args:
      raw: [..., size, size].
      off_diagonal_scale: the logarithm of a factor for what is not on the diagonal, [...] or a number.
      overall_scale: that of a factor for all, [...] or a number.
    """
    raw = convert_to_tensor(raw)
    diagonal = ops.matrix_diag_part(raw)

    def padded(tensor, rank):
        tensor = convert_to_tensor(tensor, dtype=raw.dtype.base_dtype)
        shape = ops.shape(tensor)
        ones = ops.ones([rank - ops.rank(tensor)], dtype=rank.dtype)
        return ops.reshape(tensor, ops.concat([shape, ones], axis=0))

    exponent = raw + padded(off_diagonal_scale, ops.rank(raw)) + padded(overall_scale, ops.rank(raw))
    magnitudes = ops.exp(exponent / 2.0) * ops.softsign(ops.matrix_transpose(raw))
    magnitudes.set_shape(raw.shape)
    factor = ops.matrix_set_diag(
        ops.matrix_band_part(magnitudes, 0, -1),
        ops.exp((diagonal + padded(overall_scale, ops.rank(diagonal))) / 2.0),
    )
    return ops.matmul(factor, factor, transpose_a=True)


@public("contrib.timeseries.python.timeseries.math_utils.transform_to_covariance_matrices")
def transform_to_covariance_matrices(input_vectors, matrix_size):
    """Covariance matrices [..., matrix_size, matrix_size] that a layer makes of vectors [..., size]."""
    values = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    return sign_magnitude_positive_definite(
        raw=ops.reshape(values[..., :-2], ops.concat([ops.shape(values)[:-1], [matrix_size, matrix_size]], 0)),
        off_diagonal_scale=values[..., -2],
        overall_scale=values[..., -1],
    )


@public("contrib.timeseries.python.timeseries.math_utils.variable_covariance_matrix")
def variable_covariance_matrix(size, name, dtype, initial_diagonal_values=None, initial_overall_scale_log=0.0):
    """A covariance [size, size] of variables, nearly diagonal at first.

    Args:
      size: the size.
      name: what the names of variables begin with.
      dtype: their type.
      initial_diagonal_values: the diagonal, [size], or None for ones.
      initial_overall_scale_log: the logarithm of a factor.
    """
    raw = get_variable(f"{name}_pre_transform", dtype=dtype, shape=[size, size], initializer=Zeros())
    if initial_diagonal_values is not None:
        raw += ops.matrix_diag(ops.log(initial_diagonal_values))
    off_diagonal = get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=constant(_LOG_OFF_DIAGONAL, dtype=dtype)
    )
    overall = convert_to_tensor(initial_overall_scale_log, dtype=dtype) + get_variable(
        f"{name}_overall_scale", dtype=dtype, shape=[], initializer=Zeros()
    )
    matrix = sign_magnitude_positive_definite(raw, off_diagonal_scale=off_diagonal, overall_scale=overall)
    return ops.identity(matrix, name=name)
