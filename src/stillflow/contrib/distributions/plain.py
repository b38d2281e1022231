"""Distributions made of others, or of one value: Independent, Deterministic, and conditional ones."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from stillflow.distributions.divergence import RegisterKL, kl_divergence
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.Independent")
class Independent(Distribution):
    """A distribution whose last batch dimensions are dimensions of events.

    Args:
      distribution: the distribution.
      reinterpreted_batch_ndims: how many dimensions; by default all but the first.
      validate_args, name: see Distribution.

    Raises ValueError if there are fewer, or the number is not known.
    """

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                rank = distribution.batch_shape.ndims
                if rank is None:
                    raise ValueError("the rank of the batch must be known without reinterpreted_batch_ndims")
                reinterpreted_batch_ndims = max(0, rank - 1)
            moved = convert_to_tensor(reinterpreted_batch_ndims, dtype=dtypes.int32, name="reinterpreted_batch_ndims")
            known = constant_value(moved)
            if known is None:
                raise ValueError("reinterpreted_batch_ndims must be known")
            self._tensor, self._moved = moved, int(known)
            rank = distribution.batch_shape.ndims
            if rank is not None and self._moved > rank:
                raise ValueError(
                    f"reinterpreted_batch_ndims({self._moved}) cannot exceed distribution.batch_ndims({rank})"
                )
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            parameters,
            [*distribution._graph_parents],
            name,
        )

    @property
    def distribution(self):
        """The distribution whose batch dimensions these are."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self):
        """How many batch dimensions are of events, a tensor."""
        return self._tensor

    def _batch_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        return shape[: ops.size(shape) - self._moved]

    def _batch_shape(self):
        shape = self.distribution.batch_shape
        return TensorShape(None) if shape.ndims is None else shape[: shape.ndims - self._moved]

    def _event_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        own = shape[ops.size(shape) - self._moved :]
        return ops.concat([own, self.distribution.event_shape_tensor()], axis=0)

    def _event_shape(self):
        shape = self.distribution.batch_shape
        if shape.ndims is None:
            return TensorShape(None)
        return shape[shape.ndims - self._moved :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n, seed=None):
        return self.distribution.sample(sample_shape=n, seed=seed)

    def _summed(self, values):
        return ops.reduce_sum(values, axis=[-1 - i for i in range(self._moved)])

    def _log_prob(self, value):
        return self._summed(self.distribution.log_prob(value))

    def _entropy(self):
        return self._summed(self.distribution.entropy())

    def _mean(self):
        return self.distribution.mean()

    def _variance(self):
        return self.distribution.variance()

    def _stddev(self):
        return self.distribution.stddev()

    def _mode(self):
        return self.distribution.mode()


@RegisterKL(Independent, Independent)
def _divergence(a, b, name="kl_independent"):
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape != b.event_shape or p.event_shape != q.event_shape:
            raise ValueError("KL between Independents with different event shapes not supported.")
        dims = [-1 - i for i in range(a.event_shape.ndims - p.event_shape.ndims)]
        return ops.reduce_sum(kl_divergence(p, q, name=name), axis=dims)
    raise NotImplementedError("KL between Independents whose event shapes are not known")


class _Deterministic(Distribution):
    """The distribution of one value."""

    def __init__(self, loc, atol, rtol, is_vector, validate_args, allow_nan_stats, parameters, name):
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                message = "Argument loc must be at least rank 1."
                loc = with_dependencies([checks.assert_greater_equal(ops.rank(loc), 1, message=message)], loc)
            self._loc = loc
            self._atol, self._rtol = (
                self._tolerance(value, which, validate_args) for value, which in ((atol, "atol"), (rtol, "rtol"))
            )
        super().__init__(
            loc.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._loc, self._atol, self._rtol],
            name,
        )

    def _tolerance(self, value, name, validates):
        if value is None:
            return convert_to_tensor(0, dtype=self._loc.dtype, name=name)
        value = convert_to_tensor(value, dtype=self._loc.dtype, name=name)
        if not validates:
            return value
        return with_dependencies(
            [checks.assert_non_negative(value, message=f"Argument '{name}' must be non-negative")], value
        )

    @property
    def loc(self):
        """The value."""
        return self._loc

    @property
    def atol(self):
        """By how much others may differ from it."""
        return self._atol

    @property
    def rtol(self):
        """The same, in parts of the value."""
        return self._rtol

    def _slack(self):
        return self.atol + self.rtol * ops.abs(self.loc)

    def _entropy(self):
        return ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self):
        return ops.identity(self.loc)

    def _variance(self):
        return ops.zeros_like(self.loc)

    def _mode(self):
        return self.mean()

    def _sample_n(self, n, seed=None):
        return (
            ops.ones(ops.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
            * self.loc
        )


@public("contrib.distributions.Deterministic")
class Deterministic(_Deterministic):
    """The distribution that is one number.

    Args:
      loc: the number, for each of the batch.
      atol, rtol: values that differ by at most atol + rtol |loc| have probability 1, others 0.
      validate_args: whether these are checked.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"):
        parameters = dict(locals())
        super().__init__(loc, atol, rtol, False, validate_args, allow_nan_stats, parameters, name)

    def _batch_shape_tensor(self):
        return ops.shape(self.loc)

    def _batch_shape(self):
        return self.loc.shape

    def _event_shape_tensor(self):
        return ops.constant([], dtype=dtypes.int32)

    def _event_shape(self):
        return TensorShape([])

    def _prob(self, value):
        return ops.cast(ops.abs(value - self.loc) <= self._slack(), dtype=self.dtype)

    def _cdf(self, value):
        return ops.cast(value >= self.loc - self._slack(), dtype=self.dtype)


@public("contrib.distributions.VectorDeterministic")
class VectorDeterministic(_Deterministic):
    """The distribution that is one vector; the arguments are as in Deterministic."""

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="VectorDeterministic"
    ):
        parameters = dict(locals())
        super().__init__(loc, atol, rtol, True, validate_args, allow_nan_stats, parameters, name)

    def _batch_shape_tensor(self):
        return ops.shape(self.loc)[:-1]

    def _batch_shape(self):
        return self.loc.shape[:-1]

    def _event_shape_tensor(self):
        return ops.shape(self.loc)[-1:]

    def _event_shape(self):
        return self.loc.shape[-1:]

    def _prob(self, value):
        is_near = ops.abs(value - self.loc) <= self._slack()
        return ops.cast(ops.reduce_all(is_near, axis=-1), dtype=self.dtype)


@public("contrib.distributions.ConditionalDistribution")
class ConditionalDistribution(Distribution):
    """One whose functions take more arguments by name, which the public methods pass on."""

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value, name="log_prob", **condition_kwargs):
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value, name="prob", **condition_kwargs):
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value, name="log_cdf", **condition_kwargs):
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value, name="cdf", **condition_kwargs):
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value, name="log_survival_function", **condition_kwargs):
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value, name="survival_function", **condition_kwargs):
        return self._call_survival_function(value, name, **condition_kwargs)
