"""The outputs of a net of tf.contrib.cudnn_rnn, computed by loops over the steps."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.dropout import dropout as nn_dropout
from stillflow.contrib.cudnn_rnn.net import BIDIRECTIONAL, GATES, GRU, LSTM, RELU
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.dynamic import dynamic_rnn
from stillflow.rnn.lstm_cells import LSTMStateTuple


class _Cell(RNNCell):
    """A step of a layer in one direction, on inputs whose product with their weights has been made."""

    def __init__(self, net, kernel, bias):
        super().__init__(dtype=kernel.dtype)
        self._net, self._recurrent_kernel, self._recurrent_bias = net, kernel, bias
        self.built = True

    @property
    def state_size(self):
        units = self._net.num_units
        return LSTMStateTuple(units, units) if self._net.mode == LSTM else units

    @property
    def output_size(self):
        return self._net.num_units

    def call(self, inputs, state):
        """(h, next state)."""
        of_state = ops.bias_add(
            ops.matmul(state.h if self._net.mode == LSTM else state, self._recurrent_kernel), self._recurrent_bias
        )
        if self._net.mode == LSTM:
            i, f, new, o = ops.split(value=inputs + of_state, num_or_size_splits=4, axis=1)
            c = ops.sigmoid(f) * state.c + ops.sigmoid(i) * ops.tanh(new)
            h = ops.sigmoid(o) * ops.tanh(c)
            return h, LSTMStateTuple(c, h)
        if self._net.mode == GRU:
            reset, update, new = ops.split(value=inputs, num_or_size_splits=3, axis=1)
            state_reset, state_update, state_new = ops.split(value=of_state, num_or_size_splits=3, axis=1)
            update = ops.sigmoid(update + state_update)
            h = (1 - update) * ops.tanh(new + ops.sigmoid(reset + state_reset) * state_new) + update * state
        else:
            h = (ops.relu if self._net.mode == RELU else ops.tanh)(inputs + of_state)
        return h, h


def _gates_of_inputs(net, layer, inputs, weights, biases):
    """One product of all steps: [time, batch, gates * units]."""
    gates = GATES[net.mode]
    bias = ops.concat(biases[:gates], 0)
    if layer == 0 and net.skips_input:
        return ops.concat([inputs] * gates, 2) + bias
    shape = ops.shape(inputs)
    rows = ops.reshape(inputs, [-1, net.depth(layer)])
    sums = ops.bias_add(ops.matmul(rows, ops.concat(weights[:gates], 0), transpose_b=True), bias)
    sums = ops.reshape(sums, ops.stack([shape[0], shape[1], gates * net.num_units]))
    sums.set_shape(inputs.shape[:2].concatenate([gates * net.num_units]))
    return sums


def _cell(net, weights, biases):
    gates = GATES[net.mode]
    return _Cell(net, ops.transpose(ops.concat(weights[gates:], 0)), ops.concat(biases[gates:], 0))


def _layer(net, layer, inputs, states, weights, biases, sequence_lengths):
    """(outputs of a layer, final states of its directions)."""
    ways = [slice(place, place + net.per_layer) for place in range(0, len(weights), net.per_layer)]
    cells = [_cell(net, weights[way], biases[way]) for way in ways]
    gates = [_gates_of_inputs(net, layer, inputs, weights[way], biases[way]) for way in ways]
    if net.direction != BIDIRECTIONAL:
        outputs, final = dynamic_rnn(
            cells[0], gates[0], sequence_lengths, initial_state=states[0], time_major=True, scope=f"layer_{layer}"
        )
        return outputs, [final]
    outputs, finals = zip(
        dynamic_rnn(cells[0], gates[0], sequence_lengths, states[0], time_major=True, scope=f"layer_{layer}_fw"),
        _backwards(cells[1], gates[1], sequence_lengths, states[1], f"layer_{layer}_bw"),
        strict=True,
    )
    return ops.concat(outputs, 2), list(finals)


def _backwards(cell, inputs, sequence_lengths, state, scope):
    def reverse(tensor):
        if sequence_lengths is None:
            return ops.reverse_v2(tensor, [0])
        return ops.reverse_sequence(tensor, sequence_lengths, seq_dim=0, batch_dim=1)

    outputs, final = dynamic_rnn(cell, reverse(inputs), sequence_lengths, state, time_major=True, scope=scope)
    return reverse(outputs), final


def forward(net, inputs, h, c, params, sequence_lengths, dropout, seed):
    """Runs all layers.

    Args:
      net: a Net.
      inputs: [time, batch, input_size].
      h, c: first states, [layers * directions, batch, units]; `c` of an LSTM only, else None.
      params: the vector of all parameters.
      sequence_lengths: int32 [batch], or None if all steps count.
      dropout: the rate of dropout between layers.
      seed: its seed.

    Returns:
      (outputs [time, batch, directions * units], final h, final c or None).
    """
    weights, biases = net.from_vector(params)
    count = net.num_layers * net.num_dirs
    hs = ops.unstack(h, count)
    states = (
        [LSTMStateTuple(*pair) for pair in zip(ops.unstack(c, count), hs, strict=True)] if net.mode == LSTM else hs
    )
    finals = []
    for layer in range(net.num_layers):
        if layer and dropout:
            inputs = nn_dropout(inputs, rate=dropout, seed=seed)
        step = net.num_dirs * net.per_layer
        mine = slice(layer * step, (layer + 1) * step)
        first = layer * net.num_dirs
        inputs, ends = _layer(
            net, layer, inputs, states[first : first + net.num_dirs], weights[mine], biases[mine], sequence_lengths
        )
        finals += ends
    if net.mode == LSTM:
        return inputs, ops.stack([final.h for final in finals]), ops.stack([final.c for final in finals])
    return inputs, ops.stack(finals), None
