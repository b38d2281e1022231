"""GRU: gated recurrent units."""

from __future__ import annotations

from stillflow import ops
from stillflow.keras.backend.arithmetic import dot
from stillflow.keras.backend.neural import bias_add
from stillflow.keras.layers.cells import PLAIN, WeightedCell, of_cell
from stillflow.keras.layers.one_cell import OneGatedCell, warn_of_implementation
from stillflow.layers.core import activations
from stillflow.layers.core.serialization import in_order_of_files, serialize
from stillflow.names import public


@public("keras.layers.GRUCell")
class GRUCell(WeightedCell):
    """A step of `GRU`.

    Args:
      units: the size of outputs and states.
      activation, recurrent_activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: functions from a variable
        to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
      implementation: 1 for a product of each gate, 2 for one product of all.
      reset_after: whether the reset gate applies after the product with the state.
    """

    _gates = 3

    def __init__(
        self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None,
        recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, implementation=1,
        reset_after=False, **kwargs,
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
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation = implementation
        self.reset_after = reset_after
        self.state_size = self.units
        self.output_size = self.units

    def _new_bias(self):
        return self._weight("bias", (2, 3 * self.units) if self.reset_after else (3 * self.units,))

    def _biases(self):
        """The biases of inputs and of states."""
        if not self.use_bias:
            return None, None
        return tuple(ops.unstack(self.bias)) if self.reset_after else (self.bias, None)

    def call(self, inputs, states, training=None):
        state = states[0]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=3)
        state_masks = self.get_recurrent_dropout_mask_for_cell(state, training, count=3)
        masks = masks if 0 < self.dropout < 1 else None
        state_masks = state_masks if 0 < self.recurrent_dropout < 1 else None
        biases = self._biases()
        compute = self._gate_by_gate if self.implementation == 1 else self._all_gates
        state, update, candidate = compute(inputs, state, masks, state_masks, *biases)
        state = update * state + (1 - update) * candidate
        return state, [state]

    def _gate_by_gate(self, inputs, state, masks, state_masks, bias, state_bias):
        """(the state, the update gate, the candidate), by a product of each gate."""
        masked = [inputs if masks is None else inputs * mask for mask in masks or (None,) * 3]
        of_inputs = [dot(each, self._columns(self.kernel, i)) for i, each in enumerate(masked)]
        if bias is not None:
            of_inputs = [bias_add(x, self._columns(bias, i)) for i, x in enumerate(of_inputs)]
        masked = [state if state_masks is None else state * mask for mask in state_masks or (None,) * 3]
        of_state = [dot(masked[i], self._columns(self.recurrent_kernel, i)) for i in range(2)]
        if state_bias is not None:
            of_state = [bias_add(x, self._columns(state_bias, i)) for i, x in enumerate(of_state)]
        update = self.recurrent_activation(of_inputs[0] + of_state[0])
        reset = self.recurrent_activation(of_inputs[1] + of_state[1])
        if self.reset_after:
            hidden = dot(masked[2], self._columns(self.recurrent_kernel, 2))
            if state_bias is not None:
                hidden = bias_add(hidden, self._columns(state_bias, 2))
            hidden = reset * hidden
        else:
            hidden = dot(reset * masked[2], self._columns(self.recurrent_kernel, 2))
        return state, update, self.activation(of_inputs[2] + hidden)

    def _all_gates(self, inputs, state, masks, state_masks, bias, state_bias):
        """(the state, the update gate, the candidate), by one product of all gates."""
        if masks is not None:
            inputs = inputs * masks[0]
        of_inputs = dot(inputs, self.kernel)
        if bias is not None:
            of_inputs = bias_add(of_inputs, bias)
        of_inputs = [self._columns(of_inputs, i) for i in range(3)]
        if state_masks is not None:
            state = state * state_masks[0]
        if self.reset_after:
            of_state = dot(state, self.recurrent_kernel)
            if state_bias is not None:
                of_state = bias_add(of_state, state_bias)
        else:
            of_state = dot(state, self._columns(self.recurrent_kernel, 0, count=2))
        gates = [self._columns(of_state, i) for i in range(2)]
        update, reset = (self.recurrent_activation(of_inputs[i] + gates[i]) for i in range(2))
        if self.reset_after:
            hidden = reset * self._columns(of_state, 2)
        else:
            hidden = dot(reset * state, self._columns(self.recurrent_kernel, 2))
        return state, update, self.activation(of_inputs[2] + hidden)

    def get_config(self):
        more = {"implementation": self.implementation, "reset_after": self.reset_after}
        more["recurrent_activation"] = serialize(self.recurrent_activation)
        return in_order_of_files({**super().get_config(), **more})


@public("keras.layers.GRU")
class GRU(OneGatedCell):
    """Gated recurrent units, Cho et al. 2014 (arXiv:1406.1078v3).

    Args:
      units: the size of outputs and states.
      activation, recurrent_activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer: functions from a variable
        or the outputs to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
      implementation: 1 for a product of each gate, 2 for one product of all.
      reset_after: whether the reset gate applies after the product with the state.
      return_sequences, return_state, go_backwards, stateful, unroll: see `RNN`.
    """

    _plain = (*PLAIN, "implementation", "reset_after")

    def __init__(
        self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
        implementation=1, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
        unroll=False, reset_after=False, **kwargs,
    ):  # fmt: skip
        warn_of_implementation(implementation)
        cell = GRUCell(
            units, activation=activation, recurrent_activation=recurrent_activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint, dropout=dropout, recurrent_dropout=recurrent_dropout,
            implementation=implementation, reset_after=reset_after, dtype=kwargs.get("dtype"),
        )  # fmt: skip
        super().__init__(
            cell, activity_regularizer, return_sequences=return_sequences, return_state=return_state,
            go_backwards=go_backwards, stateful=stateful, unroll=unroll, **kwargs,
        )  # fmt: skip

    reset_after = of_cell("reset_after")
