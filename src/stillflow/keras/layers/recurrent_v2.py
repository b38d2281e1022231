"""LSTM and GRU of TensorFlow 2: other defaults, those that CuDNN's kernels compute."""

from __future__ import annotations

from stillflow.keras.layers import gru, lstm
from stillflow.names import public


@public("compat.v2.keras.layers.LSTMCell", "python.keras.layers.recurrent_v2.LSTMCell")
class LSTMCell(lstm.LSTMCell):
    """A step of `LSTM`: arguments are those of tf.keras.layers.LSTMCell."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, *, implementation=2, **kwargs
    ):
        super().__init__(units, activation, recurrent_activation, use_bias, implementation=implementation, **kwargs)


@public("compat.v2.keras.layers.LSTM", "python.keras.layers.recurrent_v2.LSTM")
class LSTM(lstm.LSTM):
    """Long short-term memory, Hochreiter and Schmidhuber 1997: arguments are those of tf.keras.layers.LSTM."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, *, implementation=2, **kwargs
    ):
        super().__init__(units, activation, recurrent_activation, use_bias, implementation=implementation, **kwargs)


@public("compat.v2.keras.layers.GRUCell", "python.keras.layers.recurrent_v2.GRUCell")
class GRUCell(gru.GRUCell):
    """A step of `GRU`: arguments are those of tf.keras.layers.GRUCell."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, *, implementation=2,
        reset_after=True,
        **kwargs,
    ):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, implementation=implementation, reset_after=reset_after,
            **kwargs,
        )  # fmt: skip


@public("compat.v2.keras.layers.GRU", "python.keras.layers.recurrent_v2.GRU")
class GRU(gru.GRU):
    """Gated recurrent units, Cho et al. 2014 (arXiv:1406.1078v3): arguments are those of tf.keras.layers.GRU."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, *, implementation=2,
        reset_after=True,
        **kwargs,
    ):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, implementation=implementation, reset_after=reset_after,
            **kwargs,
        )  # fmt: skip
