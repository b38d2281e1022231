"""Autoregressive: a distribution whose coordinates are drawn one after the other."""

from __future__ import annotations

import numpy as np

from stillflow.distributions.distribution import Distribution
from stillflow.distributions.seeds import derived_seed
from stillflow.graph.name_scope import name_scope
from stillflow.names import public


@public("contrib.distributions.Autoregressive")
class Autoregressive(Distribution):
    """The distribution of x of which each coordinate is drawn given those before it.

    Papamakarios et al., "Masked Autoregressive Flow for Density Estimation", 2017.

    Args:
      distribution_fn: a function of a sample that gives the distribution of the next; each coordinate of it may
        depend on the ones before only.
      sample0: the first sample; without it the function is called without arguments first.
      num_steps: how often the function is applied; by default as often as there are coordinates.
      validate_args, allow_nan_stats, name: see Distribution.

    Raises ValueError for num_steps below 1, and if the shape of events is not known without it.
    """

    def __init__(
        self,
        distribution_fn,
        sample0=None,
        num_steps=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Autoregressive",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn, self._sample0 = distribution_fn, sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
            if num_steps is None:
                raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        super().__init__(
            first.dtype,
            first.reparameterization_type,
            validate_args,
            allow_nan_stats,
            parameters,
            first._graph_parents,
            name,
        )

    @property
    def distribution_fn(self):
        """The function."""
        return self._distribution_fn

    @property
    def sample0(self):
        """The first sample, or None."""
        return self._sample0

    @property
    def num_steps(self):
        """How often the function is applied."""
        return self._num_steps

    @property
    def distribution0(self):
        """The distribution for the first sample."""
        return self._distribution0

    def _batch_shape(self):
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self):
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self):
        return self.distribution0.event_shape

    def _event_shape_tensor(self):
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        if seed is None:  # all steps have one, so that the coordinates drawn before are drawn again
            seed = derived_seed(seed=np.random.randint(2**32 - 1), salt="autoregressive")
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value):
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value):
        return self.distribution_fn(value).prob(value)
