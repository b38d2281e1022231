"""moments, batch_normalization, l2_normalize: means, variances, and normalization by them or by a norm."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor


@public("linalg.l2_normalize", "math.l2_normalize", "nn.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x / sqrt(max(sum(x * x), epsilon)), the sum over `axis` (an integer or several) or everything."""
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        squares = ops.reduce_sum(ops.square(x), axis, keepdims=True)
        return ops.mul(x, ops.rsqrt(ops.maximum(squares, epsilon)), name=scope)


@public("nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """(count, sum, sum of squares, shift) of x - shift over `axes`, for `normalize_moments`."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    keepdims = bool(keepdims)
    axes = list(set(axes))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        dims = x._dims
        if dims is not None and all(dims[axis] is not None for axis in axes):
            counts = ops.constant(math.prod(dims[axis] for axis in axes), dtype=x.dtype)
        else:
            sizes = ops.gather(ops.cast(ops.shape(x), x.dtype), axes)
            counts = ops.reduce_prod(sizes, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            values = ops.sub(x, shift)
            squares = ops.squared_difference(x, shift)
        else:
            values, squares = x, ops.square(x)
        total = ops.reduce_sum(values, axes, keepdims=keepdims, name="mean_ss")
        total_of_squares = ops.reduce_sum(squares, axes, keepdims=keepdims, name="var_ss")
    return counts, total, total_of_squares, shift


@public("nn.normalize_moments")
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) from what `sufficient_statistics` returns."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted_mean = ops.mul(mean_ss, divisor, name="shifted_mean")
            mean = ops.add(shifted_mean, shift, name="mean")
        else:
            mean = shifted_mean = ops.mul(mean_ss, divisor, name="mean")
        variance = ops.sub(ops.mul(variance_ss, divisor), ops.square(shifted_mean), name="variance")
    return mean, variance


def _moments(x, axes, keepdims=False, name=None):
    """(mean, variance) over `axes`; float16 is computed in float32."""
    with name_scope(name, "moments", [x, axes]):
        is_short = x.dtype == dtypes.float16
        values = ops.cast(x, dtypes.float32) if is_short else x
        mean = ops.reduce_mean(values, axes, keepdims=True, name="mean")
        deviations = ops.squared_difference(values, ops.stop_gradient(mean))
        variance = ops.reduce_mean(deviations, axes, keepdims=True, name="variance")
        return _finished(mean, variance, axes, keepdims, is_short)


def _finished(mean, variance, axes, keepdims, is_short):
    if not keepdims:
        mean, variance = ops.squeeze(mean, axes), ops.squeeze(variance, axes)
    if is_short:
        mean, variance = ops.cast(mean, dtypes.float16), ops.cast(variance, dtypes.float16)
    return mean, variance


def _weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """(mean, variance) over `axes`, where x[i] counts frequency_weights[i] times."""
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        is_short = x.dtype == dtypes.float16
        if is_short:
            x = ops.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = ops.cast(weights, x.dtype)
        weighted_sum = ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        all_weights = weights + ops.zeros_like(x)
        total = ops.reduce_sum(all_weights, axes, name="sum_of_weights", keepdims=True)
        divisor = ops.reciprocal(total, name="inv_weight_sum")
        mean = ops.mul(weighted_sum, divisor)
        squares = weights * ops.squared_difference(x, mean)
        deviations = ops.reduce_sum(squares, axes, name="weighted_distsq", keepdims=True)
        variance = ops.mul(deviations, divisor)
        return _finished(mean, variance, axes, keepdims, is_short)


@public("nn.batch_normalization")
def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset; scale and offset may be None."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        scaled = x * ops.cast(factor, x.dtype)
        shift = offset - mean * factor if offset is not None else -mean * factor
        return scaled + ops.cast(shift, x.dtype)


@public("nn.moments")
def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`, a list of integers. `shift` is not used."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return _moments(x, axes, bool(keepdims), name)


@public("nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`, where elements count as often as `frequency_weights` says."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return _weighted_moments(x, axes, frequency_weights, bool(keepdims), name)


@public("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None, scale_after_normalization=None, name=None,
    input=None, mean=None, variance=None,
):  # fmt: skip
    """`batch_normalization` with other argument names; gamma counts only if `scale_after_normalization`."""
    t, m, v = renamed("input", input, "t", t), renamed("mean", mean, "m", m), renamed("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)
