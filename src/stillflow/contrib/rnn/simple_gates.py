"""SRUCell, MinimalRNNCell and CFNCell: cells of few gates that make their variables as layers do."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.rnn.independent import known_size
from stillflow.graph.shape import dimension_value
from stillflow.layers.core import activations, initializers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.rnn.cell import LayerRNNCell
from stillflow.variables.initializers import Zeros


@public("contrib.rnn.SRUCell")
class SRUCell(LayerRNNCell):
    """Simple recurrent unit, whose gates do not see the state: https://arxiv.org/abs/1709.02755.

    Args:
      num_units: the size of the state, and of inputs.
      activation: a function; tanh by default.
      reuse: whether the variables exist.
      name: the layer's name.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation or ops.tanh
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth = known_size(inputs_shape)
        self._kernel = self.add_variable("kernel", shape=[depth, 4 * self._num_units])
        self._bias = self.add_variable("bias", shape=[2 * self._num_units], initializer=Zeros)
        self._built = True

    def call(self, inputs, state):
        """(output, next state)."""
        products = ops.matmul(inputs, self._kernel)
        candidate, forget, reset, x = ops.split(value=products, num_or_size_splits=4, axis=1)
        gates = ops.sigmoid(ops.bias_add(ops.concat([forget, reset], 1), self._bias))
        forget, reset = ops.split(value=gates, num_or_size_splits=2, axis=1)
        new_state = forget * state + (1.0 - forget) * candidate
        output = reset * self._activation(new_state) + (1.0 - reset) * x
        return output, new_state


class _Named(LayerRNNCell):
    """A cell of one state whose activation and initializers may be given by name."""

    def __init__(
        self, units, activation="tanh", kernel_initializer="glorot_uniform", bias_initializer="ones", name=None,
        dtype=None, **kwargs,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self.units = units
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    @property
    def state_size(self):
        return self.units

    @property
    def output_size(self):
        return self.units

    def _add(self, name, shape, initializer):
        return self.add_weight(name=name, shape=shape, initializer=initializer)


@public("contrib.rnn.python.ops.rnn_cell.MinimalRNNCell")
class MinimalRNNCell(_Named):
    """One gate between the state and what is made of the input: https://arxiv.org/abs/1806.05394.

    Args:
      units: the size of the state.
      activation: a function, or its name.
      kernel_initializer, bias_initializer: those of the variables, or their names.
      name, dtype: see tf.layers.Layer.
    """

    def build(self, inputs_shape):
        depth, units = known_size(inputs_shape), self.units
        self.kernel = self._add("kernel", [depth + 2 * units, units], self.kernel_initializer)
        self.bias = self._add("bias", [units], self.bias_initializer)
        self.built = True

    def call(self, inputs, state):
        """(next state, next state)."""
        sizes = [dimension_value(inputs.shape[1]), 2 * self.units]
        of_inputs, of_gate = ops.split(value=self.kernel, num_or_size_splits=sizes, axis=0)
        candidate = self.activation(ops.matmul(inputs, of_inputs))
        gate = ops.bias_add(ops.matmul(ops.concat([candidate, state], 1), of_gate), self.bias)
        gate = ops.sigmoid(gate)
        new_state = gate * state + (1 - gate) * candidate
        return new_state, new_state


@public("contrib.rnn.python.ops.rnn_cell.CFNCell")
class CFNCell(_Named):
    """Chaos free net: gates for the state and for the input, https://arxiv.org/abs/1612.06212.

    Args:
      units: the size of the state.
      activation: a function, or its name.
      kernel_initializer, bias_initializer: those of the variables, or their names.
      name, dtype: see tf.layers.Layer.
    """

    def build(self, inputs_shape):
        depth, units = known_size(inputs_shape), self.units
        self.kernel = self._add("kernel", [depth, 3 * units], self.kernel_initializer)
        self.recurrent_kernel = self._add("recurrent_kernel", [units, 2 * units], self.kernel_initializer)
        self.bias = self._add("bias", [2 * units], self.bias_initializer)
        self.built = True

    def call(self, inputs, state):
        """(next state, next state)."""
        of_gates, of_inputs = ops.split(value=self.kernel, num_or_size_splits=[2 * self.units, self.units], axis=1)
        gates = ops.matmul(state, self.recurrent_kernel) + ops.matmul(inputs, of_gates)
        gates = ops.sigmoid(ops.bias_add(gates, self.bias))
        forget, block = ops.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = ops.matmul(inputs, of_inputs)
        new_state = forget * self.activation(state) + (1 - block) * self.activation(candidate)
        return new_state, new_state
