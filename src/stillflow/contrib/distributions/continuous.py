"""Distributions of numbers: Logistic, Cauchy, HalfNormal, InverseGamma, Chi2, Kumaraswamy, and softplus variants."""

from __future__ import annotations

import inspect
import math

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.distributions import random_gamma
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.composites.special import lbeta
from stillflow.contrib.distributions.bijectors.elementwise import Kumaraswamy as KumaraswamyBijector
from stillflow.contrib.distributions.transformed import TransformedDistribution
from stillflow.distributions.beta import Beta
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from stillflow.distributions.gamma import Exponential, Gamma
from stillflow.distributions.laplace import Laplace
from stillflow.distributions.location_scale import LocationScale
from stillflow.distributions.normal import Normal
from stillflow.distributions.normal_integrals import erfinv
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.distributions.static_values import get_broadcast_shape
from stillflow.distributions.student_t import StudentT
from stillflow.distributions.uniform import Uniform
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_normal, random_uniform


class _Standardized(LocationScale):
    def _z(self, value):
        with name_scope("standardize", values=[value]):
            return (value - self.loc) / self.scale

    def _uniform(self, n, smallest, seed):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        return random_uniform(shape, smallest, 1.0, self.dtype, seed)


@public("contrib.distributions.Logistic")
class Logistic(_Standardized):
    """The logistic distribution, whose distribution function is sigmoid((x - loc) / scale).

    Args:
      loc, scale: location and scale, of floats of one type and shapes that broadcast.
      validate_args: whether scale is checked to be positive.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        uniform = self._uniform(n, np.finfo(self.dtype.as_numpy_dtype).tiny, seed)
        return (ops.log(uniform) - ops.log1p(-1.0 * uniform)) * self.scale + self.loc

    def _log_prob(self, value):
        z = self._z(value)
        return -z - 2.0 * ops.softplus(-z) - ops.log(self.scale)

    def _log_cdf(self, value):
        return -ops.softplus(-self._z(value))

    def _cdf(self, value):
        return ops.sigmoid(self._z(value))

    def _log_survival_function(self, value):
        return -ops.softplus(self._z(value))

    def _survival_function(self, value):
        return ops.sigmoid(-self._z(value))

    def _entropy(self):
        return 2 + ops.log(self.scale * ops.ones_like(self.loc))

    def _mean(self):
        return self.loc * ops.ones_like(self.scale)

    def _stddev(self):
        return self.scale * ops.ones_like(self.loc) * math.pi / math.sqrt(3)


@public("contrib.distributions.Cauchy")
class Cauchy(_Standardized):
    """The Cauchy distribution, of density 1 / (pi scale (1 + ((x - loc) / scale)^2)), which has no mean.

    Args:
      loc, scale: location and scale, of floats of one type and shapes that broadcast.
      validate_args: whether scale is checked to be positive.
      allow_nan_stats: whether mean and deviation are NaN; otherwise asking for them raises ValueError.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return self._quantile(self._uniform(n, 0.0, seed))

    def _log_prob(self, value):
        return -ops.log1p(ops.square(self._z(value))) - (math.log(math.pi) + ops.log(self.scale))

    def _cdf(self, value):
        return ops.atan(self._z(value)) / math.pi + 0.5

    def _log_cdf(self, value):
        return ops.log1p(2 / math.pi * ops.atan(self._z(value))) - math.log(2)

    def _entropy(self):
        return (math.log(4 * math.pi) + ops.log(self.scale)) * ops.ones_like(self.loc)

    def _quantile(self, value):
        return self.loc + self.scale * ops.tan(math.pi * (value - 0.5))

    def _mode(self):
        return self.loc * ops.ones_like(self.scale)

    def _mean(self):
        return self._nowhere("mean")

    def _stddev(self):
        return self._nowhere("standard deviation")

    def _nowhere(self, what):
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return self._full(np.nan)


@public("contrib.distributions.HalfNormal")
class HalfNormal(ScalarDistribution):
    """The distribution of |x| for a normal x with mean 0.

    Args:
      scale: the standard deviation of x.
      validate_args: whether it is checked to be positive.
      allow_nan_stats, name: see Distribution.
    """

    PARAMETERS = ("scale",)

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        parameters = dict(locals())
        with (
            name_scope(name, values=[scale]) as name,
            control_dependencies([checks.assert_positive(scale)] if validate_args else []),
        ):
            self._scale = ops.identity(scale, name="scale")
        dtype = self._scale.dtype
        super().__init__(
            dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._scale], name
        )

    @property
    def scale(self):
        """The standard deviation of the normal distribution."""
        return self._scale

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        return ops.abs(random_normal(shape, 0.0, 1.0, self.dtype, seed) * self.scale)

    def _prob(self, value):
        height = np.sqrt(2) / self.scale / np.sqrt(np.pi)
        density = height * ops.exp(-0.5 * (value / self.scale) ** 2)
        return density * ops.cast(value >= 0, self.dtype)

    def _cdf(self, value):
        return ops.erf(ops.relu(value) / self.scale / math.sqrt(2.0))

    def _entropy(self):
        return 0.5 * ops.log(np.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self):
        return self.scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _quantile(self, value):
        return math.sqrt(2.0) * self.scale * erfinv(value)

    def _mode(self):
        return ops.zeros(self.batch_shape_tensor())

    def _variance(self):
        return self.scale**2.0 * (1.0 - 2.0 / math.pi)


