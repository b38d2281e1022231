"""tf.* and tf.math.*: sums, means, extrema and the like over some axes, and running sums."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import statistics
from stillflow.facade.arguments import renamed
from stillflow.graph import dtypes

__all__ = [
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
]


def _reduce(function, input_tensor, axis, keepdims, name, reduction_indices, keep_dims):
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return function(input_tensor, axis, bool(keepdims), name)


def reduce_sum(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Sums over `axis` (an integer or several), or over everything; `keepdims` leaves sizes of 1."""
    return _reduce(ops.reduce_sum, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_mean(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Means over `axis`, or over everything; of integers rounded towards zero."""
    return _reduce(ops.reduce_mean, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_prod(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Products over `axis`, or over everything."""
    return _reduce(ops.reduce_prod, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_max(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Largest elements along `axis`, or of everything."""
    return _reduce(ops.reduce_max, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_min(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Smallest elements along `axis`, or of everything."""
    return _reduce(ops.reduce_min, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_all(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Whether all elements along `axis`, or of everything, are true."""
    return _reduce(ops.reduce_all, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_any(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Whether any element along `axis`, or of everything, is true."""
    return _reduce(ops.reduce_any, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """log(sum(exp(x))) over `axis`, or over everything, without overflow."""
    return _reduce(statistics.reduce_logsumexp, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=dtypes.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
):
    """How many elements along `axis`, or of everything, are not zero, nor empty strings."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = renamed("input_tensor", input_tensor, "input", input)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    return statistics.count_nonzero(input_tensor, axis, keepdims, dtype, name)


def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the largest element along `axis` (0 by default); of equal ones, of the first."""
    return ops.argmax(input, renamed("axis", axis, "dimension", dimension), output_type, name)


def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the smallest element along `axis` (0 by default); of equal ones, of the first."""
    return ops.argmin(input, renamed("axis", axis, "dimension", dimension), output_type, name)


def arg_max(input, dimension, output_type=dtypes.int64, name=None):
    """The index of the largest element along `dimension`."""
    return ops.argmax(input, dimension, output_type, name)


def arg_min(input, dimension, output_type=dtypes.int64, name=None):
    """The index of the smallest element along `dimension`."""
    return ops.argmin(input, dimension, output_type, name)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along an axis: [a, b, c] -> [a, a + b, a + b + c].

    Args:
      exclusive: whether each sum leaves its own element out.
      reverse: whether to begin at the end.
    """
    return ops.cumsum(x, axis, exclusive, reverse, name)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running products along an axis; see `cumsum`."""
    return ops.cumprod(x, axis, exclusive, reverse, name)


# ---- tf.math alone ----------------------------------------------------------------------------------------


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """Roots of the sums of squares over `axis`, or over everything. Has no gradient."""
    return ops.reduce_euclidean_norm(input_tensor, axis, keepdims, name)


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """Variances over `axis`, or over everything."""
    return statistics.reduce_variance(input_tensor, axis, keepdims, name)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """Standard deviations over `axis`, or over everything."""
    return statistics.reduce_std(input_tensor, axis, keepdims, name)


def zero_fraction(value, name=None):
    """The fraction of elements that are zero, a float32 scalar; NaN if there are none."""
    return statistics.zero_fraction(value, name)
