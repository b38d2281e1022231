"""CudnnParamsFormatConverterLSTM and others: weights of a net in one vector, and as cells have them."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.cudnn_rnn.net import GRU, LINEAR_INPUT, LSTM, RELU, TANH, UNIDIRECTIONAL, Net
from stillflow.names import public


class _FormatConverter:
    """Turns the vector of a net's parameters into the kernels and biases of cells, and these into such a vector.

    Args:
      num_layers, num_units, input_size: the sizes of the net.
      num_proj: must be None or 0: projections are not computed here.
      input_mode: 'linear_input', 'skip_input' or 'auto_select'.
      direction: 'unidirectional' or 'bidirectional'.
    """

    _mode: str

    def __init__(
        self, num_layers, num_units, input_size, num_proj=None, input_mode=LINEAR_INPUT, direction=UNIDIRECTIONAL
    ):
        if num_proj:
            raise ValueError(f"Projections of cuDNN's LSTM are not supported on CPUs, got num_proj={num_proj}.")
        self._net = Net(self._mode, num_layers, num_units, input_size, direction, input_mode)

    def opaque_to_tf_canonical(self, opaque_param):
        """(kernels, biases) of cells, layer after layer, forward before backward, of the vector of parameters."""
        weights, biases = self._net.from_vector(opaque_param)
        step = self._net.per_layer
        places = range(0, len(weights), step)
        kernels = [each for place in places for each in self._kernels(weights[place : place + step])]
        return kernels, [each for place in places for each in self._biases(biases[place : place + step])]

    def tf_canonical_to_opaque(self, tf_canonicals, weights_proj=None):
        """The vector of parameters of kernels and biases of cells, kernels first; see `opaque_to_tf_canonical`."""
        if weights_proj is not None:
            raise ValueError("Projections of cuDNN's LSTM are not supported on CPUs, got weights_proj.")
        half = len(tf_canonicals) // 2
        count = self._net.num_layers * self._net.num_dirs
        step = half // count
        weights, biases = [], []
        for i in range(count):
            depth = self._net.depth(i // self._net.num_dirs)
            weights += self._from_kernels(depth, tf_canonicals[i * step : (i + 1) * step])
            biases += self._from_biases(tf_canonicals[half + i * step : half + (i + 1) * step])
        return self._net.to_vector(weights, biases)

    def _kernels(self, weights):
        half = len(weights) // 2
        rows = [ops.concat(pair, 1) for pair in zip(weights[:half], weights[half:], strict=True)]
        return [ops.transpose(ops.concat(self._order(rows), 0))]

    def _biases(self, biases):
        half = len(biases) // 2
        sums = [one + other for one, other in zip(biases[:half], biases[half:], strict=True)]
        return [ops.concat(self._order(sums), 0)]

    def _from_kernels(self, depth, kernels):
        (kernel,) = kernels
        rows = self._order(ops.split(ops.transpose(kernel), self._net.per_layer // 2, axis=0))
        pairs = [ops.split(row, [depth, self._net.num_units], axis=1) for row in rows]
        return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]

    def _from_biases(self, biases):
        (bias,) = biases
        return [part * 0.5 for part in self._order(ops.split(bias, self._net.per_layer // 2, axis=0))] * 2

    def _order(self, gates):
        """Gates in the order of cells, of those in the order of the vector, and the other way round."""
        return gates


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM")
class CudnnParamsFormatConverterLSTM(_FormatConverter):
    """Turns parameters of a CudnnLSTM into those of CudnnCompatibleLSTMCell and back."""

    _mode = LSTM

    def _order(self, gates):
        first, second, third, fourth = gates
        return [first, third, second, fourth]


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterGRU")
class CudnnParamsFormatConverterGRU(_FormatConverter):
    """Turns parameters of a CudnnGRU into those of CudnnCompatibleGRUCell and back."""

    _mode = GRU

    def _kernels(self, weights):
        (of_gates,) = super()._kernels([*weights[:2], *weights[3:5]])
        return [of_gates, ops.transpose(weights[2]), ops.transpose(weights[5])]

    def _biases(self, biases):
        (of_gates,) = super()._biases([*biases[:2], *biases[3:5]])
        return [of_gates, biases[2], biases[5]]

    def _from_kernels(self, depth, kernels):
        gates, of_input, of_state = kernels
        rows = ops.split(ops.transpose(gates), 2, axis=0)
        pairs = [ops.split(row, [depth, self._net.num_units], axis=1) for row in rows]
        return [
            *(pair[0] for pair in pairs), ops.transpose(of_input), *(pair[1] for pair in pairs),
            ops.transpose(of_state),
        ]  # fmt: skip

    def _from_biases(self, biases):
        gates, of_input, of_state = biases
        halves = ops.split(gates * 0.5, 2, axis=0)
        return [*halves, of_input, *halves, of_state]


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterTanh")
class CudnnParamsFormatConverterTanh(_FormatConverter):
    """Turns parameters of a CudnnRNNTanh into those of BasicRNNCell and back."""

    _mode = TANH


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterRelu")
class CudnnParamsFormatConverterRelu(_FormatConverter):
    """Turns parameters of a CudnnRNNRelu into those of BasicRNNCell and back."""

    _mode = RELU
