"""Functions that distributions are made of: tf.contrib.distributions.softplus_inverse, fill_triangular and others."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.distributions.static_values import prefer_static_rank
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
        safe = ops.where_v2(ops.logical_or(is_too_small, is_too_large), ops.ones_like(x), x)
        y = safe + ops.log(-ops.expm1(-safe))
        return ops.where_v2(is_too_small, too_small_value, ops.where_v2(is_too_large, too_large_value, y))


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
        largest = ops.reduce_max(log_terms, axis=axis, keepdims=True)
        largest = ops.where_v2(ops.is_inf(largest), ops.zeros_like(largest), largest)
        terms = ops.sign(w) * ops.exp(log_terms - largest)
        total = ops.reduce_sum(terms, axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = ops.squeeze(largest, axis)
        sign = ops.sign(total)
        log_total = largest + ops.log(sign * total)
        return (log_total, sign) if return_sign else log_total


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
            n = np.int32(root)
            static_shape = x.shape[:-1].concatenate([n, n])
        rank = prefer_static_rank(x)
        if upper:
            parts = [x, ops.reverse_v2(x[..., n:], axis=[rank - 1])]
        else:
            parts = [x[..., n:], ops.reverse_v2(x, axis=[rank - 1])]
        if static_shape.is_fully_defined():
            shape = static_shape.as_list()
        else:
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
            n = np.int32(n)
            m = np.int32(n * (n + 1) // 2)
            static_shape = x.shape[:-2].concatenate([m])
        rank = prefer_static_rank(x)
        edge = x[..., 0, :] if upper else ops.reverse_v2(x[..., -1, :], axis=[rank - 2])
        others = x[..., 1:, :] if upper else x[..., :-1, :]
        # Every other number is in one of two places that a half turn swaps; zero is in the other.
        turned = ops.reverse_v2(ops.reverse_v2(others, axis=[rank - 1]), axis=[rank - 2])
        both = others + turned
        pairs = ops.reshape(both, ops.concat([ops.shape(x)[:-2], [n * (n - 1)]], axis=0))
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
        parts = []
        if below is not None:
            parts.append(ops.matrix_diag(_between_zeros(convert_to_tensor(below, name="below")))[..., :-1, 1:])
        if diag is not None:
            parts.append(ops.matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(ops.matrix_diag(_between_zeros(convert_to_tensor(above, name="above")))[..., 1:, :-1])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return sum(parts[1:], parts[0])


def _between_zeros(x):
    zero = ops.zeros(ops.concat([ops.shape(x)[:-1], [1]], axis=0), dtype=x.dtype)
    return ops.concat([zero, x, zero], axis=-1)
