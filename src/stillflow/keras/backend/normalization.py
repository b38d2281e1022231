"""Batches normalized by the moments of each channel."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import normalization
from stillflow.keras.backend.values import ndim
from stillflow.names import public
from stillflow.ops.nn.fused_batch_norm import fused_batch_norm
from stillflow.platform import tf2
from stillflow.training.moving_averages import assign_moving_average


@public("keras.backend.moving_average_update")
def moving_average_update(x, value, momentum):
    """An operation that brings a variable nearer to a value: momentum of it stays."""
    return assign_moving_average(x, value, momentum, zero_debias=not tf2.enabled())


@public("keras.backend.normalize_batch_in_training")
def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """(x normalized by its moments, the mean, the variance).

    Args:
      x: a tensor.
      gamma, beta: what results are multiplied by, and what is added to them; None for neither.
      reduction_axes: the axes that the moments are of.
      epsilon: what is added to the variance.
    """
    rank, axes = ndim(x), list(reduction_axes)
    if rank == 4 and axes == [0, 1, 2]:
        channels = [x.shape[3]]
        gamma = ops.constant(1.0, dtype=x.dtype, shape=channels) if gamma is None else gamma
        beta = ops.constant(0.0, dtype=x.dtype, shape=channels) if beta is None else beta
        return fused_batch_norm(x, gamma, beta, epsilon=epsilon, data_format="NHWC")
    mean, variance = normalization.moments(x, reduction_axes)
    parts = [mean, variance, gamma, beta]
    if sorted(axes) != list(range(rank - 1)):
        shape = ops.stack([1 if axis in axes else ops.shape(x)[axis] for axis in range(rank)])
        parts = [None if part is None else ops.reshape(part, shape) for part in parts]
    parts = [*parts[:2], parts[3], parts[2]]
    return normalization.batch_normalization(x, *parts, epsilon), mean, variance


@public("keras.backend.batch_normalization")
def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """gamma * (x - mean) / sqrt(var + epsilon) + beta.

    Args:
      x: a tensor.
      mean, var, beta, gamma: tensors of the channels; the last two may be None.
      axis: that of channels.
      epsilon: what is added to the variance.
    """
    data_format = {3: "NHWC", -1: "NHWC", 1: "NCHW", -3: "NCHW"}.get(axis)
    if ndim(x) != 4 or data_format is None:
        return normalization.batch_normalization(x, mean, var, beta, gamma, epsilon)

    def row(value):
        return ops.reshape(value, [-1]) if ndim(value) > 1 else value

    mean, var = row(mean), row(var)
    beta = ops.zeros_like(mean) if beta is None else row(beta)
    gamma = ops.ones_like(mean) if gamma is None else row(gamma)
    return fused_batch_norm(
        x, gamma, beta, epsilon=epsilon, mean=mean, variance=var, data_format=data_format, is_training=False
    )[0]
