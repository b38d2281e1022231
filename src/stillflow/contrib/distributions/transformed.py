"""TransformedDistribution: the distribution of what a bijector makes of samples."""

from __future__ import annotations

import operator

import numpy as np

from stillflow import ops
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.base import static_number
from stillflow.contrib.distributions.bijectors.elementwise import Identity
from stillflow.contrib.distributions.plain import ConditionalDistribution
from stillflow.distributions.distribution import Distribution
from stillflow.distributions.sample_shapes import as_vector_with_product, set_static_shape
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value, partial_constant, value_as_dims
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _checked_shape(shape, base_shape, name):
    """A shape that is to stand for that of a scalar base, as a tensor; None for one of a scalar.

    Raises ValueError for one that is no vector, or has sizes below 1, and if the base is not scalar.
    """
    if shape is None:
        return None
    shape = convert_to_tensor(shape, dtype=dtypes.int32, name=name)
    if shape.shape.ndims != 1:
        raise ValueError("shape override must be a vector")
    if shape.shape.as_list() == [0]:
        return None
    known = constant_value(shape)
    if known is not None and (known <= 0).any():
        raise ValueError("shape override must have positive elements")
    if base_shape.ndims not in (None, 0):
        raise ValueError("base distribution not scalar")
    return shape


def _static(shape):
    return TensorShape(value_as_dims(partial_constant(shape)))


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
            self._own_batch = _checked_shape(batch_shape, distribution.batch_shape, "batch_shape")
            self._own_event = _checked_shape(event_shape, distribution.event_shape, "event_shape")
            # Samples of an event shape of its own have the batch's dimensions behind those of events, at first.
            is_batch = distribution.batch_shape.ndims != 0
            self._is_rotated = self._own_event is not None and self._own_batch is None and is_batch
            self._event_rank = 0 if self._own_event is None else static_number(ops.size(self._own_event))
        self._distribution = distribution
        self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
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

    def _event_shape_tensor(self):
        own = self._own_event
        return self.bijector.forward_event_shape_tensor(
            self.distribution.event_shape_tensor() if own is None else own
        )

    def _event_shape(self):
        own = self._own_event
        return self.bijector.forward_event_shape(self.distribution.event_shape if own is None else _static(own))

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor() if self._own_batch is None else self._own_batch

    def _batch_shape(self):
        return self.distribution.batch_shape if self._own_batch is None else _static(self._own_batch)

    def _sample_n(self, n, seed=None, bijector_kwargs=None, distribution_kwargs=None):
        count = [convert_to_tensor([n], dtype=dtypes.int32)]
        own = [shape for shape in (self._own_batch, self._own_event) if shape is not None]
        parts = [*own, *count] if self._is_rotated else [*count, *own]
        shape = parts[0] if len(parts) == 1 else ops.concat(parts, 0)
        x = self.distribution.sample(sample_shape=shape, seed=seed, **(distribution_kwargs or {}))
        return self._rotated(x)

    def _rotated(self, x, back=False):
        """The dimensions of events behind those of the batch, or back."""
        if not self._is_rotated:
            return x
        rank = ops.rank(x) if x.shape.ndims is None else x.shape.ndims
        first = rank - self._event_rank if back else self._event_rank
        if isinstance(first, int) and isinstance(rank, int):
            return ops.transpose(x, [*range(first, rank), *range(first)])
        return ops.transpose(x, ops.concat([ops.range(first, rank), ops.range(0, first)], 0))

    def _call_sample_n(self, sample_shape, seed, name, bijector_kwargs=None, distribution_kwargs=None):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtypes.int32, "sample_shape")
            sample_shape, n = as_vector_with_product(sample_shape, "sample_shape")
            x = self._sample_n(n, seed, bijector_kwargs, distribution_kwargs)
            x = ops.reshape(x, ops.concat([sample_shape, ops.shape(x)[1:]], 0))
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return set_static_shape(y, sample_shape, self.batch_shape, self.event_shape)

    def _rank_of_events(self):
        known = self.event_shape.ndims
        return static_number(ops.size(self.event_shape_tensor())) if known is None else known

    def _on_fibers(self, y, of_one, combine, bijector_kwargs=None):
        """of_one(x, log determinant) for the x of y, or the combination for all of them."""
        more = bijector_kwargs or {}
        x = self.bijector.inverse(y, **more)
        determinants = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._rank_of_events(), **more)
        if self.bijector._is_injective:
            return of_one(x, determinants)
        return combine([of_one(*pair) for pair in zip(x, determinants, strict=True)])

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        def of_one(x, determinant):
            density = self.distribution.log_prob(self._rotated(x, back=True), **(distribution_kwargs or {}))
            return self._of_fiber(y, density, ops.reduce_sum, determinant, operator.add)

        def combine(parts):
            return reduce_logsumexp(ops.stack(parts), axis=0)

        return self._on_fibers(y, of_one, combine, bijector_kwargs)

    def _prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        def of_one(x, determinant):
            density = self.distribution.prob(self._rotated(x, back=True), **(distribution_kwargs or {}))
            return self._of_fiber(y, density, ops.reduce_prod, ops.exp(determinant), operator.mul)

        return self._on_fibers(y, of_one, sum, bijector_kwargs)

    def _of_fiber(self, y, density, reduce, factor, join):
        if self._own_event is not None:
            rank = self._event_rank
            density = reduce(density, list(range(rank)) if self._is_rotated else list(range(-rank, 0)))
        density = join(density, ops.cast(factor, density.dtype))
        if self._own_event is not None and y.shape.ndims is not None:
            batch = y.shape[: y.shape.ndims - self._rank_of_events()]
            density.set_shape(ops.broadcast_static_shape(batch, self.batch_shape))
        return density

    def _of_inverse(self, what, y, bijector_kwargs=None, distribution_kwargs=None):
        if self._own_event is not None:
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
        if self._own_event is not None:
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
        if self._own_event is not None:
            entropy *= ops.cast(ops.reduce_prod(self._own_event), entropy.dtype.base_dtype)
        if self._own_batch is not None:
            ones = ops.ones_like(self._own_batch)
            inner = self.distribution.batch_shape_tensor()
            entropy = ops.reshape(entropy, ops.concat([ones, inner], 0))
            entropy = ops.tile(entropy, ops.concat([self._own_batch, ops.ones_like(inner)], 0))
        shape = ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        anywhere = ops.fill(shape, np.zeros([], self.dtype.as_numpy_dtype))
        determinant = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=self._rank_of_events())
        entropy -= ops.cast(determinant, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


@public("contrib.distributions.ConditionalTransformedDistribution")
class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """One whose functions take `bijector_kwargs` and `distribution_kwargs`: dicts of arguments for either."""