@public("contrib.distributions.InverseGamma")
class InverseGamma(ScalarDistribution):
    """The distribution of 1 / x for an x that has a gamma distribution.

    Args:
      concentration, rate: positive floats of one type, of shapes that broadcast.
      validate_args: whether they, and values, are checked to be positive.
      allow_nan_stats: whether moments that do not exist are NaN; otherwise running them fails.
      name: the name scope.
    """

    PARAMETERS: tuple[str, ...] = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            needed = [checks.assert_positive(concentration), checks.assert_positive(rate)] if validate_args else []
            with control_dependencies(needed):
                self._concentration = ops.identity(concentration, name="concentration")
                self._rate = ops.identity(rate, name="rate")
                assert_same_float_dtype([self._concentration, self._rate])
        parents = [self._concentration, self._rate]
        dtype = self._concentration.dtype
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self):
        """The scale."""
        return self._rate

    def _sample_n(self, n, seed=None):
        return 1.0 / random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, value):
        value = self._checked_sample(value)
        found = -(1.0 + self.concentration) * ops.log(value) - self.rate / value
        return found - (ops.lgamma(self.concentration) - self.concentration * ops.log(self.rate))

    def _cdf(self, value):
        return ops.igammac(self.concentration, self.rate / self._checked_sample(value))

    def _entropy(self):
        c = self.concentration
        return c + ops.log(self.rate) + ops.lgamma(c) - (1.0 + c) * ops.digamma(c)

    def _mean(self):
        return self._beyond(1.0, self.rate / (self.concentration - 1.0), "mean")

    def _variance(self):
        c = self.concentration
        return self._beyond(2.0, ops.square(self.rate) / ops.squared_difference(c, 1.0) / (c - 2.0), "variance")

    def _mode(self):
        return self.rate / (1.0 + self.concentration)

    def _beyond(self, least, moment, what):
        """A moment that exists for concentrations above a number."""
        if self.allow_nan_stats:
            nan = self._full(np.nan, name="nan")
            return ops.where_v2(self.concentration > least, moment, nan)
        message = f"{what} undefined when any concentration <= {least:g}"
        least = ops.ones([], self.dtype) if least == 1 else ops.constant(least, dtype=self.dtype)
        check = checks.assert_less(least, self.concentration, message=message)
        return with_dependencies([check], moment)

    def _checked_sample(self, value):
        assert_same_float_dtype([value], self.dtype)
        return with_dependencies([checks.assert_positive(value)], value) if self.validate_args else value


