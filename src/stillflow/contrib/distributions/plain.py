"""Distributions made of others, or of one value: Independent, Deterministic, and conditional ones."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from stillflow.distributions.divergence import RegisterKL, kl_divergence
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
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

    Raises ValueError if there are fewer.
    """

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                reinterpreted_batch_ndims = _all_but_the_first(distribution)
            moved = convert_to_tensor(reinterpreted_batch_ndims, dtype=dtypes.int32, name="reinterpreted_batch_ndims")
            self._known = constant_value(moved)
            self._moved = moved if self._known is None else self._known
            super().__init__(
                distribution.dtype,
                distribution.reparameterization_type,
                validate_args,
                distribution.allow_nan_stats,
                parameters,
                [moved, *distribution._graph_parents],
                name,
            )
            self._conditions = self._checks_of_rank(moved, validate_args)

    def _checks_of_rank(self, moved, validate_args):
        rank = self._distribution.batch_shape.ndims
        if rank is not None and self._known is not None:
            if self._known > rank:
                raise ValueError(
                    f"reinterpreted_batch_ndims({self._known}) cannot exceed distribution.batch_ndims({rank})"
                )
            return []
        if not validate_args:
            return []
        rank = _size(self._distribution.batch_shape_tensor())
        message = "reinterpreted_batch_ndims cannot exceed distribution.batch_ndims"
        return [checks.assert_less_equal(moved, rank, message=message)]

    @property
    def distribution(self):
        """The distribution whose batch dimensions these are."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self):
        """How many batch dimensions are of events: an array if it is known, else a tensor."""
        return self._moved

    def _batch_shape_tensor(self):
        with control_dependencies(self._conditions):
            shape = self.distribution.batch_shape_tensor()
            return shape[: _size(shape) - self._moved]

    def _batch_shape(self):
        shape = self.distribution.batch_shape
        if self._known is None or shape.ndims is None:
            return TensorShape(None)
        return shape[: shape.ndims - self._known]

    def _event_shape_tensor(self):
        with control_dependencies(self._conditions):
            shape = self.distribution.batch_shape_tensor()
            own = shape[_size(shape) - self._moved :]
            return ops.concat([own, self.distribution.event_shape_tensor()], axis=0)

    def _event_shape(self):
        shape = self.distribution.batch_shape
        if self._known is None or shape.ndims is None:
            return TensorShape(None)
        return shape[shape.ndims - self._known :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n, seed=None):
        with control_dependencies(self._conditions):
            return self.distribution.sample(sample_shape=n, seed=seed)

    def _summed(self, values):
        numbers = ops.range(self._moved) if self._known is None else np.arange(self._known)
        return ops.reduce_sum(values, axis=-1 - numbers)

    def _log_prob(self, value):
        with control_dependencies(self._conditions):
            return self._summed(self.distribution.log_prob(value))

    def _entropy(self):
        with control_dependencies(self._conditions):
            return self._summed(self.distribution.entropy())

    def _mean(self):
        with control_dependencies(self._conditions):
            return self.distribution.mean()

    def _variance(self):
        with control_dependencies(self._conditions):
            return self.distribution.variance()

    def _stddev(self):
        with control_dependencies(self._conditions):
            return self.distribution.stddev()

    def _mode(self):
        with control_dependencies(self._conditions):
            return self.distribution.mode()


def _all_but_the_first(distribution):
    rank = distribution.batch_shape.ndims
    if rank is None:
        return ops.maximum(0, ops.shape(distribution.batch_shape_tensor())[0] - 1)
    return np.maximum(0, rank - 1)


def _size(shape):
    """How many sizes a shape has: an int if it is known."""
    known = dimension_value(shape.shape.with_rank_at_least(1)[0])
    return ops.shape(shape)[0] if known is None else known


@RegisterKL(Independent, Independent)
def _divergence(a, b, name="kl_independent"):
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape != b.event_shape:
            raise ValueError("Event shapes do not match.")
        if p.event_shape != q.event_shape:
            raise NotImplementedError("KL between Independents with different event shapes not supported.")
        dims = [-1 - i for i in range(a.event_shape.ndims - p.event_shape.ndims)]
        return ops.reduce_sum(kl_divergence(p, q, name=name), axis=dims)
    conditions = [
        checks.assert_equal(a.event_shape_tensor(), b.event_shape_tensor()),
        checks.assert_equal(p.event_shape_tensor(), q.event_shape_tensor()),
    ]
    with control_dependencies(conditions):
        count = ops.shape(a.event_shape_tensor()[0]) - ops.shape(p.event_shape_tensor()[0])
        return ops.reduce_sum(kl_divergence(p, q, name=name), axis=ops.range(-count - 1, -1, 1))


class _Deterministic(Distribution):
    """The distribution of one value."""

    def __init__(self, loc, atol, rtol, is_vector, validate_args, allow_nan_stats, parameters, name):
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                message = "Argument loc must be at least rank 1."
                if loc.shape.ndims is None:
                    loc = with_dependencies([assert_rank_at_least(loc, 1, message=message)], loc)
                elif loc.shape.ndims < 1:
                    raise ValueError(message)
            self._loc = loc
            super().__init__(
                loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._loc], name
            )
            self._atol, self._rtol = self._tolerance(atol), self._tolerance(rtol)
            self._slack = self.atol if rtol is None else self.atol + self.rtol * ops.abs(self.loc)

    def _tolerance(self, value):
        if value is None:
            return convert_to_tensor(0, dtype=self._loc.dtype)
        value = convert_to_tensor(value, dtype=self._loc.dtype)
        if not self.validate_args:
            return value
        message = "Argument 'tol' must be non-negative"
        return with_dependencies([checks.assert_non_negative(value, message=message)], value)

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

    def _entropy(self):
        return ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self):
        return ops.identity(self.loc)

    def _variance(self):
        return ops.zeros_like(self.loc)

    def _mode(self):
        return self.mean()

    def _sample_n(self, n, seed=None):
        count, rank = constant_value(convert_to_tensor(n)), self.loc.shape.ndims
        if count is None or rank is None:
            ones = ops.ones_like(ops.shape(self.loc))
            multiples = ops.concat(([n], ones), axis=0)
        else:
            multiples = [count, *[1] * rank]
        return ops.tile(self.loc[None, ...], multiples=multiples)


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
        return ops.cast(ops.abs(value - self.loc) <= self._slack, dtype=self.dtype)

    def _cdf(self, value):
        return ops.cast(value >= self.loc - self._slack, dtype=self.dtype)


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
        return ops.shape(self.loc)[-1]

    def _event_shape(self):
        return self.loc.shape[-1:]

    def _prob(self, value):
        if self.validate_args:
            is_vector = assert_rank_at_least(value, 1)
            wanted = self.event_shape_tensor()
            size = ops.gather(ops.shape(value), ops.rank(value) - 1)
            message = "Argument 'x' not defined in the same space R^k as this distribution"
            fits = checks.assert_equal(wanted, size, message=message)
            with control_dependencies([is_vector]), control_dependencies([fits]):
                value = ops.identity(value)
        is_near = ops.abs(value - self.loc) <= self._slack
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
