"""ConvLSTMCell: an LSTM over images, whose products are convolutions, https://arxiv.org/abs/1506.04214."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.convolution import conv1d
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant

_CONVOLUTIONS = {3: (conv1d, 1), 4: (ops.conv2d, [1] * 4), 5: (ops.conv3d, [1] * 5)}


def _convolved(values, filter_size, channels, has_bias):
    """The convolution of tensors side by side, with the variables "kernel" and "biases" of the current scope."""
    shapes = [value.shape.as_list() for value in values]
    rank, depth = len(shapes[0]), 0
    for shape in shapes:
        if len(shape) not in _CONVOLUTIONS:
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
        if len(shape) != rank:
            raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
        depth += shape[-1]
    convolve, strides = _CONVOLUTIONS[rank]
    dtype = values[0].dtype
    kernel = get_variable("kernel", [*filter_size, depth, channels], dtype=dtype)
    result = convolve(ops.concat(axis=rank - 1, values=values), kernel, strides, padding="SAME")
    if not has_bias:
        return result
    return result + get_variable("biases", [channels], dtype=dtype, initializer=Constant(0.0, dtype=dtype))


@public("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(RNNCell):
    """An LSTM over images, or over lines or volumes: states are images, too.

    Args:
      conv_ndims: 1, 2 or 3: how many dimensions images have.
      input_shape: a list: the sizes of an input without the batch, channels last.
      output_channels: the number of channels of states and outputs.
      kernel_shape: a list: the sizes of the window.
      use_bias: whether there is a bias.
      skip_connection: whether the input is part of the output.
      forget_bias: what is added to the forget gate.
      initializers: not used.
      name: the layer's name.

    Raises ValueError for shapes that do not fit.
    """

    def __init__(
        self, conv_ndims, input_shape, output_channels, kernel_shape, use_bias=True, skip_connection=False,
        forget_bias=1.0, initializers=None, name="conv_lstm_cell",
    ):  # fmt: skip
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._input_shape = input_shape
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        self._total_output_channels = output_channels + (input_shape[-1] if skip_connection else 0)
        state_size = TensorShape(input_shape[:-1] + [output_channels])
        self._state_size = LSTMStateTuple(state_size, state_size)
        self._output_size = TensorShape(input_shape[:-1] + [self._total_output_channels])

    @property
    def output_size(self):
        return self._output_size

    @property
    def state_size(self):
        return self._state_size

    def call(self, inputs, state, scope=None):
        """(output, next state), whose second part is the output."""
        cell, hidden = state
        sums = _convolved([inputs, hidden], self._kernel_shape, 4 * self._output_channels, self._use_bias)
        gates = ops.split(value=sums, num_or_size_splits=4, axis=self._conv_ndims + 1)
        input_gate, new_input, forget_gate, output_gate = gates
        new_cell = ops.sigmoid(forget_gate + self._forget_bias) * cell
        new_cell += ops.sigmoid(input_gate) * ops.tanh(new_input)
        output = ops.tanh(new_cell) * ops.sigmoid(output_gate)
        if self._skip_connection:
            output = ops.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)


@public("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over lines: inputs [batch, length, channels]."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


@public("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over images: inputs [batch, rows, columns, channels]."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


@public("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over volumes: inputs [batch, planes, rows, columns, channels]."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