@public("contrib.distributions.Chi2")
class Chi2(Gamma):
    """The chi-squared distribution: of the sum of df squares of standard normal numbers.

    Args:
      df: the degrees of freedom, positive floats.
      validate_args, allow_nan_stats, name: see Gamma.
    """

    PARAMETERS = ("df",)

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([checks.assert_positive(df)] if validate_args else []):
                self._df = ops.identity(df, name="df")
            super().__init__(
                concentration=0.5 * self._df,
                rate=ops.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    def _batch_shape_tensor(self):
        return ops.broadcast_dynamic_shape(ops.shape(self.concentration), ops.shape(self.rate))

    def _batch_shape(self):
        return ops.broadcast_static_shape(self.concentration.shape, self.rate.shape)


@public("contrib.distributions.Kumaraswamy")
class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution on [0, 1], of density a b x^(a - 1) (1 - x^a)^(b - 1).

    Args:
      concentration1, concentration0: a and b, positive floats of one type, of shapes that broadcast.
      validate_args: whether they are checked to be positive.
      allow_nan_stats: whether a mode that does not exist is NaN; otherwise running it fails.
      name: the name scope.
    """

    def __init__(
        self,
        concentration1=None,
        concentration0=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Kumaraswamy",
    ):
        with name_scope(name, values=[concentration1, concentration0]) as name:
            a = convert_to_tensor(concentration1, name="concentration1")
            b = convert_to_tensor(concentration0, name="concentration0")
        super().__init__(
            distribution=Uniform(
                low=ops.zeros([], dtype=a.dtype), high=ops.ones([], dtype=a.dtype), allow_nan_stats=allow_nan_stats
            ),
            bijector=KumaraswamyBijector(concentration1=a, concentration0=b, validate_args=validate_args),
            batch_shape=get_broadcast_shape(a, b),
            name=name,
        )
        self._reparameterization_type = FULLY_REPARAMETERIZED

    @property
    def concentration1(self):
        """The a of a b x^(a - 1) (1 - x^a)^(b - 1)."""
        return self.bijector.concentration1

    @property
    def concentration0(self):
        """The b of a b x^(a - 1) (1 - x^a)^(b - 1)."""
        return self.bijector.concentration0

    def _moment(self, n):
        total = self.concentration1 + self.concentration0
        a = ops.ones_like(total, dtype=self.dtype) * self.concentration1
        b = ops.ones_like(total, dtype=self.dtype) * self.concentration0
        both = ops.stack([1 + n / a, b], -1)
        return ops.exp(ops.log(b) + lbeta(both))

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        # TensorFlow 1.15's formula. The entropy is (1 - 1 / b) + (1 - 1 / a) harmonic - log(a b).
        return (1 - 1.0 / a) + (1 - 1.0 / b) * _harmonic(b) + ops.log(a) + ops.log(b)

    def _mean(self):
        return self._moment(1)

    def _variance(self):
        return self._moment(2) - ops.square(self._moment(1))

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        if self.allow_nan_stats:
            nan = self._full_nan()
            return ops.where_v2((a > 1.0) & (b > 1.0), mode, nan)
        is_there = checks.assert_less(
            ops.ones([], dtype=a.dtype), a, message="Mode undefined for concentration1 <= 1."
        )
        message = "Mode undefined for concentration0 <= 1."
        return with_dependencies(
            [is_there, checks.assert_less(ops.ones([], dtype=b.dtype), b, message=message)], mode
        )

    def _full_nan(self):
        return ops.fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")


def _harmonic(x):
    one = ops.ones([], dtype=x.dtype)
    return ops.digamma(x + one) - ops.digamma(one)


def _softplus_class(base, names, class_name):
    """A class like `base` whose parameters of these names are softplus of what is given."""
    signature = inspect.signature(base.__init__)
    own = [
        parameter.replace(default=class_name) if parameter.name == "name" else parameter
        for parameter in signature.parameters.values()
    ]

    def init(self, *args, **kwargs):
        bound = inspect.Signature(own).bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name != "self"}
        parameters = dict(given)
        with name_scope(given["name"], values=[given[name] for name in names]) as scope:
            for name in names:
                given[name] = ops.softplus(given[name], name=f"softplus_{name}")
            base.__init__(self, **{**given, "name": scope})
        self._parameters = parameters

    init.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    text = f"{base.__name__} with softplus of {' and '.join(names)}."
    return type(class_name, (base,), {"__init__": init, "__doc__": text, "__module__": __name__})


NormalWithSoftplusScale = public("contrib.distributions.NormalWithSoftplusScale")(
    _softplus_class(Normal, ["scale"], "NormalWithSoftplusScale")
)
LaplaceWithSoftplusScale = public("contrib.distributions.LaplaceWithSoftplusScale")(
    _softplus_class(Laplace, ["scale"], "LaplaceWithSoftplusScale")
)
GammaWithSoftplusConcentrationRate = public("contrib.distributions.GammaWithSoftplusConcentrationRate")(
    _softplus_class(Gamma, ["concentration", "rate"], "GammaWithSoftplusConcentrationRate")
)
ExponentialWithSoftplusRate = public("contrib.distributions.ExponentialWithSoftplusRate")(
    _softplus_class(Exponential, ["rate"], "ExponentialWithSoftplusRate")
)
InverseGammaWithSoftplusConcentrationRate = public("contrib.distributions.InverseGammaWithSoftplusConcentrationRate")(
    _softplus_class(InverseGamma, ["concentration", "rate"], "InverseGammaWithSoftplusConcentrationRate")
)
BetaWithSoftplusConcentration = public("contrib.distributions.BetaWithSoftplusConcentration")(
    _softplus_class(Beta, ["concentration1", "concentration0"], "BetaWithSoftplusConcentration")
)


@public("contrib.distributions.Chi2WithAbsDf")
class Chi2WithAbsDf(Chi2):
    """Chi2 with floor(|df|)."""

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2WithAbsDf"):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            whole = ops.floor(ops.abs(df, name="abs_df"), name="floor_abs_df")
            super().__init__(df=whole, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


@public("contrib.distributions.StudentTWithAbsDfSoftplusScale")
class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT with floor(|df|) and softplus(scale)."""

    def __init__(
        self,
        df,
        loc,
        scale,
        validate_args=False,
        allow_nan_stats=True,
        name="StudentTWithAbsDfSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            super().__init__(
                df=ops.floor(ops.abs(df)),
                loc=loc,
                scale=ops.softplus(scale, name="softplus_scale"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters
