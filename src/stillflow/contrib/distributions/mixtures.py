"""Mixtures of distributions: Mixture, MixtureSameFamily."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.distributions.categorical import Categorical
from stillflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from stillflow.distributions.seeds import derived_seed
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.python.ops.distribution_util.pad_mixture_dimensions")
def pad_mixture_dimensions(x, mixture_distribution, categorical_distribution, event_ndims):
    """Weights of components, or a mask, with the dimensions that events have: [B, k] as [B, k, 1, ...].

    Args:
      x: of shape [..., k].
      mixture_distribution: the mixture, whose batch x gets the rank of.
      categorical_distribution: the distribution of the number of the component.
      event_ndims: the rank of events, an int.
    """
    with name_scope("pad_mix_dims", values=[x]):
        rank, own_rank = _batch_rank(mixture_distribution), _batch_rank(categorical_distribution)
        missing = ops.where_v2(categorical_distribution.is_scalar_batch(), rank, rank - own_rank)
        shape = ops.shape(x)
        first, ones = shape[:-1], ops.ones([missing], dtypes.int32)
        parts = [first, ones, shape[-1:], ops.ones([event_ndims], dtypes.int32)]
        return ops.reshape(x, ops.concat(parts, axis=0))


def _batch_rank(distribution):
    known = distribution.batch_shape.ndims
    return ops.shape(distribution.batch_shape_tensor())[0] if known is None else known


@public("contrib.distributions.python.ops.distribution_util.mixture_stddev")
def mixture_stddev(mixture_weight_vector, mean_vector, stddev_vector):
    """Standard deviations of mixtures, [batch], of the weights, means and deviations of components, [batch, k].

    Raises ValueError for other shapes.
    """
    weights, means, deviations = mixture_weight_vector, mean_vector, stddev_vector
    weights.shape.assert_has_rank(2)
    for part, what in ((means, "means"), (deviations, "stddevs")):
        if not part.shape.is_compatible_with(weights.shape):
            raise ValueError(f"Expecting {what} to have same shape as mixture weights.")
    rows = ops.expand_dims(weights, axis=1)
    means, deviations = ops.expand_dims(means, axis=2), ops.expand_dims(deviations, axis=2)
    mean = ops.reshape(ops.matmul(rows, means), (-1,))
    within = ops.reshape(ops.matmul(rows, ops.square(deviations)), (-1,))
    between = ops.reshape(ops.matmul(rows, ops.square(means)), (-1,))
    return ops.sqrt(within + between - ops.square(mean))


@public("contrib.distributions.Mixture")
class Mixture(Distribution):
    """A mixture of distributions of one type and shape.

    Args:
      cat: a Categorical, of which component a sample is.
      components: a list of distributions.
      validate_args: whether the batches' shapes are checked to be the same.
      allow_nan_stats: see Distribution.
      use_static_graph: whether every component makes a sample for each, instead of those that are needed.
      name: the name scope.

    Raises TypeError for what is no distribution, and for types that differ; ValueError for numbers of components that
    do not fit, and shapes that differ.
    """

    def __init__(
        self,
        cat,
        components,
        validate_args=False,
        allow_nan_stats=True,
        use_static_graph=False,
        name="Mixture",
    ):
        parameters = dict(locals())
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not isinstance(components, (list, tuple)):
            raise TypeError(f"components must be a list or tuple, but saw: {components}")
        if not all(isinstance(each, Distribution) for each in components):
            raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
        dtype = components[0].dtype
        if any(each.dtype != dtype for each in components):
            found = [(each.name, each.dtype) for each in components]
            raise TypeError(f"All components must have the same dtype, but saw dtypes: {found}")
        self._known_event, self._known_batch = components[0].event_shape, cat.batch_shape
        for each in components:
            self._known_event = self._known_event.merge_with(each.event_shape)
            self._known_batch = self._known_batch.merge_with(each.batch_shape)
        if self._known_event.ndims is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the components provide a static "
                "number of ndims"
            )
        with name_scope(name, values=[cat.logits]) as name:
            count = constant_value(cat.event_size)
            if count is None:
                raise ValueError(
                    "Could not infer number of classes from cat and unable to compare this value to the number of "
                    "components passed in."
                )
            if int(count) != len(components):
                raise ValueError(f"cat.num_classes != len(components): {int(count)} vs. {len(components)}")
            self._cat, self._components = cat, list(components)
            shape = cat.batch_shape_tensor()
            self._needed = self._checks_of_batches(shape, ops.size(shape), validate_args)
        self._use_static_graph = use_static_graph
        parents = [parent for each in (cat, *components) for parent in each._graph_parents]
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    def _checks_of_batches(self, shape, rank, validate_args):
        if not validate_args:
            return []
        shapes = [each.batch_shape_tensor() for each in self._components]
        ranks = [ops.size(each) for each in shapes]
        message = "components[{}] batch shape must match cat batch shape"
        return [
            checks.assert_equal(wanted, each, message=message.format(i))
            for wanted, given in ((rank, ranks), (shape, shapes))
            for i, each in enumerate(given)
        ]

    @property
    def cat(self):
        """The distribution of the number of the component."""
        return self._cat

    @property
    def components(self):
        """The distributions that are mixed."""
        return self._components

    @property
    def num_components(self):
        """How many there are."""
        return len(self._components)

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _batch_shape(self):
        return self._known_batch

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _event_shape(self):
        return self._known_event

    def _weights(self, softmax):
        return ops.unstack(softmax(self.cat.logits), num=self.num_components, axis=-1)

    def _of_event_rank(self, x):
        for _ in range(self.event_shape.ndims):
            x = ops.expand_dims(x, -1)
        return x

    def _mean(self):
        with control_dependencies(self._needed):
            means = [each.mean() for each in self.components]
            weights = [self._of_event_rank(weight) for weight in self._weights(ops.softmax)]
            return ops.add_n([weight * mean for weight, mean in zip(weights, means, strict=True)])

    def _stddev(self):
        with control_dependencies(self._needed):
            means = [each.mean() for each in self.components]
            deviations = [each.stddev() for each in self.components]
            weights = self._weights(ops.softmax)
            means, deviations = ops.stack(means, axis=-1), ops.stack(deviations, axis=-1)
            weights = ops.stack([self._of_event_rank(weight) for weight in weights], axis=-1)
            weights *= ops.ones_like(means)
            rows = [ops.reshape(each, [-1, self.num_components]) for each in (weights, means, deviations)]
            return ops.reshape(mixture_stddev(*rows), ops.shape(weights)[:-1])

    def _mixed(self, what, value):
        """log of the sum of weights times what the components say of a value."""
        with control_dependencies(self._needed):
            value = convert_to_tensor(value, name="x")
            found = [getattr(each, what)(value) for each in self.components]
            weights = self._weights(ops.log_softmax)
            parts = [weight + part for weight, part in zip(weights, found, strict=True)]
            return reduce_logsumexp(ops.stack(parts, axis=0), [0])

    def _log_prob(self, value):
        return self._mixed("log_prob", value)

    def _log_cdf(self, value):
        return self._mixed("log_cdf", value)

    def _sample_n(self, n, seed=None):
        if self._use_static_graph:
            return self._chosen_samples(n, seed)
        with control_dependencies(self._needed):
            return self._needed_samples(n, seed)

    def _chosen_samples(self, n, seed):
        """One of the samples of all components for each."""
        numbers = self.cat.sample(n, seed=seed)
        samples = []
        for each in self.components:
            seed = derived_seed(seed, "mixture")
            samples.append(each.sample(n, seed=seed))
        rank = self.event_shape.ndims
        stacked = ops.stack(samples, axis=-rank - 1)
        kind = self.dtype.as_numpy_dtype
        mask = ops.one_hot(numbers, self.num_components, on_value=np.ones([], kind), off_value=np.zeros([], kind))
        return ops.reduce_sum(stacked * pad_mixture_dimensions(mask, self, self.cat, rank), axis=-1 - rank)

    def _needed_samples(self, n, seed):
        """Samples of each component, as many as are of it, put together."""
        n = convert_to_tensor(n, name="n")
        known = constant_value(n)
        n = n if known is None else int(known)
        numbers = self.cat.sample(n, seed=seed)
        shape, size = _shape_and_size(numbers)
        batch_shape = self.batch_shape
        if batch_shape.is_fully_defined():
            batch_size = batch_shape.num_elements()
        else:
            batch_size = ops.reduce_prod(self.batch_shape_tensor())
        event_shape = self.event_shape
        if event_shape.is_fully_defined():
            event_shape = np.array(event_shape.as_list(), dtype=np.int32)
        else:
            event_shape = self.event_shape_tensor()
        count = self.num_components
        places = ops.dynamic_partition(ops.reshape(ops.range(0, size), shape), numbers, count)
        in_batch = ops.reshape(ops.tile(ops.range(0, batch_size), [n]), shape)
        in_batch = ops.dynamic_partition(in_batch, numbers, count)
        samples = []
        for index, each in enumerate(self.components):
            own = ops.size(places[index])
            seed = derived_seed(seed, "mixture")
            found = each.sample(own, seed=seed)
            chosen = batch_size * ops.range(own) + in_batch[index]
            rows = ops.reshape(found, ops.concat([[own * batch_size], event_shape], 0))
            samples.append(ops.gather(rows, chosen, name="samples_class_c_gather"))
        found = ops.dynamic_stitch(places, samples)
        found = ops.reshape(found, ops.concat([shape, self.event_shape_tensor()], 0))
        found.set_shape(numbers.shape.concatenate(self.event_shape))
        return found

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        """The sum of the components' entropies times their probabilities, which the mixture's is not below."""
        with self._name_scope(name, values=[self.cat.logits]), control_dependencies(self._needed):
            entropies = [each.entropy() for each in self.components]
            weights = self._weights(ops.softmax)
            return ops.add_n([weight * part for weight, part in zip(weights, entropies, strict=True)])


def _shape_and_size(tensor):
    if tensor.shape.is_fully_defined():
        return tensor.shape.as_list(), tensor.shape.num_elements()
    return ops.shape(tensor), ops.size(tensor)


@public("contrib.distributions.MixtureSameFamily")
class MixtureSameFamily(Distribution):
    """A mixture of the distributions that are the last dimension of a batch.

    Args:
      mixture_distribution: a Categorical, of which component a sample is.
      components_distribution: a batch of distributions; the last dimension is that of components.
      validate_args, allow_nan_stats, name: see Distribution.

    Raises ValueError if the first is not one of integers, or shapes do not fit.
    """

    def __init__(
        self,
        mixture_distribution,
        components_distribution,
        validate_args=False,
        allow_nan_stats=True,
        name="MixtureSameFamily",
    ):
        parameters = dict(locals())
        choice, components = mixture_distribution, components_distribution
        with name_scope(name) as name:
            self._choice, self._components = choice, components
            events = components.event_shape_tensor()
            rank = dimension_value(events.shape[0])
            self._event_rank = ops.shape(events)[0] if rank is None else rank
            if not choice.dtype.is_integer:
                raise ValueError(f"`mixture_distribution.dtype` ({choice.dtype.name}) is not over integers")
            if choice.event_shape.ndims not in (None, 0):
                raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
            batch = components.batch_shape.with_rank_at_least(1)
            own = choice.batch_shape
            if own.is_fully_defined() and batch[:-1].is_fully_defined() and own.ndims != 0 and own != batch[:-1]:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` (`{own.as_list()}`) is not compatible with "
                    f"`components_distribution.batch_shape` (`{batch[:-1].as_list()}`)"
                )
            count = dimension_value(choice.logits.shape.with_rank_at_least(1)[-1])
            other = dimension_value(batch[-1])
            if count is not None and other is not None and count != other:
                raise ValueError(
                    f"`mixture_distribution components` ({count}) does not equal "
                    f"`components_distribution.batch_shape[-1]` ({other})"
                )
            self._count = ops.shape(choice.logits)[-1] if count is None else count
            parents = [*choice._graph_parents, *components._graph_parents]
            super().__init__(
                components.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name
            )

    @property
    def mixture_distribution(self):
        """The distribution of the number of the component."""
        return self._choice

    @property
    def components_distribution(self):
        """The batch of distributions that are mixed."""
        return self._components

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _batch_shape(self):
        return self._components.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _event_shape(self):
        return self._components.event_shape

    def _sample_n(self, n, seed=None):
        # As in TensorFlow 1.15 the seed is of no consequence: only that of the graph is.
        samples = self._components.sample(n)
        kind = samples.dtype.as_numpy_dtype
        numbers = self._choice.sample(n)
        mask = ops.one_hot(numbers, self._count, on_value=np.ones([], kind), off_value=np.zeros([], kind))
        return self._summed(samples * pad_mixture_dimensions(mask, self, self._choice, self.event_shape.ndims))

    def _summed(self, parts):
        return ops.reduce_sum(parts, axis=-1 - self._event_rank)

    def _probs(self):
        return self._padded(self._choice.probs)

    def _padded(self, x):
        return pad_mixture_dimensions(x, self, self._choice, self.event_shape.ndims)

    def _mixed(self, what, value):
        found = getattr(self._components, what)(self._with_component(value))
        weights = ops.log_softmax(self._choice.logits, axis=-1)
        return reduce_logsumexp(found + weights, axis=-1)

    def _with_component(self, x):
        """x with a dimension of size 1 for components."""
        with name_scope("pad_sample_dims", values=[x]):
            rank = ops.rank(x) if x.shape.ndims is None else x.shape.ndims
            shape, at = ops.shape(x), rank - self._event_rank
            return ops.reshape(x, ops.concat([shape[:at], [1], shape[at:]], axis=0))

    def _log_prob(self, value):
        return self._mixed("log_prob", value)

    def _log_cdf(self, value):
        return self._mixed("log_cdf", value)

    def _mean(self):
        return self._summed(self._probs() * self._components.mean())

    def _variance(self):
        probs = self._probs()
        within = self._summed(probs * self._components.variance())
        distance = ops.squared_difference(self._components.mean(), self._with_component(self._mean()))
        return within + self._summed(probs * distance)

    def _covariance(self):
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        probs = self._padded(self._probs())
        within = ops.reduce_sum(probs * self._components.covariance(), axis=-3)
        distance = self._components.mean() - self._with_component(self._mean())
        squares = distance[..., None, :] * distance[..., None]
        return within + ops.reduce_sum(probs * squares, axis=-3)
