"""Dirichlet: a distribution over probabilities of classes."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_less, assert_near, assert_positive
from stillflow.composites.distributions import random_gamma
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.composites.special import lbeta
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from stillflow.distributions.divergence import RegisterKL
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _checked_concentration(concentration, validate_args):
    if not validate_args:
        return concentration
    needed = [
        assert_positive(concentration, message="Concentration parameter must be positive."),
        assert_rank_at_least(concentration, 1, message="Concentration parameter must have >=1 dimensions."),
        assert_less(
            1, ops.shape(concentration)[-1], message="Concentration parameter must have event_size >= 2."
        ),
    ]  # fmt: skip
    return with_dependencies(needed, concentration)


class ConcentratedClasses(Distribution):
    """What Dirichlet and DirichletMultinomial share: concentrations of classes along the last dimension."""

    _concentration: Tensor
    _total_concentration: Tensor

    @property
    def concentration(self):
        """The concentrations of classes."""
        return self._concentration

    @property
    def total_concentration(self):
        """Their sum along the last dimension."""
        return self._total_concentration

    def _batch_shape_tensor(self):
        return ops.shape(self.total_concentration)

    def _batch_shape(self):
        return self.total_concentration.shape

    def _event_shape_tensor(self):
        return ops.shape(self.concentration)[-1:]

    def _event_shape(self):
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _prob(self, value):
        return ops.exp(self._log_prob(value))

    def _variance_scale(self):
        raise NotImplementedError

    def _covariance(self):
        x = self._variance_scale() * self._mean()
        return ops.matrix_set_diag(-ops.matmul(x[..., None], x[..., None, :]), self._variance())


@public("distributions.Dirichlet", "contrib.distributions.Dirichlet")
class Dirichlet(ConcentratedClasses):
    """The Dirichlet distribution over vectors that sum to 1, of density prod(x[i]^(c[i] - 1)) / B(c).

    Args:
      concentration: c, positive floats with classes along the last dimension.
      validate_args: whether it and values are checked.
      allow_nan_stats: whether the mode, where a concentration is <= 1, is NaN; otherwise running it fails.
      name: the name scope.
    """

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            self._concentration = _checked_concentration(
                convert_to_tensor(concentration, name="concentration"), validate_args
            )
            self._total_concentration = ops.reduce_sum(self._concentration, -1)
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._concentration, self._total_concentration], name,
        )  # fmt: skip

    def _sample_n(self, n, seed=None):
        gamma = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return gamma / ops.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _log_unnormalized_prob(self, value):
        value = self._checked_sample(value)
        return ops.reduce_sum(ops.xlogy(self.concentration - 1.0, value), -1)

    def _log_normalization(self):
        return lbeta(self.concentration)

    def _entropy(self):
        classes = ops.cast(self.event_shape_tensor()[0], self.dtype)
        return (
            self._log_normalization()
            + (self.total_concentration - classes) * ops.digamma(self.total_concentration)
            - ops.reduce_sum((self.concentration - 1.0) * ops.digamma(self.concentration), axis=-1)
        )

    def _mean(self):
        return self.concentration / self.total_concentration[..., None]

    def _variance(self):
        scale = self._variance_scale()
        x = scale * self._mean()
        return x * (scale - x)

    def _variance_scale(self):
        return ops.rsqrt(1.0 + self.total_concentration[..., None])

    def _mode(self):
        classes = ops.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., None] - classes)
        if self.allow_nan_stats:
            nan = ops.fill(ops.shape(mode), np.array(np.nan, self.dtype.as_numpy_dtype()), name="nan")
            return ops.where_v2(ops.reduce_all(self.concentration > 1.0, axis=-1), mode, nan)
        message = "Mode undefined when any concentration <= 1"
        return with_dependencies([assert_less(ops.ones([], self.dtype), self.concentration, message=message)], mode)

    def _checked_sample(self, value):
        if not self.validate_args:
            return value
        needed = [
            assert_positive(value, message="samples must be positive"),
            assert_near(
                ops.ones([], self.dtype), ops.reduce_sum(value, -1), message="sample last-dimension must sum to `1`"
            ),
        ]
        return with_dependencies(needed, value)


@RegisterKL(Dirichlet, Dirichlet)
def _divergence(a, b, name=None):
    # The expectation of log(x[i]) under a is digamma(a[i]) - digamma(sum(a)).
    with name_scope(name, "kl_dirichlet_dirichlet", values=[a.concentration, b.concentration]):
        digamma_of_sum = ops.digamma(ops.reduce_sum(a.concentration, axis=-1, keepdims=True))
        expected_log = ops.digamma(a.concentration) - digamma_of_sum
        difference = a.concentration - b.concentration
        return ops.reduce_sum(difference * expected_log, axis=-1) - lbeta(a.concentration) + lbeta(b.concentration)
