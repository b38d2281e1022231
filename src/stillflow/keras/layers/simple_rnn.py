"""SimpleRNN: a recurrent layer whose outputs are its states."""

from __future__ import annotations

from stillflow.keras.backend.arithmetic import dot
from stillflow.keras.backend.neural import bias_add
from stillflow.keras.layers.cells import WeightedCell
from stillflow.keras.layers.one_cell import OneCell
from stillflow.names import public
from stillflow.platform import logging


@public("keras.layers.SimpleRNNCell")
class SimpleRNNCell(WeightedCell):
    """A step of `SimpleRNN`: activation(inputs * kernel + state * recurrent_kernel + bias).

    Args:
      units: the size of outputs and states.
      activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: functions from a variable
        to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
    """

    _gates = 1

    def __init__(
        self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
        recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
        bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        options = {
            "kernel_initializer": kernel_initializer, "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer, "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        }  # fmt: skip
        self._set_options(units, activation, use_bias, options, dropout, recurrent_dropout)
        self.state_size = self.units
        self.output_size = self.units

    def call(self, inputs, states, training=None):
        state = states[0]
        mask = self.get_dropout_mask_for_cell(inputs, training)
        state_mask = self.get_recurrent_dropout_mask_for_cell(state, training)
        hidden = dot(inputs if mask is None else inputs * mask, self.kernel)
        if self.bias is not None:
            hidden = bias_add(hidden, self.bias)
        if state_mask is not None:
            state = state * state_mask
        output = hidden + dot(state, self.recurrent_kernel)
        if self.activation is not None:
            output = self.activation(output)
        return output, [output]


@public("keras.layers.SimpleRNN")
class SimpleRNN(OneCell):
    """A recurrent layer: activation(inputs * kernel + state * recurrent_kernel + bias) is output and state.

    Args:
      units: the size of outputs and states.
      activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer: functions from a variable
        or the outputs to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
      return_sequences, return_state, go_backwards, stateful, unroll: see `RNN`.
    """

    def __init__(
        self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
        recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, return_sequences=False,
        return_state=False, go_backwards=False, stateful=False, unroll=False, **kwargs,
    ):  # fmt: skip
        if kwargs.pop("implementation", None) is not None:
            logging.warning(
                "The `implementation` argument in `SimpleRNN` has been deprecated. Please remove it from your layer "
                "call."
            )
        cell = SimpleRNNCell(
            units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint, bias_constraint=bias_constraint, dropout=dropout,
            recurrent_dropout=recurrent_dropout, dtype=kwargs.get("dtype"),
        )  # fmt: skip
        super().__init__(
            cell, activity_regularizer, return_sequences=return_sequences, return_state=return_state,
            go_backwards=go_backwards, stateful=stateful, unroll=unroll, **kwargs,
        )  # fmt: skip

    @classmethod
    def from_config(cls, config):  # type: ignore[override]
        """A layer of what `get_config` returned."""
        config.pop("implementation", None)
        return cls(**config)
