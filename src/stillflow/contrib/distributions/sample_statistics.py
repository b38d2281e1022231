"""Statistics of samples: percentiles and auto-correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.checks import assert_integer
from stillflow.composites.clip import clip_by_value
from stillflow.composites.rank_checks import assert_rank
from stillflow.distributions.static_values import pad, prefer_static_rank, prefer_static_shape
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.linear_operators.matrices import rotate_transpose
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.auto_correlation")
def auto_correlation(x, axis=-1, max_lags=None, center=True, normalize=True, name="auto_correlation"):
    """The correlation of a series with itself, 0, 1, ... max_lags steps later, by the Wiener-Khinchin theorem.

    Args:
      x: a tensor of floats or complex numbers.
      axis: the dimension of time.
      max_lags: the last number of steps; by default as many as there are.
      center: whether the mean is subtracted first.
      normalize: whether what is 0 steps later is to be 1.
      name: a name of the operations.

    Raises TypeError for another type.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        rank = prefer_static_rank(x)
        axis = rank + axis if axis < 0 else axis
        shift: Any = rank - 1 - axis
        shift = shift if isinstance(shift, Tensor) else np.int64(shift)
        series = rotate_transpose(x, shift)
        if center:
            series -= ops.reduce_mean(series, axis=-1, keepdims=True)
        count = prefer_static_shape(series)[-1]
        products = _products(series, count, x.dtype)
        lags, is_known = _last_lag(max_lags, count, series)
        products = products[..., : lags + 1]
        if is_known:
            products.set_shape([*series.shape.as_list()[:-1], min(count, lags + 1)])
        number, last = ops.cast(count, x.dtype.real_dtype), ops.cast(lags, x.dtype.real_dtype)
        found = products / ops.cast(number - ops.range(0.0, last + 1.0), x.dtype)
        if normalize:
            found /= found[..., :1]
        return rotate_transpose(found, -shift)


def _products(series, count, dtype):
    """The sums of products of a series with itself some steps later, for all steps."""
    number = ops.cast(count, np.float64)
    # To the power of two that is twice as long, so that the end does not meet the beginning.
    target = ops.pow(np.float64(2.0), ops.ceil(ops.log(number * 2) / np.log(2.0)))
    padded = pad(series, axis=-1, back=True, count=ops.cast(target - number, np.int32))
    if not dtype.is_complex:
        if not dtype.is_floating:
            raise TypeError(f"Argument x must have either float or complex dtype found: {dtype}")
        padded = ops.complex(padded, dtype.real_dtype.as_numpy_dtype(0.0))
    transformed = ops.fft(padded)
    return ops.cast(ops.ifft(transformed * ops.conj(transformed)), dtype)


def _last_lag(max_lags, count, series):
    """(the last number of steps, whether it is known)."""
    is_known = series.shape.is_fully_defined()
    if max_lags is None:
        last: Any = count - 1
        return (last if isinstance(last, Tensor) else np.int64(last)), is_known
    max_lags = convert_to_tensor(max_lags, name="max_lags")
    known = constant_value(max_lags)
    if known is None or not is_known:
        return ops.minimum(count - 1, max_lags), False
    return min(np.int64(count - 1), known), True


@public("contrib.distributions.percentile")
def percentile(x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None):
    """The number that q percent of the numbers are below.

    Args:
      x: a tensor of numbers of a known rank, if an axis is given.
      q: a scalar from 0 to 100.
      axis: the dimension, or a vector of some, along which there are numbers; all by default.
      interpolation: "nearest" (the default), "lower" or "higher": which of two numbers it is.
      keep_dims: whether the dimensions remain, of size 1.
      validate_args: whether q is checked when operations run.
      name: a name of the operations.

    Raises ValueError for another interpolation, for an axis or a rank that is not known, or that there is not.
    """
    if interpolation not in (None, "lower", "higher", "nearest"):
        allowed = {"lower", "higher", "nearest"}
        raise ValueError(f"Argument 'interpolation' must be in {allowed}.  Found {interpolation}")
    with name_scope(name or "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = ops.cast(q, dtypes.float64, name="q")
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"Expected argument 'x' to have ndims 0.  Found tensor {q}")
        if validate_args:
            conditions = [
                assert_rank(q, 0),
                checks.assert_greater_equal(q, ops.cast(0.0, dtypes.float64)),
                checks.assert_less_equal(q, ops.cast(100.0, dtypes.float64)),
            ]
            q = with_dependencies(conditions, q)
        axes = None if axis is None else _known_axes(axis, x)
        y = ops.reshape(x, [-1]) if axes is None else _flat_at_end(x, axes)
        above = 1.0 - q / 100.0
        place = (ops.cast(ops.shape(y)[-1], dtypes.float64) - 1) * above
        rounded = {"lower": ops.ceil, "higher": ops.floor}.get(interpolation, ops.round)(place)
        size = ops.shape(y)[-1]
        index = clip_by_value(ops.cast(rounded, dtypes.int32), 0, size - 1)
        found = ops.top_k(y, k=ops.shape(y)[-1]).values[..., index]
        found.set_shape(y.shape[:-1])
        if keep_dims and axes is None:
            rank = ops.rank(x) if x.shape.ndims is None else x.shape.ndims
            found *= ops.ones(ops.ones(shape=[rank], dtype=dtypes.int32), dtype=x.dtype)
        elif keep_dims:
            for dim in sorted(axes or ()):
                found = ops.expand_dims(found, axis=dim)
        return found


def _known_axes(axis, x):
    """The axes as a list of ints from 0. Raises ValueError for those that are not known, or that there are not."""
    axis = convert_to_tensor(axis, name="axis")
    assert_integer(axis)
    known = constant_value(axis)
    if axis.shape.ndims is not None and axis.shape.ndims > 1:
        raise ValueError(f"Expected argument 'x' to have ndims <= 1.  Found tensor {axis}")
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    rank = x.shape.ndims
    if rank is None:
        raise ValueError(f"Expected argument 'x' to have statically defined 'ndims'.  Found: {x}")
    if rank < 1:
        raise ValueError(f"Expected argument 'x' to have ndims >= 1.  Found tensor {x}")
    axes = [int(dim) for dim in np.atleast_1d(known)]
    for dim in axes:
        if dim >= rank:
            raise ValueError(f"dim {dim} not in the interval [0, {rank - 1}].")
        if dim < -rank:
            raise ValueError(f"Negatively indexed dim {dim} not in the interval [-{rank}, -1]")
    return [dim % rank for dim in axes]


def _flat_at_end(x, axes):
    """x with the axes as one, behind the others."""
    others = [dim for dim in range(x.shape.ndims) if dim not in axes]
    turned = ops.transpose(x, perm=[*others, *axes])
    if x.shape.is_fully_defined():
        sizes = x.shape.as_list()
        shape = [*(sizes[dim] for dim in others), int(np.prod([sizes[dim] for dim in axes]))]
    else:
        shape = ops.concat([ops.shape(turned)[: len(others)], [-1]], axis=0)
    return ops.reshape(turned, shape=shape)
