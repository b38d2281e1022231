"""Initializers that look at how many inputs and outputs a layer has, as tf.contrib.layers makes them."""

from __future__ import annotations

import math

from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.random import sampling

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")
_TRUNCATED_VARIANCE = 1.3  # what cutting a normal distribution off takes away, about


@public("contrib.layers.variance_scaling_initializer")
def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=dtypes.float32):
    """An initializer that keeps the variance of what goes through a layer.

    The numbers have the variance `factor / n`. The default is He et al., "Delving Deep into Rectifiers", 2015.

    Args:
      factor: a float.
      mode: what n is: "FAN_IN" the number of inputs, "FAN_OUT" of outputs, "FAN_AVG" the mean of both. The last two
        dimensions of the weights are inputs and outputs; those before are positions of a filter.
      uniform: whether the numbers are uniform; otherwise they are normal, cut off at two standard deviations.
      seed: an integer, or None.
      dtype: a floating point type.

    Returns:
      A function of a shape, `dtype` and `partition_info`.

    Raises:
      TypeError: for another mode or a type that is not floating point.
    """
    _check_floating(dtype)
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape, dtype=dtype, partition_info=None):
        _check_floating(dtype)
        fan_in, fan_out = _fans(shape)
        count = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return sampling.random_uniform(shape, -limit, limit, dtype, seed=seed)
        return sampling.truncated_normal(
            shape, 0.0, math.sqrt(_TRUNCATED_VARIANCE * factor / count), dtype, seed=seed
        )

    return initializer


@public("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
def xavier_initializer(uniform=True, seed=None, dtype=dtypes.float32):
    """An initializer that keeps the scale of gradients about the same in all layers.

    It is `variance_scaling_initializer` with factor 1 and the mean of inputs and outputs, from Glorot and Bengio,
    "Understanding the difficulty of training deep feedforward neural networks", 2010.

    Args:
      uniform: whether numbers are uniformly or normally distributed.
      seed: an integer; see tf.set_random_seed.
      dtype: a floating-point type.
    """
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


def _check_floating(dtype):
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


def _fans(shape):
    if not shape:
        return 1.0, 1.0
    positions = math.prod(float(size) for size in shape[:-2])
    return positions * float(shape[-2] if len(shape) > 1 else shape[-1]), positions * float(shape[-1])
