"""Functions of numbers, one by one, and sums of many."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import statistics
from stillflow.composites.clip import clip_by_value
from stillflow.composites.normalization import l2_normalize as normalized
from stillflow.graph import dtypes
from stillflow.keras.backend.values import is_sparse, ndim
from stillflow.layers.core.settings import floatx
from stillflow.names import public


def _constants(x, *values):
    return (ops.constant(value, x.dtype.base_dtype) for value in values)


def _as_number(x):
    return ops.cast(x, floatx()) if x.dtype.base_dtype == dtypes.bool_ else x


# ---- Along axes ---------------------------------------------------------------------------------------------


@public("keras.backend.max")
def max_(x, axis=None, keepdims=False):
    """The greatest element along axes."""
    return ops.reduce_max(x, axis, keepdims=keepdims)


@public("keras.backend.min")
def min_(x, axis=None, keepdims=False):
    """The least element along axes."""
    return ops.reduce_min(x, axis, keepdims=keepdims)


@public("keras.backend.sum")
def sum_(x, axis=None, keepdims=False):
    """The sum along axes."""
    return ops.reduce_sum(x, axis, keepdims=keepdims)


@public("keras.backend.prod")
def prod(x, axis=None, keepdims=False):
    """The product along axes."""
    return ops.reduce_prod(x, axis, keepdims=keepdims)


@public("keras.backend.cumsum")
def cumsum(x, axis=0):
    """The sums of all elements up to each, along an axis."""
    return ops.cumsum(x, axis=axis)


@public("keras.backend.cumprod")
def cumprod(x, axis=0):
    """The products of all elements up to each, along an axis."""
    return ops.cumprod(x, axis=axis)


@public("keras.backend.var")
def var(x, axis=None, keepdims=False):
    """The variance along axes."""
    return statistics.reduce_variance(_as_number(x), axis=axis, keepdims=keepdims)


@public("keras.backend.std")
def std(x, axis=None, keepdims=False):
    """The standard deviation along axes."""
    return statistics.reduce_std(_as_number(x), axis=axis, keepdims=keepdims)


@public("keras.backend.mean")
def mean(x, axis=None, keepdims=False):
    """The mean along axes, of bools too."""
    return ops.reduce_mean(_as_number(x), axis, keepdims=keepdims)


@public("keras.backend.any")
def any_(x, axis=None, keepdims=False):
    """Whether any element along axes is not 0."""
    return ops.reduce_any(ops.cast(x, dtypes.bool_), axis, keepdims=keepdims)


@public("keras.backend.all")
def all_(x, axis=None, keepdims=False):
    """Whether no element along axes is 0."""
    return ops.reduce_all(ops.cast(x, dtypes.bool_), axis, keepdims=keepdims)


@public("keras.backend.argmax")
def argmax(x, axis=-1):
    """Where the greatest element along an axis is."""
    return ops.argmax(x, axis)


@public("keras.backend.argmin")
def argmin(x, axis=-1):
    """Where the least element along an axis is."""
    return ops.argmin(x, axis)


# ---- One by one ---------------------------------------------------------------------------------------------


@public("keras.backend.square")
def square(x):
    """x * x."""
    return ops.square(x)


@public("keras.backend.abs")
def abs_(x):
    """The absolute value."""
    return ops.abs(x)


@public("keras.backend.sqrt")
def sqrt(x):
    """The square root; 0 of negative numbers."""
    zero, infinity = _constants(x, 0.0, np.inf)
    return ops.sqrt(clip_by_value(x, zero, infinity))


@public("keras.backend.exp")
def exp(x):
    """e to the power of x."""
    return ops.exp(x)


@public("keras.backend.log")
def log(x):
    """The natural logarithm."""
    return ops.log(x)


@public("keras.backend.round")
def round_(x):
    """The nearest whole number, of two the even one."""
    return ops.round(x)


@public("keras.backend.sign")
def sign(x):
    """-1, 0 or 1."""
    return ops.sign(x)


@public("keras.backend.pow")
def pow_(x, a):
    """x to the power of a."""
    return ops.pow(x, a)


@public("keras.backend.clip")
def clip(x, min_value, max_value):
    """x, or the nearer of two bounds where it is beyond them; `max_value` may be None."""
    if max_value is None:
        max_value = np.inf
    elif max_value < min_value:
        max_value = min_value
    low, high = _constants(x, min_value, max_value)
    return clip_by_value(x, low, high)


@public("keras.backend.sin")
def sin(x):
    """The sine."""
    return ops.sin(x)


@public("keras.backend.cos")
def cos(x):
    """The cosine."""
    return ops.cos(x)


# ---- Of two -------------------------------------------------------------------------------------------------


@public("keras.backend.equal")
def equal(x, y):
    """x == y, element by element."""
    return ops.equal(x, y)


@public("keras.backend.not_equal")
def not_equal(x, y):
    """x != y, element by element."""
    return ops.not_equal(x, y)


@public("keras.backend.greater")
def greater(x, y):
    """x > y, element by element."""
    return ops.greater(x, y)


@public("keras.backend.greater_equal")
def greater_equal(x, y):
    """x >= y, element by element."""
    return ops.greater_equal(x, y)


@public("keras.backend.less")
def less(x, y):
    """x < y, element by element."""
    return ops.less(x, y)


@public("keras.backend.less_equal")
def less_equal(x, y):
    """x <= y, element by element."""
    return ops.less_equal(x, y)


@public("keras.backend.maximum")
def maximum(x, y):
    """The greater of both, element by element."""
    return ops.maximum(x, y)


@public("keras.backend.minimum")
def minimum(x, y):
    """The lesser of both, element by element."""
    return ops.minimum(x, y)


# ---- Products -----------------------------------------------------------------------------------------------


def _sizes(x):
    """The sizes of x: numbers where they are known, tensors elsewhere."""
    found = ops.unstack(ops.shape(x))
    return tuple(known if known is not None else size for known, size in zip(x.shape.as_list(), found, strict=True))


@public("keras.backend.dot")
def dot(x, y):
    """The product of matrices. Of more dimensions, the last of x and the last but one of y are summed over."""
    if ndim(x) is not None and (ndim(x) > 2 or ndim(y) > 2):
        x_sizes, y_sizes = _sizes(x), _sizes(y)
        order = list(range(ndim(y)))
        order = [order.pop(-2), *order]
        rows = ops.reshape(x, [-1, x_sizes[-1]])
        columns = ops.reshape(ops.transpose(y, perm=order), [y_sizes[-2], -1])
        return ops.reshape(ops.matmul(rows, columns), x_sizes[:-1] + y_sizes[:-2] + y_sizes[-1:])
    if is_sparse(x):
        return ops.sparse_tensor_dense_matmul(x, y)
    return ops.matmul(x, y)


@public("keras.backend.batch_dot")
def batch_dot(x, y, axes=None):
    """Products of the elements of two batches: sums over an axis of each.

    Args:
      x, y: tensors of at least two dimensions.
      axes: the axis of both, or a pair of one of each; by default the last of x and the last but one of y.

    Returns:
      A tensor of at least two dimensions.
    """
    x_rank, y_rank = ndim(x), ndim(y)
    if isinstance(axes, int):
        axes = axes, axes
    if axes is None:
        axes = [x_rank - 1, y_rank - 2]
    missing = abs(x_rank - y_rank)
    if x_rank > y_rank:
        y = ops.reshape(y, ops.concat([ops.shape(y), [1] * missing], axis=0))
    elif y_rank > x_rank:
        x = ops.reshape(x, ops.concat([ops.shape(x), [1] * missing], axis=0))
    if ndim(x) == 2 and ndim(y) == 2:
        if axes[0] == axes[1]:
            product = ops.reduce_sum(ops.mul(x, y), axes[0])
        else:
            product = ops.reduce_sum(ops.mul(ops.transpose(x, [1, 0]), y), axes[1])
    else:
        product = ops.matmul(x, y, adjoint_a=axes[0] != ndim(x) - 1, adjoint_b=axes[1] == ndim(y) - 1)
    if missing:
        first = x_rank + y_rank - 3 if x_rank > y_rank else x_rank - 1
        product = ops.squeeze(product, list(range(first, first + missing)))
    return ops.expand_dims(product, 1) if ndim(product) == 1 else product


@public("keras.backend.l2_normalize")
def l2_normalize(x, axis=None):
    """x divided by its Euclidean norm along an axis."""
    return normalized(x, axis=axis)
