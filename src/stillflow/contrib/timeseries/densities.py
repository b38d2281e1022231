"""Logarithms of densities."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.names import public

# The least of a covariance's diagonal where its determinant is a prior.
_LEAST_VARIANCE = 1e-8


@public("contrib.timeseries.python.timeseries.math_utils.normal_log_prob")
def normal_log_prob(loc, scale, x):
    """The logarithm of a normal density, but for log(scale) / 2, as TensorFlow has it."""
    z = (x - loc) / scale
    return -0.5 * (ops.square(z) + np.log(2.0 * np.pi) + ops.log(scale))


@public("contrib.timeseries.python.timeseries.math_utils.cauchy_log_prob")
def cauchy_log_prob(loc, scale, x):
    """The logarithm of Cauchy's density."""
    z = (x - loc) / scale
    return -np.log(np.pi) - ops.log(scale) - ops.log1p(ops.square(z))


@public("contrib.timeseries.python.timeseries.math_utils.mvn_tril_log_prob")
def mvn_tril_log_prob(loc, scale_tril, x):
    """The logarithm of a normal density with a Cholesky factor of the covariance, [...].

    Args:
      loc, x: [..., size].
      scale_tril: [..., size, size].
    """
    difference = x - loc
    z = ops.matrix_triangular_solve(scale_tril, difference[..., None])[..., 0]
    log_determinant = 2.0 * ops.reduce_sum(ops.log(ops.matrix_diag_part(scale_tril)), axis=-1)
    size = ops.cast(ops.shape(scale_tril)[-1], log_determinant.dtype)
    return -0.5 * (ops.reduce_sum(ops.square(z), axis=-1) + size * np.log(2.0 * np.pi) + log_determinant)


@public("contrib.timeseries.python.timeseries.math_utils.entropy_matched_cauchy_scale")
def entropy_matched_cauchy_scale(covariance):
    """Scales of Cauchy's distribution with the entropies that the diagonal of a covariance stands for."""
    return ops.sqrt(math.e / (8.0 * math.pi) * ops.matrix_diag_part(covariance))


@public("contrib.timeseries.python.timeseries.math_utils.log_noninformative_covariance_prior")
def log_noninformative_covariance_prior(covariance):
    """The logarithm of Jeffreys' prior of a covariance [size, size]."""
    covariance += ops.diag(_LEAST_VARIANCE * ops.ones(shape=[ops.shape(covariance)[0]], dtype=covariance.dtype))
    power = -(ops.cast(ops.shape(covariance)[0] + 1, covariance.dtype) / 2.0)
    return power * ops.log(ops.matrix_determinant(covariance))
