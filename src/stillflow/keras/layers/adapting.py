"""Layers that take in data before a model is trained: their state is computed of a data set, not by gradients."""

from __future__ import annotations

import abc
import collections
import json

import numpy as np

from stillflow import errors, ops
from stillflow.datasets.cardinality import INFINITE, cardinality
from stillflow.datasets.iterator import make_initializable_iterator
from stillflow.datasets.node import DatasetNode
from stillflow.graph import dtypes, nest
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.phases import get_session
from stillflow.keras.backend.values import batch_get_value, batch_set_value, get_value
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.settings import floatx
from stillflow.names import public


@public("python.keras.engine.base_preprocessing_layer.PreprocessingLayer")
class PreprocessingLayer(Layer, abc.ABC):
    """A layer with a method `adapt`, which computes its state of data."""

    @abc.abstractmethod
    def adapt(self, data, reset_state=True):
        """Computes the state of a tf.data.Dataset, or of an array.

        Args:
          data: the data.
          reset_state: whether to begin anew, rather than with the state that there is.
        """


@by_mode
def _elements(dataset):
    iterator = make_initializable_iterator(dataset)
    following = iterator.get_next()
    session = get_session()
    session.run(iterator.initializer)
    while True:
        try:
            yield session.run(following)
        except errors.OutOfRangeError:
            return


@eager_version_of(_elements)
def _values_of_elements(dataset):
    for element in dataset:
        yield nest.map_structure(lambda tensor: tensor.numpy(), element)


@public(
    "python.keras.engine.base_preprocessing_layer.CombinerPreprocessingLayer",
    "python.keras.engine.base_preprocessing_layer_v1.CombinerPreprocessingLayer",
)
class CombinerPreprocessingLayer(PreprocessingLayer):
    """A layer whose state a Combiner computes, batch by batch. Subclasses make the variables in `build`.

    Args:
      combiner: the Combiner.
      kwargs: of Layer.

    Attributes:
      state_variables: {name: variable} of what `adapt` sets.
    """

    def __init__(self, combiner, **kwargs):
        super().__init__(**kwargs)
        self._combiner = combiner
        self.state_variables = collections.OrderedDict()

    def _add_state_variable(
        self, name, shape, dtype, initializer=None, partitioner=None, use_resource=None, **kwargs
    ):
        """Makes a variable that `adapt` sets, and returns it; the arguments are those of `add_weight`."""
        weight = self.add_weight(
            name=name, shape=shape, dtype=dtype, initializer=initializer, trainable=False, partitioner=partitioner,
            use_resource=use_resource, **kwargs,
        )  # fmt: skip
        self.state_variables[name] = weight
        return weight

    def adapt(self, data, reset_state=True):
        """Computes the state of a tf.data.Dataset, or of an array, which counts as one batch.

        Raises ValueError for other data, and for a data set without an end.
        """
        if isinstance(data, DatasetNode):
            if get_value(cardinality(data)) == INFINITE:
                raise ValueError(
                    'The dataset passed to "adapt()" has an infinite number of elements. Please use '
                    "dataset.take(...) to make the number of elements finite."
                )
            batches = _elements(data)
        elif isinstance(data, np.ndarray):
            batches = iter([data])
        else:
            raise ValueError(f"adapt() requires a Dataset or a Numpy array as input, got {type(data)}")
        accumulator = None if reset_state else self._combiner.restore(self._state())
        for batch in batches:
            if not self.built:
                self.build(getattr(batch, "shape", None))
            accumulator = self._combiner.compute(batch, accumulator)
        self._set_state_variables(self._combiner.extract(accumulator))

    def _state(self):
        names = [*self.state_variables]
        return dict(zip(names, batch_get_value([self.state_variables[name] for name in names]), strict=True))

    def _set_state_variables(self, updates):
        """Sets variables: {name: value}. Raises RuntimeError if they have not been made yet."""
        if not self.built:
            raise RuntimeError("_set_state_variables() must be called after build().")
        batch_set_value([(self.state_variables[name], np.asarray(value)) for name, value in updates.items()])


