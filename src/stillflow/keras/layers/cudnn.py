"""CuDNNLSTM and CuDNNGRU: recurrent layers whose weights lie as cuDNN has them. Here they run on the CPU.

Equations: https://docs.nvidia.com/deeplearning/cudnn (cudnnRNNMode_t).
"""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph.shape import dimension_value
from stillflow.keras.layers.recurrent import RNN
from stillflow.layers.core import constraints, initializers, regularizers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.names import public

_GETTERS = {"initializer": initializers.get, "regularizer": regularizers.get, "constraint": constraints.get}

_LOOP = ("return_sequences", "return_state", "go_backwards", "stateful", "time_major", "units")
_INITIALIZERS = ("kernel_initializer", "recurrent_initializer", "bias_initializer")
_OTHERS = (
    "kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
    "recurrent_constraint", "bias_constraint",
)  # fmt: skip


class _Step:
    """A step of a layer, on inputs whose product with the kernel has been made."""

    def __init__(self, layer, state_size):
        self._layer, self.state_size = layer, state_size

    def call(self, inputs, states):
        """(the output, the next states)."""
        layer = self._layer
        bias = layer.bias[layer._gates * layer.units :]
        of_state = ops.bias_add(ops.matmul(states[0], layer._transposed(layer.recurrent_kernel)), bias)
        count = layer._gates
        return layer._next(ops.split(inputs, count, axis=1), ops.split(of_state, count, axis=1), states)


class _CuDNNRNN(RNN):
    """What both layers have in common."""

    kernel_initializer: Any
    recurrent_initializer: Any
    bias_initializer: Any
    _gates = 0
    _options: tuple = (*_INITIALIZERS, *_OTHERS)  # in the order of configs

    def __init__(self, units, options, state_size, activity_regularizer, **kwargs):
        super().__init__(_Step(self, state_size), **kwargs)
        self.units = units
        for name, value in options.items():
            setattr(self, name, _GETTERS[name.rpartition("_")[2]](value))
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.supports_masking = False
        self.input_spec = [InputSpec(ndim=3)]

    def build(self, input_shape):
        super().build(input_shape)
        size = int((input_shape[0] if isinstance(input_shape, list) else input_shape)[-1])
        columns = self._gates * self.units
        self.kernel = self._weight("kernel", (size, columns), self.kernel_initializer)
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, columns), self.recurrent_initializer)
        self.bias = self._weight("bias", (2 * columns,), self._initializer_of_bias())
        self.built = True

    def _weight(self, name, shape, initializer):
        kind = name.removesuffix("_kernel") if name != "kernel" else name
        return self.add_weight(
            shape=shape, name=name, initializer=initializer, regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )  # fmt: skip

    def _initializer_of_bias(self):
        return self.bias_initializer

    def _transposed(self, kernel):
        """The matrix that inputs are multiplied by: the numbers of each gate are those of its transpose."""
        rows = dimension_value(kernel.shape[0])
        gates = ops.split(kernel, self._gates, axis=1)
        return ops.concat([ops.transpose(ops.reshape(gate, [self.units, rows])) for gate in gates], axis=1)

    def call(self, inputs, mask=None, training=None, initial_state=None):  # type: ignore[override]
        if isinstance(mask, list):
            mask = mask[0]
        if mask is not None:
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        first = inputs[0] if isinstance(inputs, list) else inputs
        outer = ops.shape(first)[:2]
        product = ops.matmul(ops.reshape(first, [-1, dimension_value(first.shape[2])]), self._transposed(self.kernel))
        product = ops.bias_add(product, self.bias[: self._gates * self.units])
        product = ops.reshape(product, ops.concat([outer, [self._gates * self.units]], axis=0))
        product.set_shape([*first.shape.as_list()[:2], self._gates * self.units])
        if isinstance(inputs, list):
            product = [product, *inputs[1:]]
        return super().call(product, initial_state=initial_state)

    def get_losses_for(self, inputs=None):  # unlike other layers', in TensorFlow too, it may be called without inputs
        return super().get_losses_for(inputs=inputs)

    def get_config(self):
        values = {
            key: serialize(getattr(self, key)) if key.rpartition("_")[2] in _GETTERS else getattr(self, key)
            for key in (*_LOOP, *self._options)
        }
        return {**Layer.get_config(self), **values}

    @classmethod
    def from_config(cls, config):  # type: ignore[override]
        """A layer of what `get_config` returned."""
        return cls(**config)


@public("keras.layers.CuDNNGRU")
class CuDNNGRU(_CuDNNRNN):
    """`GRU(reset_after=True, recurrent_activation="sigmoid")`, with weights as cuDNN has them.

    Args:
      units: the size of outputs and states.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer: functions from a variable or
        the outputs to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      return_sequences, return_state, go_backwards, stateful: see `RNN`.

    A call raises ValueError for inputs with a mask.
    """

    _gates = 3

    def __init__(
        self, units, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
        bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
        return_sequences=False, return_state=False, go_backwards=False, stateful=False, **kwargs,
    ):  # fmt: skip
        options = {
            "kernel_initializer": kernel_initializer, "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer, "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        }  # fmt: skip
        super().__init__(
            units, options, units, activity_regularizer, return_sequences=return_sequences,
            return_state=return_state, go_backwards=go_backwards, stateful=stateful, **kwargs,
        )  # fmt: skip

    def _next(self, of_inputs, of_state, states):
        update = ops.sigmoid(of_inputs[0] + of_state[0])
        reset = ops.sigmoid(of_inputs[1] + of_state[1])
        h = update * states[0] + (1 - update) * ops.tanh(of_inputs[2] + reset * of_state[2])
        return h, [h]


@public("keras.layers.CuDNNLSTM")
class CuDNNLSTM(_CuDNNRNN):
    """`LSTM(recurrent_activation="sigmoid")`, with weights as cuDNN has them.

    Args:
      units: the size of outputs and states.
      unit_forget_bias: whether biases of forget gates begin with 1.
      kernel_initializer, ...: see `CuDNNGRU`.
      return_sequences, return_state, go_backwards, stateful: see `RNN`.

    A call raises ValueError for inputs with a mask.
    """

    _gates = 4
    _options = (*_INITIALIZERS, "unit_forget_bias", *_OTHERS)

    def __init__(
        self, units, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
        bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
        bias_constraint=None, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
        **kwargs,
    ):  # fmt: skip
        options = {
            "kernel_initializer": kernel_initializer, "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer, "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        }  # fmt: skip
        super().__init__(
            units, options, (units, units), activity_regularizer, return_sequences=return_sequences,
            return_state=return_state, go_backwards=go_backwards, stateful=stateful, **kwargs,
        )  # fmt: skip
        self.unit_forget_bias = unit_forget_bias

    def _initializer_of_bias(self):
        if not self.unit_forget_bias:
            return self.bias_initializer

        def initializer(_, *args, **kwargs):
            parts = [
                self.bias_initializer((self.units * 5,), *args, **kwargs),
                initializers.get("ones")((self.units,), *args, **kwargs),
                self.bias_initializer((self.units * 2,), *args, **kwargs),
            ]
            return ops.concat(parts, axis=0)

        return initializer

    def _next(self, of_inputs, of_state, states):
        i, f, new, o = (a + b for a, b in zip(of_inputs, of_state, strict=True))
        c = ops.sigmoid(f) * states[1] + ops.sigmoid(i) * ops.tanh(new)
        h = ops.sigmoid(o) * ops.tanh(c)
        return h, [h, c]
