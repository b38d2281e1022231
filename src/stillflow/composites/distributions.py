"""Random numbers of further distributions, shuffles and crops: a random op, and what TensorFlow puts around it."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform
from stillflow.random.seeds import get_seed


def random_shuffle(value, seed=None, name=None):
    """The parts of `value` along its first dimension, in random order."""
    seed, seed2 = get_seed(seed)
    return ops.random_shuffle(value, seed=seed, seed2=seed2, name=name)


def multinomial(logits, num_samples, dtype, seed, name, default_name):
    """Classes drawn with the probabilities of softmax(logits)."""
    with name_scope(name, default_name, [logits]):
        logits = convert_to_tensor(logits, name="logits")
        seed, seed2 = get_seed(seed)
        return ops.multinomial_op(logits, num_samples, seed=seed, seed2=seed2, output_dtype=dtype or dtypes.int64)


def stateless_multinomial(logits, num_samples, seed, dtype, name, default_name):
    """The same from a seed that is a tensor."""
    with name_scope(name, default_name, [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        return ops.stateless_multinomial_op(logits, num_samples, seed, output_dtype=dtype or dtypes.int64)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Gamma-distributed numbers; none is 0, which the smallest normal number replaces."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        alpha = convert_to_tensor(alpha, dtype, "alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, "beta")
        alpha = alpha + ops.zeros_like(beta)
        seed, seed2 = get_seed(seed)
        numbers = ops.random_gamma_op(shape, alpha, seed=seed, seed2=seed2)
        return ops.maximum(np.finfo(alpha.dtype.as_numpy_dtype).tiny, numbers / beta)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Poisson-distributed numbers."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        seed, seed2 = get_seed(seed)
        return ops.random_poisson_v2(shape, lam, dtype=dtype, seed=seed, seed2=seed2)


def random_crop(value, size, seed=None, name=None):
    """A part of `value` of that size, at a random place."""
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
