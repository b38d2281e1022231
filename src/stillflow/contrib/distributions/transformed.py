"""TransformedDistribution: the distribution of what a bijector makes of samples."""

from __future__ import annotations

import operator

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.base import static_number
from stillflow.contrib.distributions.bijectors.elementwise import Identity
from stillflow.contrib.distributions.plain import ConditionalDistribution
from stillflow.distributions.distribution import Distribution
from stillflow.distributions.sample_shapes import as_vector_with_product, pick_vector
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.shape_values import constant_value_as_shape


def _known(value):
    return constant_value(convert_to_tensor(value))


def _both(*conditions):
    """Whether all of these bool scalars are true, a constant if that is known."""
    known = [_known(condition) for condition in conditions]
    if any(value is not None and not value for value in known):
        return ops.constant(False)
    if all(value is not None for value in known):
        return ops.constant(True)
    return ops.logical_and(*conditions) if len(conditions) == 2 else ops.reduce_all(conditions)


def _equal(x, y):
    x_known, y_known = _known(x), _known(y)
    if x_known is None or y_known is None:
        return ops.equal(x, y)
    return ops.constant(np.array_equal(x_known, y_known))


def _not(condition):
    known = _known(condition)
    return ops.logical_not(condition) if known is None else ops.constant(np.logical_not(known))


def _joined(*vectors):
    """int32 vectors one after the other, a constant if all are known."""
    known = [_known(vector) for vector in vectors]
    if any(value is None for value in known):
        return ops.concat(vectors, 0)
    return ops.constant([number for value in known for number in value])


def _chosen(condition, if_true, if_false):
    known = _known(condition)
    return ops.where_v2(condition, if_true, if_false) if known is None else (if_true if known else if_false)


def _length(shape):
    """How many sizes a shape has, an int32 scalar.

    Raises ValueError if it is no vector, TypeError for other types.
    """
    if shape.shape.ndims not in (None, 1):
        raise ValueError("input is not a valid shape: not 1D")
    if not shape.dtype.is_integer:
        raise TypeError("input is not a valid shape: wrong dtype")
    if shape.shape.is_fully_defined():
        return ops.constant(shape.shape.as_list()[0])
    return ops.shape(shape)[0]


def _ones_like(x):
    return ops.ones(x.shape.as_list(), dtype=x.dtype) if x.shape.is_fully_defined() else ops.ones_like(x)


def _may_be_there(shape):
    known = constant_value(shape)
    return known is None or known.size != 0


