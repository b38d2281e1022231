"""Networks that make a window's means and variances of the window before."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.rnn.lstm_block import LSTMBlockFusedCell
from stillflow.keras.engine.model import Model
from stillflow.keras.engine.sequential import Sequential
from stillflow.layers.core.dense import Dense
from stillflow.layers.core.flatten import Flatten
from stillflow.names import public


@public("contrib.timeseries.python.timeseries.ar_model.FlatPredictionModel")
class FlatPredictionModel(Model):
    """Dense layers over all numbers of both windows.

    Args:
      num_features: how many values a step has.
      input_window_size, output_window_size: how many steps the windows have.
      hidden_layer_sizes: the sizes of layers between, or None.
    """

    def __init__(self, num_features, input_window_size, output_window_size, hidden_layer_sizes=None):
        super().__init__()
        self._input_flatten = Flatten()
        self._output_flatten = Flatten()
        self._hidden_layers = None
        if hidden_layer_sizes:
            self._hidden_layers = Sequential([Dense(size, activation=ops.relu) for size in hidden_layer_sizes])
        size = num_features * output_window_size
        self._mean_transform = Dense(size, name="predicted_mean")
        self._covariance_transform = Dense(size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features, output_window_features):
        """{"mean": [batch, output window, features], "covariance": the variances}.

        Args:
          input_window_features: [batch, input window, size].
          output_window_features: what is known of the output window, [batch, output window, other size].
        """
        if input_window_features.shape.dims[1].value == 0:
            activation = self._output_flatten(output_window_features)
        elif output_window_features.shape.dims[2].value == 0:
            activation = self._input_flatten(input_window_features)
        else:
            both = [self._input_flatten(input_window_features), self._output_flatten(output_window_features)]
            activation = ops.concat(both, axis=1)
        if self._hidden_layers:
            activation = self._hidden_layers(activation)
        mean = ops.reshape(self._mean_transform(activation), self._prediction_shape)
        covariance = ops.reshape(ops.exp(self._covariance_transform(activation)), self._prediction_shape)
        return {"mean": mean, "covariance": covariance}


@public("contrib.timeseries.python.timeseries.ar_model.LSTMPredictionModel")
class LSTMPredictionModel(Model):
    """An LSTM that reads the input window, and one that goes on from its state over the output window.

    Args:
      num_features: how many values a step has.
      input_window_size, output_window_size: how many steps the windows have.
      num_units: the size of the cells.
    """

    def __init__(self, num_features, input_window_size, output_window_size, num_units=128):
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def call(self, input_window_features, output_window_features):
        """As FlatPredictionModel has it."""
        inputs = ops.transpose(input_window_features, [1, 0, 2])
        outputs = ops.transpose(output_window_features, [1, 0, 2])
        _, state = self._encoder(inputs, dtype=self.dtype)
        decoded, _ = self._decoder(outputs, dtype=self.dtype, initial_state=state)
        decoded = ops.transpose(decoded, [1, 0, 2])
        mean = self._mean_transform(decoded)
        return {"mean": mean, "covariance": ops.exp(self._covariance_transform(decoded))}
