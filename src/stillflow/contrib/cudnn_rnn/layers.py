"""CudnnLSTM, CudnnGRU, CudnnRNNTanh, CudnnRNNRelu: nets with all parameters in one variable, here on any machine."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.cudnn_rnn.forward import forward
from stillflow.contrib.cudnn_rnn.net import (
    BIDIRECTIONAL,
    GRU,
    LINEAR_INPUT,
    LSTM,
    RELU,
    TANH,
    UNIDIRECTIONAL,
    Net,
    check_direction,
    check_input_mode,
)
from stillflow.contrib.cudnn_rnn.saveables import (
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.dtypes import float16, float32, float64
from stillflow.graph.shape import TensorShape
from stillflow.layers.base import Layer
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant, GlorotUniform
from stillflow.variables.scope import get_variable_scope, variable_scope


class _CudnnRNN(Layer):
    """Layers of recurrent cells with all weights and biases in one variable, `opaque_kernel`.

    The variable is saved as those of cells are, by the object in `saveable`: a checkpoint is restored by a
    MultiRNNCell of the cells that go with this class in dynamic_rnn, or by stack_bidirectional_dynamic_rnn, and
    theirs by this class. Loops over the steps compute what cuDNN's formulas say; masks of dropout are not cuDNN's.

    Args:
      num_layers: how many layers.
      num_units: the size of a layer's state.
      input_mode: 'linear_input', or 'skip_input' for a first layer that adds the input without a product, for which
        input_size must be num_units; 'auto_select' does so if it is.
      direction: 'unidirectional' or 'bidirectional'.
      dropout: the rate of dropout between layers in training.
      seed: the seed of that, and of the weights.
      dtype: float16, float32 or float64.
      kernel_initializer: for each matrix; glorot_uniform_initializer by default.
      bias_initializer: for each bias; zeros by default.
      name: the default name of the variable scope.

    Raises:
      ValueError: there is no such direction, input mode, or the dtype is another.
    """

    _mode: str
    _saveable_class: type

    def __init__(
        self, num_layers, num_units, input_mode=LINEAR_INPUT, direction=UNIDIRECTIONAL, dropout=0.0, seed=None,
        dtype=float32, kernel_initializer=None, bias_initializer=None, name=None,
    ):  # fmt: skip
        super().__init__(dtype=dtype, name=name)
        check_direction(direction)
        check_input_mode(input_mode)
        if dtype not in (float16, float32, float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._plain_dtype = dtype
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer
        self._net = None
        self._saveable = None

    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    input_mode = property(lambda self: self._input_mode)
    direction = property(lambda self: self._direction)
    rnn_mode = property(lambda self: self._mode)
    saveable = property(lambda self: self._saveable)

    @property
    def num_dirs(self):
        """1, or 2 if the net is bidirectional."""
        return 2 if self._direction == BIDIRECTIONAL else 1

    @property
    def input_size(self):
        """The size of the inputs. Raises ValueError before the layer has been built."""
        if self._net is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._net.input_size

    @property
    def canonical_weight_shapes(self):
        """Shapes of the matrices in the variable. Raises RuntimeError before the layer has been built."""
        return self._built_net("canonical_weight_shapes").weight_shapes()

    @property
    def canonical_bias_shapes(self):
        """Shapes of the biases in the variable."""
        return Net(self._mode, self._num_layers, self._num_units, 0, self._direction).bias_shapes()

    def _built_net(self, what):
        if self._net is None:
            raise RuntimeError(f"{type(self).__name__}.{what} invoked before input shape is known")
        return self._net

    def build(self, input_shape):
        """Makes the variable.

        Args:
          input_shape: of inputs, three dimensions of which the last is known.

        Raises:
          ValueError: it has another number of dimensions, or the last is not known.
        """
        if self.built:
            return
        input_shape = TensorShape(input_shape)
        if input_shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {input_shape.ndims}")
        size = input_shape.dims[-1].value
        if size is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        self._net = Net(self._mode, self._num_layers, self._num_units, size, self._direction, self._input_mode)
        if self._net.skips_input and size != self._num_units:
            raise ValueError(f"input_mode 'skip_input' needs inputs of size {self._num_units}, got {size}.")
        self.input_spec = InputSpec(ndim=3, axes={-1: size})
        self._set_scope(None)
        with variable_scope(self._scope):
            first = self._first_params(self._net)
            self.kernel = get_variable(
                "opaque_kernel", dtype=self._plain_dtype, initializer=first, validate_shape=False
            )
        if all(each is not self.kernel for each in self._trainable_weights):
            self._trainable_weights.append(self.kernel)
        if get_variable_scope().reuse is not True:
            self._create_saveable()
        self.built = True

    def _first_params(self, net):
        dtype = self._plain_dtype
        of_kernels = self._kernel_initializer or GlorotUniform(seed=self._seed, dtype=dtype)
        of_biases = self._bias_initializer or Constant(0.0, dtype=dtype)
        weights = [of_kernels(shape, dtype=dtype) for shape in net.weight_shapes()]
        return net.to_vector(weights, [of_biases(shape, dtype=dtype) for shape in net.bias_shapes()])

    def _create_saveable(self):
        if self._saveable is not None:
            raise RuntimeError("Cudnn saveable already created.")
        name = self.kernel.name.partition(":")[0]
        self._saveable = self._saveable_class(
            opaque_params=self.kernel, num_layers=self._num_layers, num_units=self._num_units,
            input_size=self.input_size, input_mode=self._input_mode, direction=self._direction,
            scope=get_variable_scope(), name=f"{name}_saveable",
        )  # fmt: skip
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def call(self, inputs, initial_state=None, sequence_lengths=None, time_major=True, training=True):
        """Runs the net.

        Args:
          inputs: [time, batch, input_size], or [batch, time, input_size] unless `time_major`.
          initial_state: a tuple, of h and c for an LSTM, else of h: [layers * directions, batch, units], or
            [batch, layers * directions, units] unless `time_major`. Zeros by default.
          sequence_lengths: int32 [batch]: how many steps of each sequence count; all by default.
          time_major: see above.
          training: whether there is dropout.

        Returns:
          (outputs [time, batch, directions * units] or [batch, time, ...], a tuple as `initial_state`).

        Raises:
          TypeError: initial_state is not a tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        if not time_major:
            inputs = ops.transpose(inputs, [1, 0, 2])
        if initial_state is None:
            zeros = [ops.zeros(shape, dtype=self.dtype) for shape in self.state_shape(ops.shape(inputs)[1])]
            h, c = [*zeros, None][:2]
        else:
            states = [_time_major(state, self.dtype, time_major) for state in initial_state]
            h, c = states if self._mode == LSTM else (*states, None)
        outputs, h, c = forward(
            self._net, inputs, h, c, self.kernel, sequence_lengths, self._dropout if training else 0.0, self._seed
        )
        results = [outputs, h] + ([c] if self._mode == LSTM else [])
        if not time_major:
            results = [ops.transpose(result, [1, 0, 2]) for result in results]
        return results[0], tuple(results[1:])

    def state_shape(self, batch_size):
        """Shapes of the states, a tuple of [layers * directions, batch, units], of two for an LSTM, else of one."""
        shape = [self._num_layers * self.num_dirs, batch_size, self._num_units]
        return (shape, list(shape)) if self._mode == LSTM else (shape,)


