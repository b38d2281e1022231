"""UGRNNCell and IntersectionRNNCell: cells with few gates, https://arxiv.org/abs/1611.09913."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.rnn.linear import Linear
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.variables.scope import get_variable_scope, variable_scope


class _Gated(RNNCell):
    """A cell of one state, of a size that is its output's, too."""

    def __init__(self, num_units, initializer, forget_bias, reuse):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._reuse = reuse

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units


def known_depth(inputs):
    """The depth of inputs [batch, depth]. Raises ValueError if it is not known."""
    depth = inputs.shape.with_rank(2).dims[1].value
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return depth


@public("contrib.rnn.UGRNNCell")
class UGRNNCell(_Gated):
    """Update gate net: with [g, c] = [input, state] * kernel + bias and g = sigmoid(g + forget_bias), the next state,
    which is the output, too, is g * state + (1 - g) * activation(c).

    Args:
      num_units: the size of the state.
      initializer: that of the kernel.
      forget_bias: what is added to g.
      activation: a function.
      reuse: whether the variables exist.
    """

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=ops.tanh, reuse=None):
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._activation = activation
        self._linear = None

    def call(self, inputs, state):
        """(next state, next state)."""
        known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            values = ops.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(values, 2 * self._num_units, True)
            gate, candidate = ops.split(axis=1, num_or_size_splits=2, value=self._linear(values))
            candidate = self._activation(candidate)
            gate = ops.sigmoid(gate + self._forget_bias)
            new_state = gate * state + (1.0 - gate) * candidate
        return new_state, new_state


@public("contrib.rnn.IntersectionRNNCell")
class IntersectionRNNCell(_Gated):
    """A net that is recurrent in time and in depth: the output is to the input what the next state is to the state.

    Args:
      num_units: the size of the state, and of inputs and outputs.
      num_in_proj: the size to project inputs to, `num_units`, if they have another one.
      initializer: that of the kernels.
      forget_bias: what is added to both gates.
      y_activation: a function, for the output's candidate.
      reuse: whether the variables exist.
    """

    def __init__(
        self, num_units, num_in_proj=None, initializer=None, forget_bias=1.0, y_activation=ops.relu, reuse=None
    ):
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._linear1 = None
        self._linear2 = None

    def call(self, inputs, state):
        """(output, next state)."""
        depth, size = known_depth(inputs), self._num_units
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if depth != size:
                inputs = self._projected(inputs)
            values = ops.concat([inputs, state], 1)
            if self._linear2 is None:
                self._linear2 = Linear(values, 4 * size, True)
            sums = self._linear2(values)
            state_gate, state_candidate, gate, candidate = (
                sums[:, i * size : (i + 1) * size] if i else sums[:, :size] for i in range(4)
            )
            state_candidate = ops.tanh(state_candidate)
            candidate = self._y_activation(candidate)
            state_gate = ops.sigmoid(state_gate + self._forget_bias)
            gate = ops.sigmoid(gate + self._forget_bias)
            new_state = state_gate * state + (1.0 - state_gate) * state_candidate
            output = gate * inputs + (1.0 - gate) * candidate
        return output, new_state

    def _projected(self, inputs):
        if not self._num_input_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set to "
                "num_units at cell init."
            )
        with variable_scope("in_projection"):
            if self._linear1 is None:
                self._linear1 = Linear(inputs, self._num_units, True)
            return self._linear1(inputs)
