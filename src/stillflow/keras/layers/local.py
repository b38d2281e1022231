"""LocallyConnected1D and LocallyConnected2D: convolutions whose kernel is another one at each place."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.convolution import local_conv
from stillflow.keras.backend.neural import bias_add
from stillflow.keras.backend.shaping import transpose
from stillflow.keras.layers.connections import conv_kernel_mask
from stillflow.layers.core import activations, constraints, initializers, regularizers
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

_PLAIN = ("filters", "kernel_size", "strides", "padding", "data_format", "use_bias", "implementation")
_MADE = (
    "activation", "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer",
    "activity_regularizer", "kernel_constraint", "bias_constraint",
)  # fmt: skip


class _LocallyConnected(Layer):
    """What both have in common. Implementations differ in how the kernel is stored.

    1: [places, inputs of each, filters]; 2: [inputs, outputs], of which only those that belong together are used;
    3: a vector of those that do.
    """

    _rank = 0

    def _set_options(
        self, filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, implementation,
    ):  # fmt: skip
        self.filters = filters
        self.kernel_size = normalized_tuple(kernel_size, self._rank, "kernel_size")
        self.strides = normalized_tuple(strides, self._rank, "strides")
        self.padding = normalized_padding(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f'Invalid border mode for LocallyConnected{self._rank}D (only "valid" is supported if '
                f"implementation is 1): {padding}"
            )
        self.data_format = normalized_data_format(data_format)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self._rank + 2)

    @property
    def _channels_first(self):
        return self.data_format == "channels_first"

    def _ordered(self, places, channels):
        """Sizes of spatial axes and of channels, in the order of the format."""
        return (channels, *places) if self._channels_first else (*places, channels)

    def _lengths(self, places):
        window = zip(places, self.kernel_size, self.strides, strict=True)
        return tuple(output_length(length, size, self.padding, stride) for length, size, stride in window)

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        places = tuple(sizes[2:] if self._channels_first else sizes[1:-1])
        channels = sizes[1 if self._channels_first else -1]
        self._check_sizes(places, channels, tuple(sizes))
        self._output_places = self._lengths(places)
        self.kernel = self.add_weight(
            shape=self._shape_of_kernel(places, channels), initializer=self.kernel_initializer, name="kernel",
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*self._output_places, self.filters), initializer=self.bias_initializer, name="bias",
                regularizer=self.bias_regularizer, constraint=self.bias_constraint,
            )  # fmt: skip
        self.input_spec = InputSpec(ndim=self._rank + 2, axes={1 if self._channels_first else -1: channels})
        self.built = True

    def _check_sizes(self, places, channels, sizes):
        raise NotImplementedError

    def _shape_of_kernel(self, places, channels):
        outputs = self._ordered(self._output_places, self.filters)
        inputs = self._ordered(places, channels)
        if self.implementation == 1:
            return math.prod(self._output_places), math.prod(self.kernel_size) * channels, self.filters
        connected = conv_kernel_mask(places, self.kernel_size, self.strides, self.padding)
        # [places, outputs' places] with axes of channels, which are all connected
        axes = (0, self._rank + 1) if self._channels_first else (self._rank, 2 * self._rank + 1)
        connected = np.expand_dims(connected, axes)
        if self.implementation == 2:
            self.kernel_mask = connected
            return (*inputs, *outputs)
        if self.implementation == 3:
            every = np.broadcast_to(connected, (*inputs, *outputs))
            self._matrix_shape = math.prod(outputs), math.prod(inputs)
            self._pairs = np.argwhere(every.reshape(self._matrix_shape[::-1]).T).astype(np.int64)
            return (len(self._pairs),)
        raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        places = self._lengths(sizes[2:] if self._channels_first else sizes[1:-1])
        return TensorShape([sizes[0], *self._ordered(places, self.filters)])

    def call(self, inputs):
        if self.implementation == 1:
            outputs = local_conv(
                inputs, self.kernel, self.kernel_size, self.strides, self._output_places, self.data_format
            )
        else:
            flat = ops.reshape(inputs, (ops.shape(inputs)[0], -1))
            products = self._masked_product(flat) if self.implementation == 2 else self._sparse_product(flat)
            shape = self.compute_output_shape(inputs.shape).as_list()
            outputs = ops.reshape(products, [ops.shape(products)[0], *shape[1:]])
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=self.data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def _masked_product(self, flat):
        kernel = self.kernel_mask * self.kernel
        sizes, split = ops.shape(kernel), self._rank + 1
        before, behind = sizes[:split], sizes[split:]
        matrix = ops.reshape(kernel, (ops.reduce_prod(before), ops.reduce_prod(behind)))
        return ops.sparse_mat_mul(flat, matrix, b_is_sparse=True)

    def _sparse_product(self, flat):
        products = ops.sparse_tensor_dense_mat_mul(self._pairs, self.kernel, self._matrix_shape, flat, adjoint_b=True)
        return transpose(products)

    def get_config(self):
        plain = {key: getattr(self, key) for key in _PLAIN}
        made = {key: serialize(getattr(self, key)) for key in _MADE}
        return in_order_of_files({**super().get_config(), **plain, **made})


@public("keras.layers.LocallyConnected1D")
class LocallyConnected1D(_LocallyConnected):
    """A convolution of sequences whose kernel is another one at each step.

    Args:
      filters: the number of channels of the outputs.
      kernel_size, strides: integers.
      padding: "valid"; "same", too, if `implementation` is not 1.
      data_format: "channels_last" or "channels_first".
      activation: a function or a name; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables or names.
      kernel_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of variables and outputs.
      kernel_constraint, bias_constraint: functions from the value after an update to the value to keep.
      implementation: how the kernel is stored: 1 in as many matrices as there are steps; 2 in one matrix, most of
        which is not used; 3 as a sparse matrix.

    Raises:
      ValueError: for another padding or implementation; when built, for inputs whose sizes are not known.
    """

    _rank = 1

    def __init__(
        self, filters, kernel_size, strides=1, padding="valid", data_format=None, activation=None, use_bias=True,
        kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, bias_constraint=None, implementation=1, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self._set_options(
            filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
            bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
            bias_constraint, implementation,
        )  # fmt: skip

    def _check_sizes(self, places, channels, sizes):
        if channels is None:
            raise ValueError("Axis 2 of input should be fully-defined. Found shape:", sizes)


@public("keras.layers.LocallyConnected2D")
class LocallyConnected2D(_LocallyConnected):
    """A convolution of images whose kernel is another one at each pixel.

    Args:
      filters: the number of channels of the outputs.
      kernel_size, strides: integers, or pairs.
      padding: "valid"; "same", too, if `implementation` is not 1.
      data_format: "channels_last" or "channels_first".
      activation: a function or a name; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables or names.
      kernel_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of variables and outputs.
      kernel_constraint, bias_constraint: functions from the value after an update to the value to keep.
      implementation: how the kernel is stored: 1 in as many matrices as there are pixels; 2 in one matrix, most of
        which is not used; 3 as a sparse matrix.

    Raises:
      ValueError: for another padding or implementation; when built, for inputs whose sizes are not known.
    """

    _rank = 2

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, activation=None, use_bias=True,
        kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, bias_constraint=None, implementation=1, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self._set_options(
            filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
            bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
            bias_constraint, implementation,
        )  # fmt: skip

    def _check_sizes(self, places, channels, sizes):
        if None in places:
            raise ValueError(
                "The spatial dimensions of the inputs to  a LocallyConnected2D layer should be fully-defined, but "
                f"layer received the inputs shape {sizes}"
            )
