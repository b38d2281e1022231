"""Laplace (double exponential) distribution, by location and scale."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.distributions.location_scale import LocationScale
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


@public("python.ops.distributions.special_math.log_cdf_laplace")
def log_cdf_laplace(x, name="log_cdf_laplace"):
    """The logarithm of the distribution function for loc 0 and scale 1, exact far down, too."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        below = -np.log(2.0) + x
        # |x| in the branch that is not taken for x < 0: exp(-x) would overflow, and the gradient be NaN.
        above = ops.log1p(-0.5 * ops.exp(-ops.abs(x)))
        return ops.where_v2(x < 0.0, below, above)


@public("distributions.Laplace", "contrib.distributions.Laplace")
class Laplace(LocationScale):
    """The Laplace distribution, of density exp(-|x - loc| / scale) / (2 scale).

    Args:
      loc, scale: mean and scale, of floats of one type and shapes that broadcast.
      validate_args: whether scale is checked to be positive.
      allow_nan_stats: see Distribution.
      name: the name scope.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        number = self.dtype.as_numpy_dtype
        # -1 itself would give infinity.
        lowest = np.nextafter(number(-1.0), number(0.0))
        uniform = random_uniform(shape, lowest, 1.0, self.dtype, seed)
        return self.loc - self.scale * ops.sign(uniform) * ops.log1p(-ops.abs(uniform))

    def _prob(self, value):
        return ops.exp(self._log_prob(value))

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _log_unnormalized_prob(self, value):
        return -ops.abs(self._z(value))

    def _log_normalization(self):
        return math.log(2.0) + ops.log(self.scale)

    def _log_cdf(self, value):
        return log_cdf_laplace(self._z(value))

    def _log_survival_function(self, value):
        return log_cdf_laplace(-self._z(value))

    def _cdf(self, value):
        z = self._z(value)
        return 0.5 + 0.5 * ops.sign(z) * (1.0 - ops.exp(-ops.abs(z)))

    def _entropy(self):
        scale = self.scale + ops.zeros_like(self.loc)
        return math.log(2.0) + 1.0 + ops.log(scale)

    def _mean(self):
        return self.loc + ops.zeros_like(self.scale)

    def _stddev(self):
        return math.sqrt(2.0) * self.scale + ops.zeros_like(self.loc)

    def _z(self, value):
        return (value - self.loc) / self.scale
