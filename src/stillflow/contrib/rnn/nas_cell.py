"""NASCell: a cell that was found by search."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.names import public
from stillflow.rnn.cell import LayerRNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.initializers import Zeros

_GATES = 8


@public("contrib.rnn.NASCell")
class NASCell(LayerRNNCell):
    """The recurrent cell of neural architecture search, https://arxiv.org/abs/1611.01578.

    Args:
      num_units: the size of c.
      num_proj: the size of a projection of the output; there is none by default.
      use_bias: whether there are biases.
      reuse: whether the variables exist.
    """

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias
        self._reuse = reuse
        self._output_size = num_units if num_proj is None else num_proj

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._output_size)

    @property
    def output_size(self):
        return self._output_size

    def build(self, inputs_shape):
        depth = dimension_value(TensorShape(inputs_shape).with_rank(2)[1])
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        size = _GATES * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self._output_size, size])
        self.kernel = self.add_variable("kernel", [depth, size])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[size], initializer=Zeros)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        """(output, next state)."""
        c, m = state
        sums = ops.matmul(m, self.recurrent_kernel)
        inputs = ops.matmul(inputs, self.kernel)
        if self._use_bias:
            sums = ops.bias_add(sums, self.bias)
        h = ops.split(axis=1, num_or_size_splits=_GATES, value=sums)
        x = ops.split(axis=1, num_or_size_splits=_GATES, value=inputs)
        first = ops.sigmoid(x[0] + h[0]), ops.relu(x[1] + h[1])
        second = ops.sigmoid(x[2] + h[2]), ops.relu(x[3] * h[3])
        third = ops.tanh(x[4] + h[4]), ops.sigmoid(x[5] + h[5])
        fourth = ops.tanh(x[6] + h[6]), ops.sigmoid(x[7] + h[7])
        inner = ops.tanh(first[0] * first[1])
        gate = ops.tanh(second[0] + second[1])
        outer = ops.tanh(third[0] * third[1])
        shift = ops.sigmoid(fourth[0] + fourth[1])
        inner = ops.tanh(inner + c)
        new_c = inner * gate
        new_m = ops.tanh(new_c * ops.tanh(outer + shift))
        if self._num_proj is not None:
            new_m = ops.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)
