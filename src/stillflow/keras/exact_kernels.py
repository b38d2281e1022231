"""Kernels of pairs of vectors, exactly: what random features approximate."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _rows(x):
    x = convert_to_tensor(x)
    rank = x.shape.rank
    if rank not in (1, 2):
        raise ValueError(f"The input tensor should have rank 1 or 2. Given rank: {rank}")
    return ops.expand_dims(x, 0) if rank == 1 else x


def _pairs(x, y):
    """The rows of both, with an axis for those of the other."""
    x, y = _rows(x), _rows(y)
    widths = x.shape.dims[1], y.shape.dims[1]
    if not widths[0].is_compatible_with(widths[1]):
        raise ValueError(
            f"The outermost dimensions of the input tensors should match. Given: {widths[1]} vs {widths[0]}."
        )
    return ops.expand_dims(x, 1), ops.expand_dims(y, 0)


@public("python.keras.utils.kernelized_utils.inner_product")
def inner_product(u, v):
    """The products of rows: [m, n] of [m, size] and [n, size]; a vector is one row."""
    return ops.matmul(_rows(u), _rows(v), transpose_b=True)


@public("python.keras.utils.kernelized_utils.exact_gaussian_kernel")
def exact_gaussian_kernel(x, y, stddev):
    """exp(-|u - v|^2 / (2 stddev^2)) of rows u of x and v of y, with the Euclidean norm.

    Args:
      x, y: [m, size] and [n, size]; a vector is one row.
      stddev: the width.

    Returns:
      [m, n].

    Raises:
      ValueError: for rows of different sizes, and for tensors of another rank.
    """
    u, v = _pairs(x, y)
    return ops.exp(-ops.reduce_sum(ops.squared_difference(u, v), 2) / (2 * stddev * stddev))


@public("python.keras.utils.kernelized_utils.exact_laplacian_kernel")
def exact_laplacian_kernel(x, y, stddev):
    """exp(-|u - v| / stddev) of rows, as in `exact_gaussian_kernel`, with the sum of absolute values as norm."""
    u, v = _pairs(x, y)
    return ops.exp(-ops.reduce_sum(ops.abs(u - v), 2) / stddev)
