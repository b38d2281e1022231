"""StudentT: Student's t-distribution, by degrees of freedom, location and scale."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_less, assert_positive
from stillflow.composites.distributions import random_gamma
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.composites.special import lbeta
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.distributions.seeds import derived_seed
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.random.sampling import random_normal


@public("distributions.StudentT", "contrib.distributions.StudentT")
class StudentT(ScalarDistribution):
    """Student's t-distribution: loc + scale X / sqrt(Z / df), X normal, Z of the chi-squared distribution with df.

    Args:
      df, loc, scale: degrees of freedom, mean and scale, of floats of one type and shapes that broadcast.
      validate_args: whether df is checked to be positive.
      allow_nan_stats: whether mean and variance, where df <= 1, are NaN; otherwise running them fails.
      name: the name scope.
    """

    PARAMETERS = ("df", "loc", "scale")

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        parameters = dict(locals())
        with (
            name_scope(name, values=[df, loc, scale]) as name,
            control_dependencies([assert_positive(df)] if validate_args else []),
        ):
            self._df = ops.identity(df, name="df")
            self._loc = ops.identity(loc, name="loc")
            self._scale = ops.identity(scale, name="scale")
            assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._df, self._loc, self._scale], name,
        )  # fmt: skip

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self):
        """The mean, where there is one."""
        return self._loc

    @property
    def scale(self):
        """The scale; the standard deviation is larger."""
        return self._scale

    def _ones(self):
        return ops.ones(self.batch_shape_tensor(), self.dtype)

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        normal = random_normal(shape, dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        squares = random_gamma([n], 0.5 * df, 0.5, self.dtype, derived_seed(seed, "student_t"))
        return normal * ops.rsqrt(squares / df) * self.scale + self.loc

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _log_unnormalized_prob(self, value):
        y = (value - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * ops.log1p(y**2.0 / self.df)

    def _log_normalization(self):
        return (
            ops.log(ops.abs(self.scale))
            + 0.5 * ops.log(self.df)
            + 0.5 * np.log(np.pi)
            + ops.lgamma(0.5 * self.df)
            - ops.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, value):
        y = (value - self.loc) / ops.abs(self.scale)
        x = self.df / (y**2.0 + self.df)
        of_tail = 0.5 * ops.betainc(0.5 * self.df, 0.5, x)
        return ops.where_v2(ops.less(y, 0.0), of_tail, 1.0 - of_tail)

    def _entropy(self):
        ones = self._ones()[..., None]
        df = ones * self.df[..., None]
        beta_arguments = ops.concat([df, ones], -1) / 2.0
        return (
            ops.log(ops.abs(self.scale))
            + 0.5 * ops.log(self.df)
            + lbeta(beta_arguments)
            + 0.5 * (self.df + 1.0) * (ops.digamma(0.5 * (self.df + 1.0)) - ops.digamma(0.5 * self.df))
        )

    def _where_defined(self, value, what):
        """The value where df > 1, else NaN or a failure."""
        if self.allow_nan_stats:
            is_defined = ops.greater(self.df, self._ones())
            return ops.where_v2(is_defined, value, self._full(np.nan, name="nan"))
        message = f"{what} not defined for components of df <= 1"
        return with_dependencies([assert_less(ops.ones([], self.dtype), self.df, message=message)], value)

    def _mean(self):
        return self._where_defined(self.loc * self._ones(), "mean")

    def _variance(self):
        # A denominator that is not 0 in the branch that is not taken, either: its gradient would be NaN.
        denominator = ops.where_v2(ops.greater(self.df, 2.0), self.df - 2.0, ops.ones_like(self.df))
        variance = self._ones() * ops.square(self.scale) * self.df / denominator
        is_finite = self.df > self._full(2.0)
        return self._where_defined(ops.where_v2(is_finite, variance, self._full(np.inf, name="inf")), "variance")

    def _mode(self):
        return ops.identity(self.loc)
