"""What a net of tf.contrib.cudnn_rnn is: its kind, sizes, the shapes of its weights and how they lie in one vector.

Source: https://docs.nvidia.com/deeplearning/cudnn (cudnnRNNMode_t).
"""

from __future__ import annotations

import dataclasses
import math

from stillflow import ops
from stillflow.names import public

UNIDIRECTIONAL = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_UNIDIRECTION")("unidirectional")
BIDIRECTIONAL = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_BIDIRECTION")("bidirectional")
LSTM = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_LSTM")("lstm")
GRU = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_GRU")("gru")
RELU = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_RELU")("rnn_relu")
TANH = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_TANH")("rnn_tanh")
LINEAR_INPUT = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_INPUT_LINEAR_MODE")("linear_input")
SKIP_INPUT = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_INPUT_SKIP_MODE")("skip_input")
AUTO_SELECT = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_INPUT_AUTO_MODE")("auto_select")
# Products with the input; as many are with the state.
GATES = {LSTM: 4, GRU: 3, RELU: 1, TANH: 1}
# Of one layer in one direction: how many matrices, or biases.
LSTM_PARAMS = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_LSTM_PARAMS_PER_LAYER")(2 * GATES[LSTM])
GRU_PARAMS = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_GRU_PARAMS_PER_LAYER")(2 * GATES[GRU])
RELU_PARAMS = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_RELU_PARAMS_PER_LAYER")(2 * GATES[RELU])
TANH_PARAMS = public("contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_TANH_PARAMS_PER_LAYER")(2 * GATES[TANH])


def check_direction(direction):
    """Raises ValueError unless the direction is one."""
    if direction not in (UNIDIRECTIONAL, BIDIRECTIONAL):
        raise ValueError(f"Invalid direction: {direction}, expecting {UNIDIRECTIONAL} or {BIDIRECTIONAL}")


def check_input_mode(input_mode):
    """Raises ValueError unless the way of the input into the first layer is one."""
    modes = (LINEAR_INPUT, SKIP_INPUT, AUTO_SELECT)
    if input_mode not in modes:
        raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({', '.join(modes)})")


@dataclasses.dataclass(frozen=True)
class Net:
    """Layers of one kind, each on the outputs of that below, in one direction or in both.

    A layer and direction has 2 * GATES[mode] matrices, those of the input first, and as many biases. LSTM: input,
    forget, new memory, output; GRU: reset, update, new memory. All matrices lie in the vector before all biases.
    """

    mode: str
    num_layers: int
    num_units: int
    input_size: int
    direction: str = UNIDIRECTIONAL
    input_mode: str = LINEAR_INPUT

    @property
    def num_dirs(self):
        return 1 if self.direction == UNIDIRECTIONAL else 2

    @property
    def per_layer(self):
        """How many matrices, or biases, a layer and direction has."""
        return 2 * GATES[self.mode]

    @property
    def skips_input(self):
        """Whether the input is added to the gates of the first layer without a product."""
        is_equal = self.input_size == self.num_units
        return self.input_mode == SKIP_INPUT or (self.input_mode == AUTO_SELECT and is_equal)

    def depth(self, layer):
        """How wide the input of a layer is."""
        return self.input_size if layer == 0 else self.num_units * self.num_dirs

    def weight_shapes_of(self, layer):
        """Shapes of the matrices of a layer, of both directions one after the other."""
        gates = GATES[self.mode]
        of_one = [(self.num_units, self.depth(layer))] * gates + [(self.num_units, self.num_units)] * gates
        return of_one * self.num_dirs

    def weight_shapes(self):
        """Shapes of all matrices."""
        return [shape for layer in range(self.num_layers) for shape in self.weight_shapes_of(layer)]

    def bias_shapes(self):
        """Shapes of all biases."""
        return [[self.num_units]] * (self.num_layers * self.num_dirs * self.per_layer)

    def to_vector(self, weights, biases):
        """The vector of all parameters."""
        return ops.concat([ops.reshape(each, [-1]) for each in [*weights, *biases]], axis=0)

    def from_vector(self, params):
        """(matrices, biases) of a vector of all parameters."""
        shapes = [*self.weight_shapes(), *self.bias_shapes()]
        params = ops.reshape(params, [sum(math.prod(shape) for shape in shapes)])
        parts = ops.split_v(params, [math.prod(shape) for shape in shapes], 0, num_split=len(shapes))
        parts = [ops.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        return parts[: len(parts) // 2], parts[len(parts) // 2 :]
