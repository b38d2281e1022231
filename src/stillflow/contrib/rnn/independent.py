"""IndRNNCell, IndyGRUCell and IndyLSTMCell: cells whose units see no state but their own.

https://arxiv.org/abs/1803.04831 and https://arxiv.org/abs/1903.08023.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape import dimension_value
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.rnn.cell import LayerRNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.initializers import Constant, RandomUniform, Zeros


def known_size(inputs_shape):
    """The depth of inputs [batch, depth]. Raises ValueError if it is not known."""
    depth = dimension_value(inputs_shape[1])
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
    return depth


class _Independent(LayerRNNCell):
    """What the cells have in common."""

    def __init__(self, num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or ops.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def _add_weights(self, names, depth, count, bias):
        """The variables of these names, for `count` gates: of inputs, of states, and biases that begin as `bias`."""
        size = count * self._num_units
        own = RandomUniform(minval=-1, maxval=1, dtype=self.dtype)
        if self._bias_initializer is not None:
            bias = self._bias_initializer
        return [
            self.add_variable(names[0], shape=[depth, size], initializer=self._kernel_initializer),
            self.add_variable(names[1], shape=[1, size], initializer=own),
            self.add_variable(names[2], shape=[size], initializer=bias),
        ]


@public("contrib.rnn.IndRNNCell")
class IndRNNCell(_Independent):
    """output = activation(input * kernel_w + state * kernel_u + bias), which is the next state, too.

    kernel_u has a number for each unit.

    Args:
      num_units: the size of the state.
      activation: a function; tanh by default.
      reuse: whether the variables exist.
      name, dtype: see tf.layers.Layer.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, None, None, name, dtype)

    def build(self, inputs_shape):
        names = ("kernel_w", "kernel_u", "bias")
        self._kernel_w, self._kernel_u, self._bias = self._add_weights(
            names, known_size(inputs_shape), 1, Zeros(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs, state):
        """(next state, next state)."""
        sums = ops.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(ops.bias_add(sums, self._bias))
        return output, output


@public("contrib.rnn.IndyGRUCell")
class IndyGRUCell(_Independent):
    """A GRU whose units see no state but their own.

    Args:
      num_units: the size of the state.
      activation: a function; tanh by default.
      reuse: whether the variables exist.
      kernel_initializer: that of the weights of inputs.
      bias_initializer: that of the biases; those of the gates begin as 1 by default, the others as 0.
      name, dtype: see tf.layers.Layer.
    """

    def __init__(
        self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)

    def build(self, inputs_shape):
        depth = known_size(inputs_shape)
        self._gates = self._add_weights(
            ("gates/kernel_w", "gates/kernel_u", "gates/bias"), depth, 2, Constant(1.0, dtype=self.dtype)
        )
        self._candidate = self._add_weights(
            ("candidate/kernel", "candidate/kernel_u", "candidate/bias"), depth, 1, Zeros(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs, state):
        """(next state, next state)."""
        of_inputs, of_states, bias = self._gates
        sums = ops.matmul(inputs, of_inputs) + ops.tile(state, [1, 2]) * of_states
        gates = ops.sigmoid(ops.bias_add(sums, bias))
        reset, update = ops.split(value=gates, num_or_size_splits=2, axis=1)
        kept = reset * state
        of_inputs, of_states, bias = self._candidate
        sums = ops.matmul(inputs, of_inputs) + kept * of_states
        candidate = self._activation(ops.bias_add(sums, bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


@public("contrib.rnn.IndyLSTMCell")
class IndyLSTMCell(_Independent):
    """An LSTM whose units see no state but their own.

    Args:
      num_units: the size of c and h.
      forget_bias: what is added to the forget gate.
      activation: a function; tanh by default.
      reuse: whether the variables exist.
      kernel_initializer: that of the weights of inputs.
      bias_initializer: that of the bias; 0 by default.
      name, dtype: see tf.layers.Layer.
    """

    def __init__(
        self, num_units, forget_bias=1.0, activation=None, reuse=None, kernel_initializer=None,
        bias_initializer=None, name=None, dtype=None,
    ):  # fmt: skip
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape):
        names = ("kernel_w", "kernel_u", "bias")
        self._kernel_w, self._kernel_u, self._bias = self._add_weights(
            names, known_size(inputs_shape), 4, Zeros(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs, state):
        """(h', next state)."""
        axis = ops.constant(1, dtype=dtypes.int32)
        c, h = state
        sums = ops.matmul(inputs, self._kernel_w)
        sums += ops.tile(h, [1, 4]) * self._kernel_u
        sums = ops.bias_add(sums, self._bias)
        i, j, f, o = ops.split(value=sums, num_or_size_splits=4, axis=axis)
        bias = ops.constant(self._forget_bias, dtype=f.dtype)
        kept = ops.mul(c, ops.sigmoid(ops.add(f, bias)))
        new_c = ops.add(kept, ops.mul(ops.sigmoid(i), self._activation(j)))
        new_h = ops.mul(self._activation(new_c), ops.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)
