"""tf.random.*, and the names of its functions in tf.*."""

from __future__ import annotations

from stillflow.composites import random as _random
from stillflow.graph import dtypes
from stillflow.seeds import get_seed as get_seed
from stillflow.seeds import set_random_seed as set_random_seed

__all__ = [
    "random_normal",
    "random_uniform",
    "truncated_normal",
]


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Random numbers in [minval, maxval), all equally likely.

    Args:
      shape: the shape of the result, an integer vector.
      minval: a scalar, the smallest number.
      maxval: a scalar, above all numbers; 1 by default, to be given for integers.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.
    """
    return _random.random_uniform(shape, minval, maxval, dtype, seed, name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed random numbers.

    Args:
      shape: the shape of the result, an integer vector.
      mean: the mean, which may be of any shape that broadcasts.
      stddev: the standard deviation, likewise.
      dtype: a floating-point type.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.
    """
    return _random.random_normal(shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Like random_normal, but numbers two standard deviations from the mean or more are drawn again."""
    return _random.truncated_normal(shape, mean, stddev, dtype, seed, name)


def __getattr__(name):
    if name.endswith("candidate_sampler") and not name.startswith("_"):
        from stillflow.facade import nn_losses

        return getattr(nn_losses, name)
    raise AttributeError(f"module 'tf.random' has no attribute {name!r}")


normal = random_normal
uniform = random_uniform
