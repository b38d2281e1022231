"""BasicRNNCell and GRUCell."""

from __future__ import annotations

from stillflow import ops
from stillflow.layers.core import activations, initializers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.serialization import serialize
from stillflow.names import public
from stillflow.rnn.cell import LayerRNNCell, check_dtype, check_dtypes, input_depth
from stillflow.variables.initializers import Constant, Zeros


class OneStateCell(LayerRNNCell):
    """A cell whose state is one tensor, which is its output, too.

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh by default.
      reuse: whether the variables exist.
      name, dtype, kwargs: see tf.layers.Layer.
    """

    def __init__(self, num_units, activation, reuse, name, dtype, kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._reuse = reuse
        self._activation = activations.get(activation) if activation else ops.tanh

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def get_config(self):
        """The arguments, as plain values."""
        own = {"num_units": self._num_units, "activation": serialize(self._activation), "reuse": self._reuse}
        return {**super().get_config(), **own}


@public("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell", "contrib.rnn.python.ops.core_rnn_cell.BasicRNNCell")
class BasicRNNCell(OneStateCell):
    """The simplest cell: the next state is activation([input, state] * kernel + bias), and the output is the same.

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh by default.
      reuse: whether the variables exist.
      name, dtype: see tf.layers.Layer.

    Raises ValueError for a type that is not floating or complex.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)

    def build(self, inputs_shape):
        depth = input_depth(inputs_shape)
        check_dtype(self.dtype)
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", shape=[self._num_units], initializer=Zeros(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        """(next state, next state)."""
        check_dtypes([inputs, state])
        sums = ops.bias_add(ops.matmul(ops.concat([inputs, state], 1), self._kernel), self._bias)
        output = self._activation(sums)
        return output, output


@public("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell", "contrib.rnn.python.ops.core_rnn_cell.GRUCell")
class GRUCell(OneStateCell):
    """Gated recurrent unit, http://arxiv.org/abs/1406.1078.

    With [r, u] = sigmoid([input, state] * gates/kernel + gates/bias) and
    c = activation([input, r * state] * candidate/kernel + candidate/bias) the next state, which is the output, too,
    is u * state + (1 - u) * c.

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh by default.
      reuse: whether the variables exist.
      kernel_initializer: the initializer of both kernels.
      bias_initializer: that of both biases; by default 1 for those of the gates, 0 for those of candidates.
      name, dtype: see tf.layers.Layer.

    Raises ValueError for a type that is not floating or complex.
    """

    def __init__(
        self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
        dtype=None, **kwargs,
    ):  # fmt: skip
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    def build(self, inputs_shape):
        depth = input_depth(inputs_shape)
        check_dtype(self.dtype)
        ones = Constant(1.0, dtype=self.dtype)
        self._gate_kernel, self._gate_bias = self._add_product("gates", depth, 2 * self._num_units, ones)
        zeros = Zeros(dtype=self.dtype)
        self._candidate_kernel, self._candidate_bias = self._add_product("candidate", depth, self._num_units, zeros)
        self.built = True

    def _add_product(self, name, depth, size, default):
        kernel = self.add_variable(
            f"{name}/kernel", shape=[depth + self._num_units, size], initializer=self._kernel_initializer
        )
        initializer = default if self._bias_initializer is None else self._bias_initializer
        return kernel, self.add_variable(f"{name}/bias", shape=[size], initializer=initializer)

    def call(self, inputs, state):
        """(next state, next state)."""
        check_dtypes([inputs, state])
        sums = ops.bias_add(ops.matmul(ops.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = ops.split(value=ops.sigmoid(sums), num_or_size_splits=2, axis=1)
        kept = reset * state
        candidate = ops.matmul(ops.concat([inputs, kept], 1), self._candidate_kernel)
        candidate = self._activation(ops.bias_add(candidate, self._candidate_bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state

    def get_config(self):
        """The arguments, as plain values."""
        own = {
            "kernel_initializer": serialize(self._kernel_initializer),
            "bias_initializer": serialize(self._bias_initializer),
        }
        return {**super().get_config(), **own}
