"""Gamma, Poisson and multinomial samples, random_shuffle, random_crop: a random op and what surrounds it."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform
from stillflow.random.seeds import get_seed


@public("random_shuffle", "random.shuffle")
def random_shuffle(value, seed=None, name=None):
    """The rows of a tensor (its parts along the first dimension) in random order.

    Args:
      value: a tensor of any type and shape.
      seed: an integer; with it or a graph-level seed the order is the same in every session.
    """
    seed, seed2 = get_seed(seed)
    return ops.random_shuffle(value, seed=seed, seed2=seed2, name=name)


def _multinomial(logits, num_samples, dtype, seed, name, default_name):
    """Classes drawn with the probabilities of softmax(logits)."""
    with name_scope(name, default_name, [logits]):
        logits = convert_to_tensor(logits, name="logits")
        seed, seed2 = get_seed(seed)
        return ops.multinomial_op(logits, num_samples, seed=seed, seed2=seed2, output_dtype=dtype or dtypes.int64)


def _stateless_multinomial(logits, num_samples, seed, dtype, name, default_name):
    """The same from a seed that is a tensor."""
    with name_scope(name, default_name, [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        return ops.stateless_multinomial_op(logits, num_samples, seed, output_dtype=dtype or dtypes.int64)


@public("random_gamma", "random.gamma")
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
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        alpha = convert_to_tensor(alpha, dtype, "alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, "beta")
        alpha = alpha + ops.zeros_like(beta)
        seed, seed2 = get_seed(seed)
        numbers = ops.random_gamma_op(shape, alpha, seed=seed, seed2=seed2)
        return ops.maximum(np.finfo(alpha.dtype.as_numpy_dtype).tiny, numbers / beta)


@public("random_poisson", "random.poisson")
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
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        seed, seed2 = get_seed(seed)
        return ops.random_poisson_v2(shape, lam, dtype=dtype, seed=seed, seed2=seed2)


@public("random_crop", "image.random_crop")
def random_crop(value, size, seed=None, name=None):
    """A part of `value` at a random place.

    Args:
      value: a tensor.
      size: an int32 vector, the shape of the part, in no dimension larger than value's.
      seed: an integer; with it or a graph-level seed the places are the same in every session.

    Raises:
      InvalidArgumentError: if `size` is larger.
    """
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtypes.int32, "size")
        shape = ops.shape(value)
        fits = assert_that(
            ops.reduce_all(shape >= size), ["Need value.shape >= size, got ", shape, size], summarize=1000
        )
        shape = with_dependencies([fits], shape)
        limit = shape - size + 1
        largest = np.iinfo(size.dtype.as_numpy_dtype).max
        offset = random_uniform(ops.shape(shape), dtype=size.dtype, maxval=largest, seed=seed) % limit
        return ops.slice(value, offset, size, name=scope)


@public("multinomial", "random.multinomial")
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
    return _multinomial(logits, num_samples, output_dtype, seed, name, "multinomial")


@public("random.categorical")
def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """`multinomial` with its arguments in another order."""
    return _multinomial(logits, num_samples, dtype, seed, name, "categorical")


@public("random.stateless_categorical")
def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Like `categorical`, but the classes follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _stateless_multinomial(logits, num_samples, seed, dtype, name, "stateless_categorical")


@public("random.stateless_multinomial")
def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """`stateless_categorical` under its old name."""
    return _stateless_multinomial(logits, num_samples, seed, output_dtype, name, "stateless_multinomial")
