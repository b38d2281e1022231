"""Functions that distributions are made of: tf.contrib.distributions.softplus_inverse, fill_triangular and others."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.softplus_inverse")
def softplus_inverse(x, name=None):
    """The y for which softplus(y) is x: x + log(1 - exp(-x)), without loss near 0 and far from it."""
    with name_scope(name, "softplus_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        is_too_small = ops.less(x, np.exp(threshold))
        is_too_large = ops.greater(x, -threshold)
        too_small_value, too_large_value = ops.log(x), x
        # Where one of these is used, no NaN may come out of the formula, nor of its gradient.
        safe = ops.where(ops.logical_or(is_too_small, is_too_large), ops.ones_like(x), x)
        y = safe + ops.log(-ops.expm1(-safe))
        return ops.where(is_too_small, too_small_value, ops.where(is_too_large, too_large_value, y))


@public("contrib.distributions.reduce_weighted_logsumexp")
def reduce_weighted_logsumexp(logx, w=None, axis=None, keep_dims=False, return_sign=False, name=None):
    """log(abs(sum(w exp(logx)))), along dimensions.

    Args:
      w: weights, which may be negative; 1 if they are not given.
      keep_dims: whether the dimensions stay, of size 1.
      return_sign: whether the sign of the sum is returned as well.
    """
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            total = reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (total, ops.ones_like(total)) if return_sign else total
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        log_terms = logx + ops.log(ops.abs(w))
        largest = ops.reduce_max(log_terms, axis, keepdims=True)
        largest = ops.stop_gradient(ops.where(ops.is_inf(largest), ops.zeros_like(largest), largest))
        terms = ops.sign(w) * ops.exp(log_terms - largest)
        total = ops.reduce_sum(terms, axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = ops.squeeze(largest, axis)
        log_total = largest + ops.log(ops.abs(total))
        return (log_total, ops.sign(total)) if return_sign else log_total


@public("contrib.distributions.fill_triangular")
def fill_triangular(x, upper=False, name=None):
    """Vectors of n (n + 1) / 2 numbers as triangular n x n matrices, filled as by a clock turning round the middle.

    Raises ValueError for another number of them.
    """
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        m = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if m is None:
            m = ops.shape(x)[-1]
            n = ops.cast(ops.sqrt(0.25 + ops.cast(2 * m, dtypes.float32)), dtypes.int32)
            static_shape = x.shape.with_rank_at_least(1)[:-1].concatenate([None, None])
        else:
            root = np.sqrt(0.25 + 2.0 * m) - 0.5
            if root != np.floor(root):
                raise ValueError(f"Input right-most shape ({m}) does not correspond to a triangular matrix.")
            n = int(root)
            static_shape = x.shape[:-1].concatenate([n, n])
        if upper:
            parts = [x, ops.reverse_v2(x[..., n:], axis=[-1])]
        else:
            parts = [x[..., n:], ops.reverse_v2(x, axis=[-1])]
        shape = ops.concat([ops.shape(x)[:-1], [n, n]], axis=0)
        square = ops.reshape(ops.concat(parts, axis=-1), shape)
        found = ops.matrix_band_part(square, num_lower=0 if upper else -1, num_upper=-1 if upper else 0)
        found.set_shape(static_shape)
        return found


@public("contrib.distributions.fill_triangular_inverse")
def fill_triangular_inverse(x, upper=False, name=None):
    """The vectors that `fill_triangular` makes triangular matrices of."""
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        n = dimension_value(x.shape.with_rank_at_least(2)[-1])
        if n is None:
            n = ops.shape(x)[-1]
            m = n * (n + 1) // 2
            static_shape = x.shape.with_rank_at_least(2)[:-2].concatenate([None])
        else:
            m = n * (n + 1) // 2
            static_shape = x.shape[:-2].concatenate([m])
        batch = ops.shape(x)[:-2]
        edge = x[..., 0, :] if upper else ops.reverse_v2(x[..., -1, :], axis=[-1])
        others = x[..., 1:, :] if upper else x[..., :-1, :]
        # Every other number is in one of two places that a half turn swaps; zero is in the other.
        pairs = ops.reshape(others + ops.reverse_v2(others, axis=[-2, -1]), ops.concat([batch, [n * (n - 1)]], 0))
        found = ops.concat([edge, pairs[..., : m - n]], axis=-1)
        found.set_shape(static_shape)
        return found


@public("contrib.distributions.matrix_diag_transform")
def matrix_diag_transform(matrix, transform=None, name=None):
    """Matrices with `transform(diagonal)` as their diagonals."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return ops.matrix_set_diag(matrix, transform(ops.matrix_diag_part(matrix)))


@public("contrib.distributions.tridiag")
def tridiag(below=None, diag=None, above=None, name=None):
    """Matrices with these diagonals, of which one may be missing. Raises ValueError if all are."""

    with name_scope(name, "tridiag", [below, diag, above]):
        parts = [
            _diagonal(values, name, row, column)
            for name, values, row, column in (("below", below, 1, 0), ("diag", diag, 0, 0), ("above", above, 0, 1))
            if values is not None
        ]
        if not parts:
            raise ValueError("Must specify at least one of below, diag, above.")
        return ops.add_n(parts)


def _diagonal(values, name, row, column):
    """Matrices with a diagonal that begins at a row and a column."""
    found = ops.matrix_diag(convert_to_tensor(values, name=name))
    if row == column:
        return found
    return ops.pad(found, [*([[0, 0]] * (found.shape.ndims - 2)), [row, column], [column, row]])
