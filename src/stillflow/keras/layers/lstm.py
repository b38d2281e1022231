"""LSTM: long short-term memory. Also with connections from the memory to the gates."""

from __future__ import annotations

from stillflow import ops
from stillflow.keras.backend.arithmetic import dot
from stillflow.keras.backend.neural import bias_add
from stillflow.keras.backend.shaping import concatenate
from stillflow.keras.layers.cells import PLAIN, WeightedCell, of_cell
from stillflow.keras.layers.one_cell import OneGatedCell, warn_of_implementation
from stillflow.layers.core import activations, initializers
from stillflow.layers.core.serialization import in_order_of_files, serialize
from stillflow.names import public
from stillflow.tracking.structures import NoDependency


@public("keras.layers.LSTMCell")
class LSTMCell(WeightedCell):
    """A step of `LSTM`.

    Args:
      units: the size of outputs and states.
      activation, recurrent_activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      unit_forget_bias: whether the bias of the forget gate begins with 1.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: functions from a variable
        to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
      implementation: 1 for a product of each gate, 2 for one product of all.
    """

    _gates = 4

    def __init__(
        self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
        kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
        implementation=1, **kwargs,
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
        self.unit_forget_bias = unit_forget_bias
        self.implementation = implementation
        self.state_size = NoDependency([self.units, self.units])
        self.output_size = self.units

    def _new_bias(self):
        def with_ones(_, *args, **kwargs):
            parts = (self.bias_initializer, 1), (initializers.get("ones"), 1), (self.bias_initializer, 2)
            return concatenate([make((count * self.units,), *args, **kwargs) for make, count in parts])

        return self._weight("bias", (4 * self.units,), with_ones if self.unit_forget_bias else None)

    def call(self, inputs, states, training=None):
        hidden, memory = states[0], states[1]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        state_masks = self.get_recurrent_dropout_mask_for_cell(hidden, training, count=4)
        masks = masks if 0 < self.dropout < 1 else None
        state_masks = state_masks if 0 < self.recurrent_dropout < 1 else None
        compute = self._gate_by_gate if self.implementation == 1 else self._all_gates
        memory, output_gate = compute(inputs, hidden, memory, masks, state_masks)
        hidden = output_gate * self.activation(memory)
        return hidden, [hidden, memory]

    def _gate_by_gate(self, inputs, hidden, memory, masks, state_masks):
        """(the memory, the output gate), by a product of each gate."""
        masked = [inputs if masks is None else inputs * mask for mask in masks or (None,) * 4]
        kernels = ops.split(value=self.kernel, num_or_size_splits=4, axis=1)
        gates = [dot(each, kernel) for each, kernel in zip(masked, kernels, strict=True)]
        if self.use_bias:
            biases = ops.split(value=self.bias, num_or_size_splits=4, axis=0)
            gates = [bias_add(gate, bias) for gate, bias in zip(gates, biases, strict=True)]
        states = [hidden if state_masks is None else hidden * mask for mask in state_masks or (None,) * 4]

        def gate(i):
            return gates[i] + dot(states[i], self._columns(self.recurrent_kernel, i))

        return self._memory_and_gate(gate, memory)

    def _all_gates(self, inputs, hidden, memory, masks, state_masks):
        """(the memory, the output gate), by one product of all gates."""
        if masks is not None:
            inputs = inputs * masks[0]
        gates = dot(inputs, self.kernel)
        if state_masks is not None:
            hidden = hidden * state_masks[0]
        gates += dot(hidden, self.recurrent_kernel)
        if self.use_bias:
            gates = bias_add(gates, self.bias)
        return self._memory_and_gate(ops.split(value=gates, num_or_size_splits=4, axis=1).__getitem__, memory)

    def _memory_and_gate(self, gate, memory):
        """(the next memory, the output gate) of a function to what each gate is an activation of."""
        input_gate = self.recurrent_activation(gate(0))
        forget_gate = self.recurrent_activation(gate(1))
        memory = forget_gate * memory + input_gate * self.activation(gate(2))
        return memory, self.recurrent_activation(gate(3))

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros, for inputs, or else for that batch size and type."""
        return list(super().get_initial_state(inputs, batch_size, dtype))

    def get_config(self):
        more = {"implementation": self.implementation, "unit_forget_bias": self.unit_forget_bias}
        more["recurrent_activation"] = serialize(self.recurrent_activation)
        return in_order_of_files({**super().get_config(), **more})


@public("keras.experimental.PeepholeLSTMCell")
class PeepholeLSTMCell(LSTMCell):
    """A step of `LSTM` whose gates see the memory, too: Gers, Schraudolph and Schmidhuber, 2002. See `LSTMCell`."""

    def build(self, input_shape):
        super().build(input_shape)

        def weights(gate):
            return self.add_weight(
                shape=(self.units,), name=f"{gate}_gate_peephole_weights", initializer=self.kernel_initializer
            )

        self.input_gate_peephole_weights = weights("input")
        self.forget_gate_peephole_weights = weights("forget")
        self.output_gate_peephole_weights = weights("output")

    def _memory_and_gate(self, gate, memory):
        input_gate = self.recurrent_activation(gate(0) + self.input_gate_peephole_weights * memory)
        forget_gate = self.recurrent_activation(gate(1) + self.forget_gate_peephole_weights * memory)
        memory = forget_gate * memory + input_gate * self.activation(gate(2))
        return memory, self.recurrent_activation(gate(3) + self.output_gate_peephole_weights * memory)


@public("keras.layers.LSTM")
class LSTM(OneGatedCell):
    """Long short-term memory, Hochreiter and Schmidhuber 1997.

    Args:
      units: the size of outputs and states.
      activation, recurrent_activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      unit_forget_bias: whether the bias of the forget gate begins with 1.
      kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer: functions from a variable
        or the outputs to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
      implementation: 1 for a product of each gate, 2 for one product of all.
      return_sequences, return_state, go_backwards, stateful, unroll: see `RNN`.
    """

    _plain = (*PLAIN, "unit_forget_bias", "implementation")

    def __init__(
        self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
        dropout=0.0, recurrent_dropout=0.0, implementation=1, return_sequences=False, return_state=False,
        go_backwards=False, stateful=False, unroll=False, **kwargs,
    ):  # fmt: skip
        warn_of_implementation(implementation)
        cell = LSTMCell(
            units, activation=activation, recurrent_activation=recurrent_activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer, unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer, recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint, bias_constraint=bias_constraint, dropout=dropout,
            recurrent_dropout=recurrent_dropout, implementation=implementation, dtype=kwargs.get("dtype"),
        )  # fmt: skip
        super().__init__(
            cell, activity_regularizer, return_sequences=return_sequences, return_state=return_state,
            go_backwards=go_backwards, stateful=stateful, unroll=unroll, **kwargs,
        )  # fmt: skip

    unit_forget_bias = of_cell("unit_forget_bias")
