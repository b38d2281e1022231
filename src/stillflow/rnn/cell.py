"""RNNCell: what computes one step of a recurrent net."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.layers.base import Layer
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.shape_values import get_static_value
from stillflow.rnn.states import zero_states
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.scope import get_variable_scope, variable_scope

# The names of the variables that most cells have.
_WEIGHTS_VARIABLE_NAME = public("python.ops.rnn_cell_impl._WEIGHTS_VARIABLE_NAME")("kernel")
_BIAS_VARIABLE_NAME = public("python.ops.rnn_cell_impl._BIAS_VARIABLE_NAME")("bias")


@public(
    "nn.rnn_cell.RNNCell", "contrib.rnn.RNNCell", "contrib.rnn.python.ops.core_rnn_cell.RNNCell",
    "python.ops.rnn_cell_impl._RNNCell", "contrib.rnn.python.ops.core_rnn_cell._RNNCell",
)  # fmt: skip
class RNNCell(Layer):
    """One step of a recurrent net: from an input and a state to an output and the next state.

    Subclasses have `state_size`, `output_size` and `call(inputs, state)`, which returns (output, next state). The
    variables that `call` makes with tf.get_variable are those of the variable scope that the cell is first called
    in; in calls after the first it must be one that reuses them.

    Args:
      trainable, name, dtype: see tf.layers.Layer.
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True

    def __call__(self, inputs, state, scope=None):
        """(output, next state).

        Args:
          inputs: [batch, depth], or a structure of such tensors.
          state: tensors [batch, size], in the structure of `state_size`.
          scope: the variable scope of the cell's variables, or its name; by default the current one.
        """
        if scope is not None:
            with variable_scope(scope, custom_getter=self._rnn_get_variable) as entered:
                return super().__call__(inputs, state, scope=entered)
        entered = self.__dict__.get("rnncell_scope")
        if entered is None:
            entered = variable_scope(get_variable_scope(), custom_getter=self._rnn_get_variable)
            self.rnncell_scope = entered
        with entered:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter, *args, **kwargs):
        """What `getter` finds, which becomes one of the cell's weights."""
        variable = getter(*args, **kwargs)
        part = next(iter(variable)) if isinstance(variable, PartitionedVariable) else variable
        weights = self._trainable_weights if getattr(part, "trainable", False) else self._non_trainable_weights
        if not any(variable is each for each in weights):
            weights.append(variable)
        return variable

    @property
    def state_size(self):
        """The sizes of a state, without the batch: an int, a TensorShape, or a structure of these."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of an output, without the batch: an int or a TensorShape."""
        raise NotImplementedError("Abstract method")

    def call(self, inputs, state):
        """Computes (output, next state)."""
        raise NotImplementedError("Abstract method")

    def build(self, _):
        """Makes nothing: most cells of this kind make variables when they are called."""

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The state that a sequence begins with: zeros, for a batch that is given, or is that of the inputs.

        Raises ValueError if neither says the batch and the type, and if both do, but differ.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            first = inputs.shape.dims[0].value
            if batch_size is not None and first != _known_size(batch_size):
                raise ValueError(
                    "batch size from input tensor is different from the input param. Input tensor batch: "
                    f"{first}, batch_size: {batch_size}"
                )
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor dtype: "
                    f"{inputs.dtype}, dtype: {dtype}"
                )
            batch_size = first or ops.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        """Zeros in the structure of `state_size`, each of shape [batch_size, size]."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return zero_states(self.state_size, batch_size, dtype)

    def get_config(self):
        """What to make a cell like this of: a dictionary of plain values."""
        return super().get_config()


def _known_size(batch_size):
    return get_static_value(batch_size, partial=True) if isinstance(batch_size, Tensor) else batch_size


@public("contrib.rnn.LayerRNNCell", "python.ops.rnn_cell_impl.LayerRNNCell")
class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do: called again, it has them already."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        """(output, next state). `scope` is the variable scope of the variables, or its name; by default a new one."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)


def check_dtype(dtype):
    """Raises ValueError for a type that no cell computes with."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if not (dtype.is_floating or dtype.is_complex):
            raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def check_dtypes(values):
    """Raises ValueError for tensors, in a structure, of a type that no cell computes with."""
    for tensor in nest.flatten(values):
        check_dtype(tensor.dtype)


def input_depth(inputs_shape):
    """The last size of inputs. Raises ValueError if it is not known."""
    sizes = TensorShape(inputs_shape).as_list()
    if sizes[-1] is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {tuple(sizes)}")
    return sizes[-1]
