"""Beta: a distribution over probabilities."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_less, assert_positive
from stillflow.composites.distributions import random_gamma
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED
from stillflow.distributions.divergence import RegisterKL
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.distributions.seeds import derived_seed
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _checked_concentration(concentration, validate_args):
    if not validate_args:
        return concentration
    message = "Concentration parameter must be positive."
    return with_dependencies([assert_positive(concentration, message=message)], concentration)


@public("distributions.Beta", "contrib.distributions.Beta")
class Beta(ScalarDistribution):
    """The beta distribution over (0, 1), of density x^(a - 1) (1 - x)^(b - 1) / B(a, b).

    Args:
      concentration1, concentration0: a and b, positive floats of one type and shapes that broadcast.
      validate_args: whether they, and values, are checked.
      allow_nan_stats: whether the mode, where a or b <= 1, is NaN; otherwise running it fails.
      name: the name scope.
    """

    PARAMETERS = ("concentration1", "concentration0")

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = _checked_concentration(
                convert_to_tensor(concentration1, name="concentration1"), validate_args
            )
            self._concentration0 = _checked_concentration(
                convert_to_tensor(concentration0, name="concentration0"), validate_args
            )
            assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            self._total_concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._concentration1, self._concentration0, self._total_concentration], name,
        )  # fmt: skip

    @property
    def concentration1(self):
        """The concentration at 1."""
        return self._concentration1

    @property
    def concentration0(self):
        """The concentration at 0."""
        return self._concentration0

    @property
    def total_concentration(self):
        """The sum of concentrations."""
        return self._total_concentration

    def _batch_shape_tensor(self):
        return ops.shape(self.total_concentration)

    def _batch_shape(self):
        return self.total_concentration.shape

    def _sample_n(self, n, seed=None):
        full1 = ops.ones_like(self.total_concentration, self.dtype) * self.concentration1
        full0 = ops.ones_like(self.total_concentration, self.dtype) * self.concentration0
        gamma1 = random_gamma([n], full1, dtype=self.dtype, seed=seed)
        gamma0 = random_gamma([n], full0, dtype=self.dtype, seed=derived_seed(seed, "beta"))
        return gamma1 / (gamma1 + gamma0)

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _prob(self, value):
        return ops.exp(self._log_prob(value))

    def _log_cdf(self, value):
        return ops.log(self._cdf(value))

    def _cdf(self, value):
        return ops.betainc(self.concentration1, self.concentration0, value)

    def _log_unnormalized_prob(self, value):
        value = self._checked_sample(value)
        return ops.xlogy(self.concentration1 - 1.0, value) + (self.concentration0 - 1.0) * ops.log1p(-value)

    def _log_normalization(self):
        return (
            ops.lgamma(self.concentration1) + ops.lgamma(self.concentration0) - ops.lgamma(self.total_concentration)
        )

    def _entropy(self):
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * ops.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * ops.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * ops.digamma(self.total_concentration)
        )

    def _mean(self):
        return self._concentration1 / self._total_concentration

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self):
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            nan = self._full(np.nan, name="nan")
            is_defined = ops.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0)
            return ops.where_v2(is_defined, mode, nan)
        needed = [
            assert_less(ops.ones([], self.dtype), getattr(self, name), message=f"Mode undefined for {name} <= 1.")
            for name in self.PARAMETERS
        ]
        return with_dependencies(needed, mode)

    def _checked_sample(self, value):
        if not self.validate_args:
            return value
        needed = [
            assert_positive(value, message="sample must be positive"),
            assert_less(value, ops.ones([], self.dtype), message="sample must be less than `1`."),
        ]
        return with_dependencies(needed, value)


@RegisterKL(Beta, Beta)
def _divergence(a, b, name=None):
    concentrations = ("concentration1", "concentration0", "total_concentration")
    values = [getattr(distribution, parameter) for distribution in (a, b) for parameter in concentrations]
    with name_scope(name, "kl_beta_beta", values=values):
        return (
            (b._log_normalization() - a._log_normalization())
            - ops.digamma(a.concentration1) * (b.concentration1 - a.concentration1)
            - ops.digamma(a.concentration0) * (b.concentration0 - a.concentration0)
            + ops.digamma(a.total_concentration) * (b.total_concentration - a.total_concentration)
        )
