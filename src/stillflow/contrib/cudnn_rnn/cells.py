"""CudnnCompatibleLSTMCell and CudnnCompatibleGRUCell: a step of the nets of tf.contrib.cudnn_rnn, on any machine."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.rnn.lstm_block import LSTMBlockCell
from stillflow.names import public
from stillflow.rnn.basic_cells import GRUCell
from stillflow.rnn.cell import input_depth
from stillflow.variables.initializers import Constant, Zeros


@public("contrib.cudnn_rnn.CudnnCompatibleLSTMCell")
class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """LSTMBlockCell with the variables of a CudnnLSTM: without a forget bias.

    Args:
      num_units: the size of c and h.
      reuse: whether the variables exist.
    """

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


@public("contrib.cudnn_rnn.CudnnCompatibleGRUCell")
class CudnnCompatibleGRUCell(GRUCell):
    """GRUCell whose reset gate scales a projection of the state, not the state itself, as a CudnnGRU does.

    The candidate is tanh(x * W + b + r * (h * R + d)).

    Args:
      num_units: the size of the state.
      reuse: whether the variables exist.
      kernel_initializer: that of all kernels.
    """

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape):
        depth = input_depth(inputs_shape)
        ones = Constant(1.0, dtype=self.dtype)
        self._gate_kernel, self._gate_bias = self._add_product("gates", depth, 2 * self._num_units, ones)
        places = (("input", depth), ("hidden", self._num_units))
        self._kernels = [
            self.add_variable(
                f"candidate/{place}_projection/kernel", [size, self._num_units], initializer=self._kernel_initializer
            )
            for place, size in places
        ]
        zeros = Zeros(dtype=self.dtype)
        self._biases = [
            self.add_variable(f"candidate/{place}_projection/bias", [self._num_units], initializer=zeros)
            for place, _ in places
        ]

    def call(self, inputs, state):
        """(next state, next state)."""
        sums = ops.bias_add(ops.matmul(ops.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = ops.split(value=ops.sigmoid(sums), num_or_size_splits=2, axis=1)
        candidate = ops.bias_add(ops.matmul(inputs, self._kernels[0]), self._biases[0])
        candidate += reset * ops.bias_add(ops.matmul(state, self._kernels[1]), self._biases[1])
        candidate = self._activation(candidate)
        new_state = (1 - update) * candidate + update * state
        return new_state, new_state
