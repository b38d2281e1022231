"""Distributions of whole numbers: Poisson, Geometric, Binomial, NegativeBinomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.distributions import random_gamma, random_poisson
from stillflow.distributions.argument_checks import (
    assert_integer_form,
    check_nonnegative_integers,
    get_logits_and_probs,
)
from stillflow.distributions.distribution import NOT_REPARAMETERIZED
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.distributions.seeds import derived_seed
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


@public("contrib.distributions.Poisson")
class Poisson(ScalarDistribution):
    """The Poisson distribution: k with probability rate^k exp(-rate) / k!.

    Args:
      rate: positive floats; or
      log_rate: their logarithms.
      validate_args: whether the rate, and values, are checked.
      allow_nan_stats, name: see Distribution.

    Raises ValueError if both are given or none, TypeError for what is not of floats.
    """

    PARAMETERS = ("rate",)

    def __init__(self, rate=None, log_rate=None, validate_args=False, allow_nan_stats=True, name="Poisson"):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            which = "rate" if log_rate is None else "log_rate"
            given = convert_to_tensor(rate if log_rate is None else log_rate, name=which)
            if not given.dtype.is_floating:
                raise TypeError(f"{which}.dtype ({given.dtype.name}) is a not a float-type.")
            if log_rate is None:
                with control_dependencies([checks.assert_positive(given)] if validate_args else []):
                    self._rate = ops.identity(given, name="rate")
                    self._log_rate = ops.log(given, name="log_rate")
            else:
                self._rate, self._log_rate = ops.exp(given, name="rate"), given
        dtype = self._rate.dtype
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._rate], name)

    @property
    def rate(self):
        """The mean."""
        return self._rate

    @property
    def log_rate(self):
        """The mean's logarithm."""
        return self._log_rate

    def _log_prob(self, value):
        value = self._checked(value)
        return value * self.log_rate - ops.lgamma(1.0 + value) - self.rate

    def _log_cdf(self, value):
        return ops.log(self.cdf(value))

    def _cdf(self, value):
        return ops.igammac(1.0 + self._checked(value), self.rate)

    def _checked(self, value):
        return check_nonnegative_integers(value) if self.validate_args else value

    def _mean(self):
        return ops.identity(self.rate)

    def _variance(self):
        return ops.identity(self.rate)

    def _mode(self):
        return ops.floor(self.rate)

    def _sample_n(self, n, seed=None):
        return random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


class _ByOdds(ScalarDistribution):
    """A distribution with logits or probs."""

    def _take(self, logits, probs, validate_args, name, **settings):
        self._logits, self._probs = get_logits_and_probs(
            logits, probs, validate_args=validate_args, name=name, **settings
        )

    @property
    def logits(self):
        """The logarithm of the odds."""
        return self._logits

    @property
    def probs(self):
        """The probability of success."""
        return self._probs


@public("contrib.distributions.Geometric")
class Geometric(_ByOdds):
    """The number of failures before a success: k with probability (1 - probs)^k probs.

    Args:
      logits: log(probs / (1 - probs)); or
      probs: the probability of success.
      validate_args: whether it, and values, are checked.
      allow_nan_stats, name: see Distribution.
    """

    PARAMETERS = ("probs",)

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._take(logits, probs, validate_args, name)
            with control_dependencies([checks.assert_positive(self._probs)] if validate_args else []):
                self._probs = ops.identity(self._probs, name="probs")
        parents = [self._probs, self._logits]
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name
        )

    def _sample_n(self, n, seed=None):
        # 0 would give infinity; the smallest normal number does not.
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        shape = ops.concat([[n], ops.shape(self._probs)], 0)
        return ops.floor(ops.log(random_uniform(shape, smallest, 1.0, self.dtype, seed)) / ops.log1p(-self.probs))

    def _whole(self, value):
        value = check_nonnegative_integers(value) if self.validate_args else ops.floor(value)
        return value * ops.ones_like(self.probs)

    def _cdf(self, value):
        value = self._whole(value)
        is_below, zero = value < 0.0, ops.zeros_like(value)
        return ops.where(is_below, zero, -ops.expm1((1.0 + value) * ops.log1p(-self.probs)))

    def _log_prob(self, value):
        value = self._whole(value)
        probs = self.probs * ops.ones_like(value)
        # 0 log(0) is to be 0, for a success that is certain.
        safe = ops.where(ops.equal(value, 0.0), ops.zeros_like(probs), probs)
        return value * ops.log1p(-safe) + ops.log(probs)

    def _entropy(self):
        probs = self._probs
        if self.validate_args:
            message = "Entropy is undefined when logits = inf or probs = 1."
            probs = with_dependencies(
                [checks.assert_less(probs, ops.constant(1.0, probs.dtype), message=message)], probs
            )
        return ops.softplus(self.logits) / probs - self.logits

    def _mean(self):
        return ops.exp(-self.logits)

    def _variance(self):
        return self._mean() / self.probs

    def _mode(self):
        return ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)


