"""CudnnLSTM, CudnnGRU and the plain nets of cudnn_rnn_ops: the caller has their vector of parameters."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.contrib.cudnn_rnn.forward import forward
from stillflow.contrib.cudnn_rnn.net import (
    GRU,
    LINEAR_INPUT,
    LSTM,
    RELU,
    TANH,
    UNIDIRECTIONAL,
    Net,
    check_direction,
    check_input_mode,
)  # fmt: skip
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class _NetOfParams:
    """A net whose parameters lie in a vector of params_size() numbers, which the caller gives to every call.

    Args:
      num_layers: how many layers.
      num_units: the size of a layer's state.
      input_size: the size of the inputs.
      input_mode: 'linear_input', 'skip_input' or 'auto_select', as of the layers in tf.contrib.cudnn_rnn.
      direction: 'unidirectional' or 'bidirectional'.
      dtype: of parameters and states.
      dropout: the rate of dropout between layers in training.
      seed: of the dropout.

    Raises:
      ValueError: there is no such direction or input mode.
    """

    _mode: str

    def __init__(
        self, num_layers, num_units, input_size, input_mode=LINEAR_INPUT, direction=UNIDIRECTIONAL,
        dtype=dtypes.float32, dropout=0.0, seed=0,
    ):  # fmt: skip
        check_direction(direction)
        check_input_mode(input_mode)
        self._net = Net(self._mode, num_layers, num_units, input_size, direction, input_mode)
        self._dtype, self._dropout, self._seed = dtype, dropout, seed

    input_mode = property(lambda self: self._net.input_mode)
    input_size = property(lambda self: self._net.input_size)
    num_units = property(lambda self: self._net.num_units)
    num_layers = property(lambda self: self._net.num_layers)
    rnn_mode = property(lambda self: self._net.mode)
    direction = property(lambda self: self._net.direction)

    def params_size(self):
        """How many parameters there are: an int32 tensor."""
        shapes = [*self._net.weight_shapes(), *self._net.bias_shapes()]
        return ops.constant(sum(math.prod(shape) for shape in shapes), dtypes.int32)

    def params_to_canonical(self, params):
        """(matrices, biases): two lists of vectors, the parts of the vector of all parameters."""
        weights, biases = self._net.from_vector(params)
        return [ops.reshape(weight, [-1]) for weight in weights], biases

    def canonical_to_params(self, weights, biases):
        """The vector of all parameters of the matrices and biases that params_to_canonical() gave."""
        return self._net.to_vector(weights, biases)

    def _run(self, input_data, h, c, params, sequence_lengths, time_major, is_training):
        """[outputs, final h, final c or None]."""
        values = [None if each is None else convert_to_tensor(each, dtype=self._dtype) for each in (input_data, h, c)]
        if not time_major:
            values = _exchanged(values)
        dropout = self._dropout if is_training else 0.0
        inputs, h, c = values
        results = forward(self._net, inputs, h, c, params, sequence_lengths, dropout, self._seed)
        return results if time_major else _exchanged(results)


def _exchanged(values):
    return [None if value is None else ops.transpose(value, [1, 0, 2]) for value in values]


class _NetWithoutCells(_NetOfParams):
    def __call__(self, input_data, input_h, params, sequence_lengths=None, time_major=True, is_training=True):
        """Runs the net.

        Args:
          input_data: [time, batch, input_size], or [batch, time, input_size] unless `time_major`.
          input_h: first states, [layers * directions, batch, units], or [batch, layers * directions, units].
          params: the vector of all parameters.
          sequence_lengths: int32 [batch]: how many steps of each sequence count; all by default.
          time_major: see above.
          is_training: whether there is dropout.

        Returns:
          (outputs, final states).
        """
        return tuple(self._run(input_data, input_h, None, params, sequence_lengths, time_major, is_training)[:2])


@public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CudnnLSTM")
class ParamsLSTM(_NetOfParams):
    """An LSTM whose vector of parameters the caller has."""

    _mode = LSTM

    def __call__(
        self, input_data, input_h, input_c, params, sequence_lengths=None, time_major=True, is_training=True
    ):
        """(outputs, final h, final c); the arguments are those of the nets without c."""
        return tuple(self._run(input_data, input_h, input_c, params, sequence_lengths, time_major, is_training))


@public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CudnnGRU")
class ParamsGRU(_NetWithoutCells):
    """A GRU whose vector of parameters the caller has."""

    _mode = GRU


@public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CudnnRNNTanh")
class ParamsRNNTanh(_NetWithoutCells):
    """A plain recurrent net with tanh whose vector of parameters the caller has."""

    _mode = TANH


@public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CudnnRNNRelu")
class ParamsRNNRelu(_NetWithoutCells):
    """A plain recurrent net with relu whose vector of parameters the caller has."""

    _mode = RELU