@public("python.keras.engine.base_preprocessing_layer.Combiner")
class Combiner(abc.ABC):
    """A computation over data that come in parts, of which each can be computed apart.

    What it knows of some data is an accumulator, an object of any kind.
    """

    def __repr__(self):
        return f"<{type(self).__name__}>"

    @abc.abstractmethod
    def compute(self, batch_values, accumulator=None):
        """An accumulator of a batch, and of what another one knows already."""

    @abc.abstractmethod
    def merge(self, accumulators):
        """One accumulator of a list; their order does not matter."""

    @abc.abstractmethod
    def extract(self, accumulator):
        """What an accumulator knows, as {name: array}."""

    @abc.abstractmethod
    def restore(self, output):
        """An accumulator of what `extract` returned."""

    @abc.abstractmethod
    def serialize(self, accumulator):
        """An accumulator as bytes."""

    @abc.abstractmethod
    def deserialize(self, encoded_accumulator):
        """An accumulator of what `serialize` returned."""


_Moments = collections.namedtuple("_Moments", ["count", "mean", "variance"])


class _MomentsCombiner(Combiner):
    """The number of values, their means and variances, for each place along the axes that are kept."""

    def __init__(self, axis):
        self.axis = axis

    def compute(self, batch_values, accumulator=None):
        kept = {axis % batch_values.ndim for axis in np.atleast_1d(self.axis)}
        others = tuple(axis for axis in range(batch_values.ndim) if axis not in kept)
        count = np.int32(np.prod([batch_values.shape[axis] for axis in others], dtype=np.int64))
        means = (moment(batch_values, axis=others, dtype=np.float64) for moment in (np.mean, np.var))
        found = self._create_accumulator(count, *means)
        return found if accumulator is None else self.merge([accumulator, found])

    def merge(self, accumulators):
        count = sum(each.count for each in accumulators)
        mean = sum(each.mean * each.count for each in accumulators) / count
        spread = sum(each.count * (each.variance + np.square(each.mean - mean)) for each in accumulators)
        return self._create_accumulator(count, mean, spread / count)

    def extract(self, accumulator):
        return accumulator._asdict()

    def restore(self, output):
        if output["count"] == 0 and (np.any(output["mean"]) or np.any(output["variance"])):
            raise RuntimeError(
                "The mean and/or variance of a Normalization preprocessing layer were set without also setting "
                "'count'. If 'count' is not also set, 'adapt' cannot be called unless the 'reset_state' arg is True."
            )
        return self._create_accumulator(output["count"], output["mean"], output["variance"])

    def serialize(self, accumulator):
        return json.dumps({name: part.tolist() for name, part in accumulator._asdict().items()}).encode()

    def deserialize(self, encoded_accumulator):
        return self._create_accumulator(**json.loads(encoded_accumulator))

    def _create_accumulator(self, count, mean, variance):
        """Moments as arrays; those of no values, which are no numbers, are 0."""
        return _Moments(np.array(count), np.nan_to_num(mean), np.nan_to_num(variance))


@public(
    "python.keras.layers.preprocessing.normalization.Normalization",
    "python.keras.layers.preprocessing.normalization_v1.Normalization",
)
class Normalization(CombinerPreprocessingLayer):
    """(inputs - mean) / variance, with the means and variances of the data that it has been adapted to.

    Args:
      axis: along which axis, or axes, means differ: by default that of features, the last one.
      dtype: the type; `floatx` by default.

    Raises:
      ValueError: for axis 0, that of samples.
    """

    _NormalizingCombiner = _MomentsCombiner

    def __init__(self, axis=-1, dtype=None, **kwargs):
        super().__init__(combiner=_MomentsCombiner(axis), dtype=dtype or floatx(), **kwargs)
        if axis == 0:
            raise ValueError("The argument 'axis' may not be 0.")
        self.axis = axis

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        self._broadcast_shape = [1] * len(sizes)
        axes = self.axis if isinstance(self.axis, (tuple, list)) else [self.axis]
        for axis in axes:
            self._broadcast_shape[axis] = sizes[axis]
        shape = [sizes[axis] for axis in axes]
        self.mean = self._add_state_variable("mean", shape, floatx(), initializer="zeros")
        self.variance = self._add_state_variable("variance", shape, floatx(), initializer="zeros")
        self.count = self._add_state_variable("count", (), dtypes.int32, initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        mean = ops.reshape(self.mean, self._broadcast_shape)
        return (inputs - mean) / ops.reshape(self.variance, self._broadcast_shape)

    def compute_output_shape(self, input_shape):
        return input_shape

    def compute_output_signature(self, input_spec):
        return input_spec

    def get_config(self):
        return {"axis": self.axis, **super().get_config()}

    def set_weights(self, weights):
        """Sets the means, the variances, and if it is there the number of values."""
        super().set_weights([*weights, np.array(0)] if len(weights) == 2 else weights)
