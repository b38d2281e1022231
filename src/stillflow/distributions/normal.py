"""Normal (Gaussian) distribution, by mean and standard deviation."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.distributions.divergence import RegisterKL
from stillflow.distributions.location_scale import LocationScale
from stillflow.distributions.normal_integrals import log_ndtr, ndtr, ndtri
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.random.sampling import random_normal


@public("distributions.Normal", "contrib.distributions.Normal")
class Normal(LocationScale):
    """The normal distribution, of density exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Args:
      loc, scale: mean and standard deviation, of floats of one type and shapes that broadcast.
      validate_args: whether scale is checked to be positive.
      allow_nan_stats: see Distribution.
      name: the name scope.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        return random_normal(shape, 0.0, 1.0, self.loc.dtype, seed) * self.scale + self.loc

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _log_unnormalized_prob(self, value):
        return -0.5 * ops.square(self._z(value))

    def _log_normalization(self):
        return 0.5 * math.log(2.0 * math.pi) + ops.log(self.scale)

    def _log_cdf(self, value):
        return log_ndtr(self._z(value))

    def _cdf(self, value):
        return ndtr(self._z(value))

    def _log_survival_function(self, value):
        return log_ndtr(-self._z(value))

    def _survival_function(self, value):
        return ndtr(-self._z(value))

    def _quantile(self, value):
        z = ndtri(value)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _entropy(self):
        scale = self.scale * ops.ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + ops.log(scale)

    def _mean(self):
        return self.loc * ops.ones_like(self.scale)

    def _stddev(self):
        return self.scale * ops.ones_like(self.loc)

    def _z(self, value):
        with name_scope("standardize", values=[value]):
            return (value - self.loc) / self.scale


@RegisterKL(Normal, Normal)
def _divergence(a, b, name=None):
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (ops.constant(number, a.dtype) for number in (1, 2, 0.5))
        variance_a, variance_b = ops.square(a.scale), ops.square(b.scale)
        ratio = variance_a / variance_b
        distance = ops.squared_difference(a.loc, b.loc) / (two * variance_b)
        return distance + half * (ratio - one - ops.log(ratio))
