"""Recurrent layers and cells of TensorFlow 2: those of tf.keras with the options that cuDNN's kernels have.

They take `time_major` by name or by position, too.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_outermost_mode, eager_version_of
from stillflow.keras.backend.values import int_shape
from stillflow.keras.layers import gru, lstm
from stillflow.names import public


@by_outermost_mode
def _fits_cudnn(*_):
    """Whether TensorFlow asks if cuDNN has such a layer. Here it makes no difference to what is computed."""
    return False


@eager_version_of(_fits_cudnn)
def _has_options_of_cudnn(activation, recurrent_activation, recurrent_dropout, unroll, use_bias):
    functions = activation == "tanh" and recurrent_activation == "sigmoid"
    return functions and recurrent_dropout == 0 and not unroll and use_bias


def _steps_of(layer, inputs):
    """The number of steps if it is known: the greatest that TensorFlow tells the loops of these layers."""
    return int_shape(inputs)[0 if layer.time_major else 1]


def _note_runtime(layer):
    """Adds the node by which TensorFlow says that it is not known which kernels ran."""
    if not layer.could_use_cudnn:
        with get_default_graph().device("/cpu:0"):
            ops.constant(0.0, name="runtime")


@public("compat.v2.keras.layers.GRUCell", "python.keras.layers.recurrent_v2.GRUCell")
class GRUCell(gru.GRUCell):
    """tf.keras.layers.GRUCell with other defaults; see there."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None,
        recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, implementation=2,
        reset_after=True, **kwargs,
    ):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer,
            bias_initializer, kernel_regularizer, recurrent_regularizer, bias_regularizer, kernel_constraint,
            recurrent_constraint, bias_constraint, dropout, recurrent_dropout, implementation, reset_after, **kwargs,
        )  # fmt: skip


@public("compat.v2.keras.layers.GRU", "python.keras.layers.recurrent_v2.GRU")
class GRU(gru.GRU):
    """tf.keras.layers.GRU with other defaults, and `time_major`; see there and tf.keras.layers.RNN."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
        implementation=2, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
        unroll=False, time_major=False, reset_after=True, **kwargs,
    ):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer,
            bias_initializer, kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout, implementation,
            return_sequences, return_state, go_backwards, stateful, unroll, reset_after, time_major=time_major,
            **kwargs,
        )  # fmt: skip
        self.could_use_cudnn = _fits_cudnn(
            activation, recurrent_activation, recurrent_dropout, unroll, use_bias and reset_after
        )

    _step_limit = _steps_of
    _note_runtime = _note_runtime


@public("compat.v2.keras.layers.LSTMCell", "python.keras.layers.recurrent_v2.LSTMCell")
class LSTMCell(lstm.LSTMCell):
    """tf.keras.layers.LSTMCell with other defaults; see there."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
        kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
        implementation=2, **kwargs,
    ):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer,
            bias_initializer, unit_forget_bias, kernel_regularizer, recurrent_regularizer, bias_regularizer,
            kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout, implementation,
            **kwargs,
        )  # fmt: skip


@public("compat.v2.keras.layers.LSTM", "python.keras.layers.recurrent_v2.LSTM")
class LSTM(lstm.LSTM):
    """tf.keras.layers.LSTM with other defaults, and `time_major`; see there and tf.keras.layers.RNN."""

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
        dropout=0.0, recurrent_dropout=0.0, implementation=2, return_sequences=False, return_state=False,
        go_backwards=False, stateful=False, time_major=False, unroll=False, **kwargs,
    ):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer,
            bias_initializer, unit_forget_bias, kernel_regularizer, recurrent_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, recurrent_constraint, bias_constraint, dropout,
            recurrent_dropout, implementation, return_sequences, return_state, go_backwards, stateful, unroll,
            time_major=time_major, **kwargs,
        )  # fmt: skip
        self.could_use_cudnn = _fits_cudnn(activation, recurrent_activation, recurrent_dropout, unroll, use_bias)

    _step_limit = _steps_of
    _note_runtime = _note_runtime
