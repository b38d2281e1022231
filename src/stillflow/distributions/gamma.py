"""Gamma and Exponential distributions, by concentration and rate."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_less, assert_positive
from stillflow.composites.distributions import random_gamma
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED
from stillflow.distributions.divergence import RegisterKL
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


@public("distributions.Gamma", "contrib.distributions.Gamma")
class Gamma(ScalarDistribution):
    """The gamma distribution, of density rate^c x^(c - 1) exp(-rate x) / Gamma(c) for x > 0, c the concentration.

    Args:
      concentration, rate: positive floats of one type, of shapes that broadcast.
      validate_args: whether they, and values, are checked to be positive.
      allow_nan_stats: whether the mode, where concentration <= 1, is NaN; otherwise running it fails.
      name: the name scope.
    """

    PARAMETERS: tuple[str, ...] = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            needed = [assert_positive(concentration), assert_positive(rate)] if validate_args else []
            with control_dependencies(needed):
                self._concentration = ops.identity(concentration, name="concentration")
                self._rate = ops.identity(rate, name="rate")
                assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._concentration, self._rate], name,
        )  # fmt: skip

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self):
        """The inverse scale."""
        return self._rate

    def _sample_n(self, n, seed=None):
        return random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _cdf(self, value):
        value = self._checked_sample(value)
        return ops.igamma(self.concentration, self.rate * value)

    def _log_unnormalized_prob(self, value):
        value = self._checked_sample(value)
        return ops.xlogy(self.concentration - 1.0, value) - self.rate * value

    def _log_normalization(self):
        return ops.lgamma(self.concentration) - self.concentration * ops.log(self.rate)

    def _entropy(self):
        return (
            self.concentration
            - ops.log(self.rate)
            + ops.lgamma(self.concentration)
            + (1.0 - self.concentration) * ops.digamma(self.concentration)
        )

    def _mean(self):
        return self.concentration / self.rate

    def _variance(self):
        return self.concentration / ops.square(self.rate)

    def _stddev(self):
        return ops.sqrt(self.concentration) / self.rate

    def _mode(self):
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = self._full(np.nan, name="nan")
            return ops.where_v2(self.concentration > 1.0, mode, nan)
        message = "mode not defined when any concentration <= 1"
        return with_dependencies([assert_less(ops.ones([], self.dtype), self.concentration, message=message)], mode)

    def _checked_sample(self, value):
        assert_same_float_dtype([value], self.dtype)
        return with_dependencies([assert_positive(value)], value) if self.validate_args else value


@RegisterKL(Gamma, Gamma)
def _divergence(a, b, name=None):
    # W. D. Penny, KL-Divergences of Normal, Gamma, Dirichlet and Wishart densities, 2001.
    with name_scope(name, "kl_gamma_gamma", values=[a.concentration, a.rate, b.concentration, b.rate]):
        return (
            (a.concentration - b.concentration) * ops.digamma(a.concentration)
            + ops.lgamma(b.concentration)
            - ops.lgamma(a.concentration)
            + b.concentration * ops.log(a.rate)
            - b.concentration * ops.log(b.rate)
            + a.concentration * (b.rate / a.rate - 1.0)
        )


@public("distributions.Exponential", "contrib.distributions.Exponential")
class Exponential(Gamma):
    """The exponential distribution, of density rate exp(-rate x) for x > 0.

    Args:
      rate: positive floats.
      validate_args: whether it, and values, are checked to be positive.
      allow_nan_stats: see Gamma.
      name: the name scope.
    """

    PARAMETERS = ("rate",)

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            self._rate = convert_to_tensor(rate, name="rate")
        super().__init__(
            concentration=ops.ones([], self._rate.dtype), rate=self._rate, validate_args=validate_args,
            allow_nan_stats=allow_nan_stats, name=name,
        )  # fmt: skip
        self._parameters = parameters
        self._graph_parents += [self._rate]

    def _batch_shape_tensor(self):
        return ops.broadcast_dynamic_shape(ops.shape(self.concentration), ops.shape(self.rate))

    def _log_survival_function(self, value):
        return self._log_prob(value) - ops.log(self._rate)

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], ops.shape(self._rate)], 0)
        # 0 would give infinity; the smallest normal number does not.
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        return -ops.log(random_uniform(shape, smallest, 1.0, self.dtype, seed)) / self._rate
