"""Random tensors."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.random import sampling


def _seed(seed):
    return np.random.randint(10_000_000) if seed is None else seed


@public("keras.backend.random_normal")
def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers. Without a seed, numpy draws one."""
    return sampling.random_normal(shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=_seed(seed))


@public("keras.backend.random_uniform")
def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Numbers that are equally likely in [minval, maxval). Without a seed, numpy draws one."""
    return sampling.random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=_seed(seed))


@public("keras.backend.random_binomial")
def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """1 with probability p, else 0. Without a seed, numpy draws one."""
    dtype = dtype or floatx()
    drawn = sampling.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return ops.where(drawn <= p, ops.ones(shape, dtype=dtype), ops.zeros(shape, dtype=dtype))


@public("keras.backend.truncated_normal")
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two standard deviations. Without a seed, numpy draws one."""
    return sampling.truncated_normal(shape, mean, stddev, dtype=dtype or floatx(), seed=_seed(seed))
