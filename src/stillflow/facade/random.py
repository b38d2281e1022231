"""tf.random.*, and the names of its functions in tf.*."""

from __future__ import annotations

from stillflow.composites import distributions as _distributions
from stillflow.graph import dtypes
from stillflow.random import sampling as _random
from stillflow.random.seeds import get_seed as get_seed
from stillflow.random.seeds import set_random_seed as set_random_seed

__all__ = [
    "multinomial",
    "random_crop",
    "random_gamma",
    "random_normal",
    "random_poisson",
    "random_shuffle",
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


def random_shuffle(value, seed=None, name=None):
    """The rows of a tensor (its parts along the first dimension) in random order.

    Args:
      value: a tensor of any type and shape.
      seed: an integer; with it or a graph-level seed the order is the same in every session.
    """
    return _distributions.random_shuffle(value, seed, name)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Classes drawn with the probabilities of softmax(logits).

    Args:
      logits: [rows, classes], of any number type; a logit that is not finite has probability 0.
      num_samples: an integer scalar, the number of classes to draw for each row.
      seed: an integer; with it or a graph-level seed the classes are the same in every session.
      output_dtype: int32 or int64, by default int64.

    Returns:
      [rows, num_samples]; `classes`, which is none, for rows in which nothing is possible.

    Raises:
      ValueError or InvalidArgumentError: if logits is no matrix, has no classes, or num_samples is negative.
    """
    return _distributions.multinomial(logits, num_samples, output_dtype, seed, name, "multinomial")


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """`multinomial` with its arguments in another order."""
    return _distributions.multinomial(logits, num_samples, dtype, seed, name, "categorical")


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Gamma-distributed random numbers, which can be differentiated by alpha and beta.

    Args:
      shape: an int32 vector: how many numbers for each parameter.
      alpha: the shape parameter, a tensor of `dtype`.
      beta: the inverse scale, of a shape that broadcasts with alpha's; 1 by default.
      dtype: float16, float32 or float64.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.

    Returns:
      A tensor of shape `shape` followed by that of alpha + beta.
    """
    return _distributions.random_gamma(shape, alpha, beta, dtype, seed, name)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Poisson-distributed random numbers.

    Args:
      lam: the rate, a tensor of type float16, float32, float64, int32 or int64.
      shape: an int32 vector: how many numbers for each rate.
      dtype: the type of the result, of the same ones.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.

    Returns:
      A tensor of shape `shape` followed by that of lam.
    """
    return _distributions.random_poisson(lam, shape, dtype, seed, name)


def random_crop(value, size, seed=None, name=None):
    """A part of `value` at a random place.

    Args:
      value: a tensor.
      size: an int32 vector, the shape of the part, in no dimension larger than value's.
      seed: an integer; with it or a graph-level seed the places are the same in every session.

    Raises:
      InvalidArgumentError: if `size` is larger.
    """
    return _distributions.random_crop(value, size, seed, name)


# ---- From a seed that is a tensor ---------------------------------------------------------------------------


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    """Like `uniform`, but the numbers follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _random.stateless_random_uniform(shape, seed, minval, maxval, dtype, name)


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Like `normal`, but the numbers follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _random.stateless_random_normal(shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Like `truncated_normal`, but the numbers follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _random.stateless_truncated_normal(shape, seed, mean, stddev, dtype, name)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Like `categorical`, but the classes follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _distributions.stateless_multinomial(logits, num_samples, seed, dtype, name, "stateless_categorical")


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """`stateless_categorical` under its old name."""
    return _distributions.stateless_multinomial(
        logits, num_samples, seed, output_dtype, name, "stateless_multinomial"
    )


def __getattr__(name):
    if name.endswith("candidate_sampler") and not name.startswith("_"):
        from stillflow.facade import nn_losses

        return getattr(nn_losses, name)
    if name == "experimental":
        from stillflow.facade import random_experimental

        return random_experimental
    raise AttributeError(f"module 'tf.random' has no attribute {name!r}")


normal = random_normal
uniform = random_uniform
gamma = random_gamma
poisson = random_poisson
shuffle = random_shuffle
