"""What models of time series have in common: tf.contrib.timeseries' TimeSeriesModel."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.parsing import parse_example
from stillflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from stillflow.contrib.timeseries.state_tables import replicate_state
from stillflow.feature_columns.input_layer import input_layer
from stillflow.feature_columns.parse_example_spec import make_parse_example_spec
from stillflow.graph import dtypes
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.ops.array.placeholder import placeholder


@public("contrib.timeseries.python.timeseries.model.ModelOutputs")
class ModelOutputs(NamedTuple):
    """What a model makes of a batch: a scalar loss, the state behind it, {name: prediction}, and their times."""

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


@public("contrib.timeseries.python.timeseries.model.TimeSeriesModel")
class TimeSeriesModel(abc.ABC):
    """A model of time series.

    Args:
      num_features: how many values a step has.
      exogenous_feature_columns: columns of other features of steps, which are known beforehand.
      dtype: the type of values.
    """

    def __init__(self, num_features, exogenous_feature_columns=None, dtype=dtypes.float32):
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: Any = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self):
        """The columns of other features."""
        return self._exogenous_feature_columns

    def generate(self, number_of_series, series_length, model_parameters=None, seed=None):
        """Series that the model makes up, if it can."""
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics=None):
        """Makes variables in the default graph, before everything else. Values are scaled by the statistics."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if self._input_statistics:
            self._stats_means, variances = self._input_statistics.overall_feature_moments
            self._stats_sigmas = ops.sqrt(variances)

    @abc.abstractmethod
    def get_start_state(self):
        """The state before a series, a nested tuple of tensors, for no batch."""

    @abc.abstractmethod
    def get_batch_loss(self, features, mode, state):
        """The ModelOutputs of a batch, from a state."""

    @abc.abstractmethod
    def predict(self, features):
        """{name: prediction} of times, from a state."""

    def define_loss(self, features, mode):
        """The ModelOutputs of a batch, from the state before a series. Raises ValueError before initialize_graph."""
        self._check_graph_initialized()
        start = self.get_start_state()
        state = replicate_state(start, ops.shape(features[TrainEvalFeatures.TIMES])[0])
        return self.get_batch_loss(features=features, mode=mode, state=state)

    def _check_graph_initialized(self):
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This defines variables and ops "
                "in the default graph, and allows Tensor-valued input statistics to be specified."
            )

    # ---- Scales ---------------------------------------------------------------------------------------------

    def _scale_data(self, data):
        return data if self._input_statistics is None else (data - self._stats_means) / self._stats_sigmas

    def _scale_back_data(self, data):
        return data if self._input_statistics is None else (data * self._stats_sigmas) + self._stats_means

    def _scale_variance(self, variance):
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_variance(self, variance):
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    # ---- Other features -------------------------------------------------------------------------------------

    def _get_exogenous_embedding_shape(self):
        """The shape of what columns make of a step, a list of one size; (0,) without columns."""
        if not self._exogenous_feature_columns:
            return (0,)
        with Graph().as_default():
            features = parse_example(
                placeholder(dtypes.string, [None]), make_parse_example_spec(self._exogenous_feature_columns)
            )
            return input_layer(features, self._exogenous_feature_columns).shape.as_list()[1:]

    def _process_exogenous_features(self, times, features):
        """What columns make of features [batch, window, ...], [batch, window, size], or None without columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {}
        for name, tensor in features.items():
            if tensor.shape.ndims is None:
                raise ValueError(
                    f"Features with unknown rank are not supported. Got shape {tensor.shape} for feature {name}."
                )
            shape = ops.shape(tensor)
            rows = ops.reshape(tensor, ops.concat([[shape[0] * shape[1]], shape[2:]], axis=0))
            is_vector = rows.shape.ndims == 1 and rows.dtype != dtypes.string
            flat[name] = rows[:, None] if is_vector else rows
        embedded = input_layer(flat, self._exogenous_feature_columns, trainable=True)
        found = ops.reshape(embedded, ops.concat([ops.shape(times), ops.shape(embedded)[1:]], axis=0))
        found.set_shape(times.shape.concatenate(embedded.shape[1:]))
        return ops.cast(found, dtype=self.dtype)
