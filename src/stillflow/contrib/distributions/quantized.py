"""QuantizedDistribution: the distribution of the whole numbers above samples of another."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.distributions.argument_checks import assert_integer_form
from stillflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _log_of_difference(larger, smaller):
    """log(exp(larger) - exp(smaller))."""
    with name_scope("logsum_expbig_minus_expsmall", values=[smaller, larger]):
        return ops.log(1.0 - ops.exp(smaller - larger)) + larger


@public("contrib.distributions.QuantizedDistribution")
class QuantizedDistribution(Distribution):
    """The distribution of Y = ceil(X), or low where that is less, or high where it is more.

    Args:
      distribution: that of X.
      low, high: whole numbers, or None for no bound.
      validate_args, name: see Distribution.

    Raises TypeError for bounds of another type than that of X.
    """

    def __init__(self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"):
        parameters = dict(locals())
        with name_scope(name, values=[*distribution.parameters.values(), low, high]) as name:
            self._dist = distribution
            low = None if low is None else convert_to_tensor(low, name="low")
            high = None if high is None else convert_to_tensor(high, name="high")
            assert_same_float_dtype([distribution, low, high])
            conditions = []
            if validate_args and low is not None and high is not None:
                conditions = [checks.assert_less(low, high, message="low must be strictly less than high.")]
            self._validate_args = validate_args
            with control_dependencies(conditions):
                self._low = None if low is None else self._checked(low)
                self._high = None if high is None else self._checked(high)
        bounds = [bound for bound in (self._low, self._high) if bound is not None]
        super().__init__(
            distribution.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            distribution.allow_nan_stats,
            parameters,
            [*distribution._graph_parents, *bounds],
            name,
        )

    @property
    def distribution(self):
        """The distribution of X."""
        return self._dist

    @property
    def low(self):
        """The least value, or None."""
        return self._low

    @property
    def high(self):
        """The largest value, or None."""
        return self._high

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self):
        return self.distribution.batch_shape

    def _event_shape_tensor(self):
        return self.distribution.event_shape_tensor()

    def _event_shape(self):
        return self.distribution.event_shape

    def _checked(self, value):
        with name_scope("check_integer", values=[value]):
            value = convert_to_tensor(value, name="value")
            if not self._validate_args:
                return value
            return with_dependencies([assert_integer_form(value, message="value has non-integer components.")], value)

    def _sample_n(self, n, seed=None):
        with name_scope("transform"):
            n = convert_to_tensor(n, name="n")
            x = self.distribution.sample(n, seed=seed)
            ones = ops.ones_like(x)
            y = ops.ceil(x)
            if self._low is not None:
                y = ops.where(y < self._low, self._low * ones, y)
            if self._high is not None:
                y = ops.where(y > self._high, self._high * ones, y)
            return y

    def _log_prob(self, y):
        y = self._checked(y)
        try:
            above, above_last = self.log_survival_function(y), self.log_survival_function(y - 1)
            below, below_last = self.log_cdf(y), self.log_cdf(y - 1)
        except NotImplementedError:
            return _log_of_difference(self.log_cdf(y), self.log_cdf(y - 1))
        # Of the two tails, the one that is smaller loses less to rounding.
        larger = ops.where(above < below, above_last, below)
        smaller = ops.where(above < below, above, below_last)
        return _log_of_difference(larger, smaller)

    def _prob(self, y):
        y = self._checked(y)
        try:
            above, above_last = self.survival_function(y), self.survival_function(y - 1)
            below, below_last = self.cdf(y), self.cdf(y - 1)
        except NotImplementedError:
            return self.cdf(y) - self.cdf(y - 1)
        return ops.where(above < below, above_last - above, below - below_last)

    def _within(self, function, at, under, over):
        """function(at), or `under` below the least value, or `over` from the largest on."""
        found = function(at)
        at += ops.zeros_like(found)
        if self._low is not None:
            found = _replaced(lambda: at < self._low, under, found)
        if self._high is not None:
            found = _replaced(lambda: at >= self._high, over, found)
        return found

    def _log_cdf(self, y):
        return self._within(self.distribution.log_cdf, ops.floor(y), _no_chance, ops.zeros_like)

    def _cdf(self, y):
        return self._within(self.distribution.cdf, ops.floor(y), ops.zeros_like, ops.ones_like)

    def _log_survival_function(self, y):
        return self._within(self.distribution.log_survival_function, ops.ceil(y), ops.zeros_like, _no_chance)

    def _survival_function(self, y):
        return self._within(self.distribution.survival_function, ops.ceil(y), ops.ones_like, ops.zeros_like)


def _replaced(condition, by, values):
    """The values, others where the condition holds. -inf is made before the condition, as TensorFlow makes it."""
    if by is _no_chance:
        others = by(values)
        return ops.where(condition(), others, values)
    return ops.where(condition(), by(values), values)


def _no_chance(like):
    return -np.inf * ops.ones_like(like)
