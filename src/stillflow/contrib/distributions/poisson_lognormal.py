"""PoissonLogNormalQuadratureCompound: Poisson distributions whose rate is log-normal, nearly."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.distributions import random_poisson
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.counts import Poisson
from stillflow.contrib.distributions.quadratures import quadrature_scheme_lognormal_quantiles
from stillflow.distributions.categorical import Categorical
from stillflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from stillflow.distributions.sample_shapes import pick_vector
from stillflow.distributions.seeds import derived_seed
from stillflow.distributions.static_values import concat_vectors
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.PoissonLogNormalQuadratureCompound")
class PoissonLogNormalQuadratureCompound(Distribution):
    """Counts of a Poisson distribution whose rate is drawn from the points of a quadrature of a log-normal number.

    Args:
      loc, scale: mean and deviation of the logarithm of the rate, floats.
      quadrature_size: the number of points, an int.
      quadrature_fn: a function of loc, scale, quadrature_size and validate_args that returns (grid [..., size] of
        logarithms of rates, weights [size] or [..., size]).
      validate_args, allow_nan_stats, name: see Distribution.

    Raises TypeError if the grid and the weights are of different types.
    """

    def __init__(
        self, loc, scale, quadrature_size=8, quadrature_fn=quadrature_scheme_lognormal_quantiles,
        validate_args=False, allow_nan_stats=True, name="PoissonLogNormalQuadratureCompound",
    ):  # fmt: skip
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            if loc is not None:
                loc = convert_to_tensor(loc, name="loc")
            if scale is not None:
                scale = convert_to_tensor(scale, dtype=None if loc is None else loc.dtype, name="scale")
            grid, probs = quadrature_fn(loc, scale, quadrature_size, validate_args)
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs dtype "
                    f"({probs.dtype.name})."
                )
            self._distribution = Poisson(log_rate=grid, validate_args=validate_args, allow_nan_stats=allow_nan_stats)
            self._mixture_distribution = Categorical(
                logits=ops.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
            self._loc, self._scale, self._quadrature_size = loc, scale, quadrature_size
        super().__init__(
            grid.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [loc, scale], name
        )

    @property
    def mixture_distribution(self):
        """The distribution of the number of the point."""
        return self._mixture_distribution

    @property
    def distribution(self):
        """The Poisson distributions of all points, in the last dimension of the batch."""
        return self._distribution

    @property
    def loc(self):
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self):
        """The deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self):
        """The number of points."""
        return self._quadrature_size

    def _batch_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        return ops.broadcast_dynamic_shape(shape, ops.shape(self.mixture_distribution.logits))[:-1]

    def _batch_shape(self):
        logits = self.mixture_distribution.logits
        return ops.broadcast_static_shape(self.distribution.batch_shape, logits.shape)[:-1]

    def _event_shape_tensor(self):
        return ops.constant([], dtype="int32")

    def _event_shape(self):
        return TensorShape([])

    def _sample_n(self, n, seed=None):
        size = self.batch_shape.num_elements()
        if size is None:
            size = ops.reduce_prod(self.batch_shape_tensor())
        nothing = np.array([], np.int32)
        own = pick_vector(self.mixture_distribution.is_scalar_batch(), [size], nothing)
        numbers = self._mixture_distribution.sample(
            concat_vectors([n], own), seed=derived_seed(seed, "poisson_lognormal_quadrature_compound")
        )
        rows = pick_vector(self.is_scalar_batch(), nothing, np.array([-1], np.int32))
        numbers = ops.reshape(numbers, concat_vectors([n], rows))
        count = self._quadrature_size
        numbers += ops.range(start=0, limit=size * count, delta=count, dtype=numbers.dtype)
        rate = ops.gather(ops.reshape(self.distribution.rate, shape=[-1]), numbers)
        rate = ops.reshape(rate, concat_vectors([n], self.batch_shape_tensor()))
        return random_poisson(lam=rate, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        own = self.distribution.log_prob(x[..., None])
        return reduce_logsumexp(self.mixture_distribution.logits + own, axis=-1)

    def _mean(self):
        return ops.exp(reduce_logsumexp(self.mixture_distribution.logits + self.distribution.log_rate, axis=-1))

    def _variance(self):
        return ops.exp(self._log_variance())

    def _stddev(self):
        return ops.exp(0.5 * self._log_variance())

    def _log_variance(self):
        """log of the mean of variances, which are the rates, and squared distances of means from the mean."""
        distances = ops.abs(self.distribution.mean() - self._mean()[..., None])
        parts = ops.stack([self.distribution.log_rate, 2.0 * ops.log(distances)], axis=-1)
        return reduce_logsumexp(self.mixture_distribution.logits[..., None] + parts, axis=[-2, -1])
