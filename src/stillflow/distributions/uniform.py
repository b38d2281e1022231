"""Uniform distribution between two bounds."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.composites.checks import assert_less
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.random.sampling import random_uniform


@public("distributions.Uniform", "contrib.distributions.Uniform")
class Uniform(ScalarDistribution):
    """The uniform distribution over [low, high), of density 1 / (high - low).

    Args:
      low, high: the bounds, of floats of one type and shapes that broadcast.
      validate_args: whether low is checked to be less than high.
      allow_nan_stats: see Distribution.
      name: the name scope.
    """

    PARAMETERS = ("low", "high")

    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        parameters = dict(locals())
        message = "uniform not defined when low >= high."
        with (
            name_scope(name, values=[low, high]) as name,
            control_dependencies([assert_less(low, high, message=message)] if validate_args else []),
        ):
            self._low = ops.identity(low, name="low")
            self._high = ops.identity(high, name="high")
            assert_same_float_dtype([self._low, self._high])
        super().__init__(
            self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._low, self._high], name,
        )  # fmt: skip

    @property
    def low(self):
        """The lower bound, which is in."""
        return self._low

    @property
    def high(self):
        """The upper bound, which is not."""
        return self._high

    def range(self, name="range"):
        """high - low."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        samples = random_uniform(shape, dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, value):
        value = value * ops.ones(self.batch_shape_tensor(), value.dtype)
        return ops.where_v2(
            ops.is_nan(value), value,
            ops.where_v2(
                ops.logical_or(value < self.low, value >= self.high),
                ops.zeros_like(value), ops.ones_like(value) / self.range(),
            ),
        )  # fmt: skip

    def _cdf(self, value):
        shape = ops.broadcast_dynamic_shape(ops.shape(value), self.batch_shape_tensor())
        zeros, ones = ops.zeros(shape, self.dtype), ops.ones(shape, self.dtype)
        full = value * ones
        inside = ops.where_v2(value < self.low, zeros, (full - self.low) / self.range())
        return ops.where_v2(value >= self.high, ones, inside)

    def _entropy(self):
        return ops.log(self.range())

    def _mean(self):
        return (self.low + self.high) / 2.0

    def _variance(self):
        return ops.square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)