class _Counted(_ByOdds):
    """One with a number of trials."""

    PARAMETERS = ("total_count", "probs")
    _total_count: Any

    @property
    def total_count(self):
        """The number of trials, or of failures to wait for."""
        return self._total_count

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization(value)

    def _log_unnormalized_prob(self, value):
        raise NotImplementedError

    def _log_normalization(self, value):
        raise NotImplementedError


@public("contrib.distributions.Binomial")
class Binomial(_Counted):
    """The number of successes among some trials.

    Args:
      total_count: the number of trials, of floats.
      logits: log(probs / (1 - probs)); or
      probs: the probability of success.
      validate_args: whether parameters and values are checked.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                is_positive = checks.assert_non_negative(count, message="total_count must be non-negative.")
                message = "total_count cannot contain fractional components."
                count = with_dependencies([is_positive, assert_integer_form(count, message=message)], count)
            self._total_count = count
            self._take(logits, probs, validate_args, name)
        parents = [self._total_count, self._logits, self._probs]
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name
        )

    def _checked(self, counts):
        if not self.validate_args:
            return counts
        counts = check_nonnegative_integers(counts)
        message = "counts are not less than or equal to n."
        return with_dependencies([checks.assert_less_equal(counts, self.total_count, message=message)], counts)

    def _log_unnormalized_prob(self, counts):
        counts = self._checked(counts)
        return counts * ops.log(self.probs) + (self.total_count - counts) * ops.log1p(-self.probs)

    def _log_normalization(self, counts):
        counts = self._checked(counts)
        n = self.total_count
        return ops.lgamma(1.0 + n - counts) + ops.lgamma(1.0 + counts) - ops.lgamma(1.0 + n)

    def _prob(self, counts):
        return ops.exp(self._log_prob(counts))

    def _cdf(self, counts):
        counts, n, probs = self._checked(counts), self.total_count, self.probs
        is_whole = counts.shape.is_fully_defined() and probs.shape.is_fully_defined()
        if not (is_whole and counts.shape.is_compatible_with(probs.shape)):
            probs += ops.zeros_like(counts)
            counts += ops.zeros_like(self.probs)
        ones = ops.ones_like(n - counts)
        are_all = ops.equal(counts, n)
        others = ops.where_v2(are_all, ones, n - counts)
        return ops.where_v2(are_all, ones, ops.betainc(others, counts + 1, 1 - probs))

    def _mean(self):
        return self.total_count * self.probs

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return ops.floor((1.0 + self.total_count) * self.probs)


@public("contrib.distributions.NegativeBinomial")
class NegativeBinomial(_Counted):
    """The number of successes before some failures.

    Args:
      total_count: the number of failures, positive floats.
      logits: log(probs / (1 - probs)); or
      probs: the probability of success.
      validate_args: whether parameters and values are checked.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="NegativeBinomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._take(logits, probs, validate_args, name)
            with control_dependencies([checks.assert_positive(total_count)] if validate_args else []):
                self._total_count = ops.identity(total_count)
        parents = [self._total_count, self._probs, self._logits]
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name
        )

    def _sample_n(self, n, seed=None):
        # A Poisson distribution whose rate has a gamma distribution.
        rate = random_gamma([n], self.total_count, ops.exp(-self.logits), self.dtype, seed)
        return random_poisson(rate, [], dtype=self.dtype, seed=derived_seed(seed, "negative_binom"))

    def _cdf(self, value):
        if self.validate_args:
            value = check_nonnegative_integers(value)
        return ops.betainc(self.total_count, 1.0 + value, ops.sigmoid(-self.logits))

    def _log_unnormalized_prob(self, value):
        if self.validate_args:
            value = check_nonnegative_integers(value)
        return self.total_count * ops.log_sigmoid(-self.logits) + value * ops.log_sigmoid(self.logits)

    def _log_normalization(self, value):
        if self.validate_args:
            value = check_nonnegative_integers(value)
        n = self.total_count
        return -ops.lgamma(n + value) + ops.lgamma(1.0 + value) + ops.lgamma(n)

    def _mean(self):
        return self.total_count * ops.exp(self.logits)

    def _variance(self):
        return self._mean() / ops.sigmoid(-self.logits)

    def _mode(self):
        n = self.total_count
        others = ops.where_v2(n > 1.0, n - 1.0, ops.zeros_like(n))
        return ops.floor(others * ops.exp(self.logits))
