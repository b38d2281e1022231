"""ConvLSTM2D: long short-term memory whose products are convolutions."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.arithmetic import sum_
from stillflow.keras.backend.convolution import conv2d
from stillflow.keras.backend.neural import bias_add
from stillflow.keras.backend.shaping import concatenate
from stillflow.keras.backend.values import batch_set_value, int_shape, set_value, zeros
from stillflow.keras.layers.cells import MADE_GATED, WeightedCell, config_of_weights, of_cell
from stillflow.keras.layers.one_cell import OptionsOfCell
from stillflow.keras.layers.recurrent import RNN
from stillflow.layers.core import activations, initializers, regularizers
from stillflow.layers.core.data_formats import (
    normalized_data_format,
    normalized_padding,
    normalized_tuple,
    output_length,
)
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import in_order_of_files, serialize
from stillflow.names import public

_GEOMETRY = ("kernel_size", "strides", "padding", "data_format", "dilation_rate")
_PLAIN = ("filters", *_GEOMETRY, "use_bias", "unit_forget_bias", "dropout", "recurrent_dropout")


class ConvLSTM2DCell(WeightedCell):
    """A step of `ConvLSTM2D`."""

    _gates = 4

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
        activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
        recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
        bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        options = {
            "kernel_initializer": kernel_initializer, "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer, "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        }  # fmt: skip
        self._set_options(filters, activation, use_bias, options, dropout, recurrent_dropout)
        self.filters = filters
        self.kernel_size = normalized_tuple(kernel_size, 2, "kernel_size")
        self.strides = normalized_tuple(strides, 2, "strides")
        self.padding = normalized_padding(padding)
        self.data_format = normalized_data_format(data_format)
        self.dilation_rate = normalized_tuple(dilation_rate, 2, "dilation_rate")
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.state_size = (filters, filters)

    def build(self, input_shape):
        """Makes the variables. Raises ValueError if the number of channels is not known."""
        channels = TensorShape(input_shape).as_list()[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.kernel_shape = (*self.kernel_size, channels, self.filters * 4)
        self.kernel = self._weight("kernel", self.kernel_shape)
        self.recurrent_kernel = self._weight("recurrent_kernel", (*self.kernel_size, self.filters, self.filters * 4))
        self.bias = self._new_bias() if self.use_bias else None
        self.built = True

    def _new_bias(self):
        def with_ones(_, *args, **kwargs):
            parts = (self.bias_initializer, 1), (initializers.get("ones"), 1), (self.bias_initializer, 2)
            return concatenate([make((count * self.filters,), *args, **kwargs) for make, count in parts])

        return self._weight("bias", (4 * self.filters,), with_ones if self.unit_forget_bias else None)

    def call(self, inputs, states, training=None):
        hidden, memory = states[0], states[1]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        state_masks = self.get_recurrent_dropout_mask_for_cell(hidden, training, count=4)
        inputs = [inputs * mask for mask in masks] if 0 < self.dropout < 1 else [inputs] * 4
        hidden = [hidden * mask for mask in state_masks] if 0 < self.recurrent_dropout < 1 else [hidden] * 4
        kernels = ops.split(self.kernel, 4, axis=3)
        recurrent_kernels = ops.split(self.recurrent_kernel, 4, axis=3)
        biases = ops.split(self.bias, 4) if self.use_bias else [None] * 4
        of_inputs = [
            self.input_conv(*parts, padding=self.padding) for parts in zip(inputs, kernels, biases, strict=True)
        ]
        of_state = [self.recurrent_conv(*parts) for parts in zip(hidden, recurrent_kernels, strict=True)]
        input_gate = self.recurrent_activation(of_inputs[0] + of_state[0])
        forget_gate = self.recurrent_activation(of_inputs[1] + of_state[1])
        memory = forget_gate * memory + input_gate * self.activation(of_inputs[2] + of_state[2])
        output_gate = self.recurrent_activation(of_inputs[3] + of_state[3])
        output = output_gate * self.activation(memory)
        return output, [output, memory]

    def input_conv(self, x, w, b=None, padding="valid"):
        """The convolution of inputs."""
        outputs = conv2d(
            x, w, strides=self.strides, padding=padding, data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )  # fmt: skip
        return outputs if b is None else bias_add(outputs, b, data_format=self.data_format)

    def recurrent_conv(self, x, w):
        """The convolution of the state."""
        return conv2d(x, w, strides=(1, 1), padding="same", data_format=self.data_format)

    def get_config(self):
        weights = config_of_weights(self, _PLAIN, MADE_GATED)
        return in_order_of_files({**super(WeightedCell, self).get_config(), **weights})


class ConvRNN2D(RNN):
    """A cell of images along the time axis of inputs [batch, time, ...]."""

    def __init__(
        self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
        **kwargs,
    ):  # fmt: skip
        if unroll:
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        if isinstance(cell, (list, tuple)):
            raise TypeError("It is not possible at the moment tostack convolutional cells.")
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, unroll, **kwargs)
        self.input_spec = [InputSpec(ndim=5)]

    @property
    def _channels_first(self):
        return self.cell.data_format == "channels_first"

    def compute_output_shape(self, input_shape):
        if isinstance(input_shape, list) and isinstance(input_shape[0], (list, tuple, TensorShape)):
            input_shape = input_shape[0]
        batch, steps, *sizes = TensorShape(input_shape).as_list()
        cell = self.cell
        lengths = [
            output_length(length, window, cell.padding, stride, dilation)
            for length, window, stride, dilation in zip(
                sizes[1:] if self._channels_first else sizes[:-1], cell.kernel_size, cell.strides,
                cell.dilation_rate, strict=True,
            )
        ]  # fmt: skip
        state = [cell.filters, *lengths] if self._channels_first else [*lengths, cell.filters]
        output = TensorShape([batch, steps, *state] if self.return_sequences else [batch, *state])
        return [output, *[TensorShape([batch, *state])] * 2] if self.return_state else output

    def build(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        sizes = TensorShape(input_shape).as_list()
        batch = sizes[0] if self.stateful else None
        self.input_spec[0] = InputSpec(shape=(batch, None, *sizes[2:5]))
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(TensorShape([sizes[0], *sizes[2:]]))
        state_sizes = list(self.cell.state_size)
        axis = 1 if self._channels_first else 3
        if self.state_spec is None:
            self.state_spec = [
                InputSpec(shape=(None, size, None, None) if self._channels_first else (None, None, None, size))
                for size in state_sizes
            ]
        elif [spec.shape[axis] for spec in self.state_spec] != state_sizes:
            raise ValueError(
                "An initial_state was passed that is not compatible with `cell.state_size`. Received "
                f"`state_spec`={[spec.shape for spec in self.state_spec]}; However `cell.state_size` is "
                f"{self.cell.state_size}"
            )
        if self.stateful:
            self.reset_states()
        self.built = True

    def get_initial_state(self, inputs):
        """Zeros of the shape of the cell's outputs."""
        zero_step = sum_(ops.zeros_like(inputs), axis=1)
        kernel = ops.zeros((*self.cell.kernel_shape[:-1], self.cell.filters))
        state = self.cell.input_conv(zero_step, kernel, padding=self.cell.padding)
        return [state for _ in self.cell.state_size]

    def _step_limit(self, inputs):
        return int_shape(inputs)[1]

    def reset_states(self, states=None):
        """Sets the states of a stateful layer to 0, or to arrays.

        Raises:
          AttributeError: for a layer that is not stateful.
          ValueError: if sizes are not known; for other shapes, or another number of states.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        shape = self.compute_output_shape(self.input_spec[0].shape)
        sizes = (shape[0] if self.return_state else shape).as_list()
        if self.return_sequences:
            sizes = [sizes[0], *sizes[2:]]
        if None in sizes:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input "
                "tensors: \n- If using a Sequential model, specify the batch size by passing a `batch_input_shape` "
                "argument to your first layer.\n- If using the functional API, specify the time dimension by passing "
                "a `batch_shape` argument to your Input layer.\nThe same thing goes for the number of rows and "
                "columns."
            )
        if self.states[0] is None:
            self.states = [zeros(tuple(sizes)) for _ in self.cell.state_size]
            return
        if states is None:
            for state in self.states:
                set_value(state, np.zeros(sizes))
            return
        values = list(states) if isinstance(states, (list, tuple)) else [states]
        if len(values) != len(self.states):
            raise ValueError(
                f"Layer {self.name} expects {len(self.states)} states, but it received {len(values)} state values. "
                f"Input received: {states}"
            )
        for i, value in enumerate(values):
            if list(value.shape) != sizes:
                raise ValueError(
                    f"State {i} is incompatible with layer {self.name}: expected shape={tuple(sizes)}, found "
                    f"shape={value.shape}"
                )
        batch_set_value(list(zip(self.states, values, strict=True)))


@public("keras.layers.ConvLSTM2D")
class ConvLSTM2D(OptionsOfCell, ConvRNN2D):
    """Long short-term memory of images, whose products are convolutions: Shi et al. 2015, arXiv:1506.04214v1.

    Args:
      filters: the number of channels of outputs and states.
      kernel_size, strides, dilation_rate: integers, or pairs.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation, recurrent_activation: functions or names; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: callables or names.
      unit_forget_bias: whether the bias of the forget gate begins with 1.
      kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer: functions from a variable
        or the outputs to a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: functions from the value after an update to the value
        to keep.
      return_sequences, go_backwards, stateful: see `RNN`.
      dropout, recurrent_dropout: which share of inputs, and of states, is set to 0 in training.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
        activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
        recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        recurrent_constraint=None, bias_constraint=None, return_sequences=False, go_backwards=False, stateful=False,
        dropout=0.0, recurrent_dropout=0.0, **kwargs,
    ):  # fmt: skip
        cell = ConvLSTM2DCell(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, recurrent_activation,
            use_bias, kernel_initializer, recurrent_initializer, bias_initializer, unit_forget_bias,
            kernel_regularizer, recurrent_regularizer, bias_regularizer, kernel_constraint, recurrent_constraint,
            bias_constraint, dropout, recurrent_dropout, dtype=kwargs.get("dtype"),
        )  # fmt: skip
        super().__init__(
            cell, return_sequences=return_sequences, go_backwards=go_backwards, stateful=stateful, **kwargs
        )
        self.activity_regularizer = regularizers.get(activity_regularizer)

    def call(self, inputs, mask=None, training=None, initial_state=None):  # type: ignore[override]
        self.cell.reset_dropout_mask()
        self.cell.reset_recurrent_dropout_mask()
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    filters = of_cell("filters")
    kernel_size = of_cell("kernel_size")
    strides = of_cell("strides")
    padding = of_cell("padding")
    data_format = of_cell("data_format")
    dilation_rate = of_cell("dilation_rate")
    recurrent_activation = of_cell("recurrent_activation")
    unit_forget_bias = of_cell("unit_forget_bias")

    def get_config(self):
        weights = config_of_weights(self, _PLAIN, MADE_GATED)
        more = {"activity_regularizer": serialize(self.activity_regularizer)}
        return in_order_of_files({**self._config_of_loop(), **weights, **more})

    @classmethod
    def from_config(cls, config):  # type: ignore[override]
        """A layer of what `get_config` returned."""
        return cls(**config)