def _time_major(state, dtype, is_already):
    state = convert_to_tensor(state, dtype=dtype)
    return state if is_already else ops.transpose(state, [1, 0, 2])


@public("contrib.cudnn_rnn.CudnnLSTM")
class CudnnLSTM(_CudnnRNN):
    """An LSTM of several layers in one or two directions; its cell is CudnnCompatibleLSTMCell."""

    _mode = LSTM
    _saveable_class = CudnnLSTMSaveable


@public("contrib.cudnn_rnn.CudnnGRU")
class CudnnGRU(_CudnnRNN):
    """A GRU of several layers in one or two directions; its cell is CudnnCompatibleGRUCell."""

    _mode = GRU
    _saveable_class = CudnnGRUSaveable


@public("contrib.cudnn_rnn.CudnnRNNTanh")
class CudnnRNNTanh(_CudnnRNN):
    """tanh of sums of products, of several layers in one or two directions; its cell is BasicRNNCell."""

    _mode = TANH
    _saveable_class = CudnnRNNTanhSaveable


@public("contrib.cudnn_rnn.CudnnRNNRelu")
class CudnnRNNRelu(_CudnnRNN):
    """relu of sums of products, of several layers in one or two directions; its cell is BasicRNNCell with relu."""

    _mode = RELU
    _saveable_class = CudnnRNNReluSaveable