@public("contrib.distributions.TransformedDistribution")
class TransformedDistribution(Distribution):
    """The distribution of y = bijector(x), for an x of another distribution.

    Args:
      distribution: that of x.
      bijector: the identity if it is None.
      batch_shape, event_shape: of x, if the distribution is one of scalars, or a single one.
      validate_args: see Distribution.
      name: by default the bijector's and the distribution's.

    Raises ValueError for a shape if the distribution has one of its own.
    """

    def __init__(
        self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None
    ):
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            zero = ops.constant(0, dtype=dtypes.int32, name="zero")
            self._empty = ops.constant([], dtype=dtypes.int32, name="empty")
            if bijector is None:
                bijector = Identity(validate_args=validate_args)
            self._own_batch = self._checked_shape(
                batch_shape, distribution.is_scalar_batch(), validate_args, "batch_shape"
            )
            self._has_own_batch = _not(_equal(_length(self._own_batch), zero))
            self._may_have_batch = _may_be_there(self._own_batch)
            self._own_event = self._checked_shape(
                event_shape, distribution.is_scalar_event(), validate_args, "event_shape"
            )
            self._has_own_event = _not(_equal(_length(self._own_event), zero))
            self._may_have_event = _may_be_there(self._own_event)
            # Samples of an event shape of its own have the batch's dimensions behind those of events, at first.
            self._is_rotated = _both(
                self._has_own_event, _not(self._has_own_batch), _not(distribution.is_scalar_batch())
            )
            event_rank = _length(self._own_event)
            self._rotation = _chosen(self._is_rotated, event_rank, 0)
            self._event_dims = ops.range(self._rotation - event_rank, self._rotation)
        self._distribution, self._bijector = distribution, bijector
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            parameters,
            [*distribution._graph_parents, *self._bijector.graph_parents],
            name,
        )

    @property
    def distribution(self):
        """The distribution of x."""
        return self._distribution

    @property
    def bijector(self):
        """The function that makes y of x."""
        return self._bijector

    def _checked_shape(self, shape, base_is_scalar, validate_args, name):
        """A shape that is to stand for that of a scalar base, as a tensor.

        Raises ValueError for one that is no vector, or has sizes below 1, and if the base is not scalar.
        """
        shape = convert_to_tensor([] if shape is None else shape, dtype=dtypes.int32, name=name)
        is_scalar = _equal(_length(shape), 0)
        if constant_value(is_scalar):
            return self._empty
        later = []
        if shape.shape.ndims is None and validate_args:
            later.append(assert_rank(shape, 1, message="shape override must be a vector"))
        known = constant_value(shape)
        if known is not None:
            if (known <= 0).any():
                raise ValueError("shape override must have positive elements")
        elif validate_args:
            later.append(checks.assert_positive(shape, message="shape override must have positive elements"))
        are_both = _both(_not(base_is_scalar), _not(is_scalar))
        known = constant_value(are_both)
        if known:
            raise ValueError("base distribution not scalar")
        if known is None and validate_args:
            later.append(checks.assert_equal(are_both, False, message="base distribution not scalar"))
        return with_dependencies(later, shape) if later else shape

    def _event_shape_tensor(self):
        base = self.distribution.event_shape_tensor()
        return self.bijector.forward_event_shape_tensor(pick_vector(self._has_own_event, self._own_event, base))

    def _event_shape(self):
        own = constant_value_as_shape(self._own_event)
        return self.bijector.forward_event_shape(own if self._may_have_event else self.distribution.event_shape)

    def _batch_shape_tensor(self):
        base = self.distribution.batch_shape_tensor()
        return pick_vector(self._has_own_batch, self._own_batch, base)

    def _batch_shape(self):
        own = constant_value_as_shape(self._own_batch)
        return own if self._may_have_batch else self.distribution.batch_shape

    def _sample_n(self, n, seed=None, bijector_kwargs=None, distribution_kwargs=None):
        shape = _joined(
            pick_vector(self._is_rotated, self._empty, [n]),
            self._own_batch,
            self._own_event,
            pick_vector(self._is_rotated, [n], self._empty),
        )
        x = self.distribution.sample(sample_shape=shape, seed=seed, **(distribution_kwargs or {}))
        return self._rotated(x)

    def _rotated(self, x, back=False):
        """The dimensions of events behind those of the batch, or back."""
        known = constant_value(self._is_rotated)
        if known is not None and not known:
            return x
        rank = ops.rank(x)
        first = rank - self._rotation if back else self._rotation
        return ops.transpose(x, _joined(ops.range(first, rank), ops.range(0, first)))

    def _call_sample_n(self, sample_shape, seed, name, bijector_kwargs=None, distribution_kwargs=None):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtypes.int32, "sample_shape")
            sample_shape, n = as_vector_with_product(sample_shape, "sample_shape")
            x = self._sample_n(n, seed, bijector_kwargs, distribution_kwargs)
            batch_event_shape = ops.shape(x)[1:]
            x = ops.reshape(x, ops.concat([sample_shape, batch_event_shape], 0))
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return self._set_sample_static_shape(y, sample_shape)

    def _rank_of_events(self):
        known = self.event_shape.ndims
        return static_number(ops.size(self.event_shape_tensor())) if known is None else known

    def _on_fibers(self, y, of_one, combine, bijector_kwargs=None):
        """of_one(x, log determinant, rank of events) for the x of y, or the combination for all of them."""
        more = bijector_kwargs or {}
        x = self.bijector.inverse(y, **more)
        rank = self._rank_of_events()
        determinants = self.bijector.inverse_log_det_jacobian(y, event_ndims=rank, **more)
        if self.bijector._is_injective:
            return of_one(x, determinants, rank)
        return combine([of_one(*pair, rank) for pair in zip(x, determinants, strict=True)])

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        def of_one(x, determinant, rank):
            found = self.distribution.log_prob(self._rotated(x, back=True), **(distribution_kwargs or {}))
            if self._may_have_event:
                found = ops.reduce_sum(found, self._event_dims)
            found = self._of_density(found, ops.cast(determinant, found.dtype), operator.add)
            return self._with_batch_shape(found, y, rank)

        def combine(parts):
            return reduce_logsumexp(ops.stack(parts), axis=0)

        return self._on_fibers(y, of_one, combine, bijector_kwargs)

    def _prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        def of_one(x, determinant, rank):
            found = self.distribution.prob(self._rotated(x, back=True), **(distribution_kwargs or {}))
            if self._may_have_event:
                found = ops.reduce_prod(found, self._event_dims)
            found = self._of_density(found, ops.exp(ops.cast(determinant, found.dtype)), operator.mul)
            return self._with_batch_shape(found, y, rank)

        return self._on_fibers(y, of_one, sum, bijector_kwargs)

    def _of_density(self, density, factor, join):
        return join(density, factor)

    def _with_batch_shape(self, found, y, rank):
        if self._may_have_event and isinstance(rank, int):
            batch = y.shape.with_rank_at_least(1)[:-rank]
            found.set_shape(ops.broadcast_static_shape(batch, self.batch_shape))
        return found

    def _of_inverse(self, what, y, bijector_kwargs=None, distribution_kwargs=None):
        if self._may_have_event:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, what)(x, **(distribution_kwargs or {}))

    def _log_cdf(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._of_inverse("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._of_inverse("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._of_inverse("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._of_inverse("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(self, value, bijector_kwargs=None, distribution_kwargs=None):
        if self._may_have_event:
            raise NotImplementedError("quantile is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError("quantile is not implemented when bijector is not injective.")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self):
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self.distribution.entropy()
        if self._may_have_event:
            entropy *= ops.cast(ops.reduce_prod(self._own_event), entropy.dtype.base_dtype)
        if self._may_have_batch:
            ones = _ones_like(self._own_batch)
            entropy = ops.reshape(entropy, ops.concat([ones, self.distribution.batch_shape_tensor()], 0))
            ones = _ones_like(self.distribution.batch_shape_tensor())
            entropy = ops.tile(entropy, ops.concat([self._own_batch, ones], 0))
        shape = ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        anywhere = ops.zeros(shape, dtype=self.dtype)
        known = self.event_shape.ndims
        rank = ops.size(self.event_shape_tensor()) if known is None else known
        determinant = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=rank)
        entropy -= ops.cast(determinant, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


@public("contrib.distributions.ConditionalTransformedDistribution")
class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """One whose functions take `bijector_kwargs` and `distribution_kwargs`: dicts of arguments for either."""

    def _of_density(self, density, factor, join):
        return join(factor, density)
