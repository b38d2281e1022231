"""Conv2DTranspose, Conv3DTranspose: what a convolution does to gradients, as a layer; it makes images larger."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.convolution import atrous_conv2d_transpose
from stillflow.graph.shape import TensorShape
from stillflow.layers.core.convolution import Conv, Conv2D, Conv3D
from stillflow.layers.core.data_formats import format_of_op, normalized_tuple, transposed_output_length
from stillflow.names import public


class _Transposed(Conv):
    """What both kinds have in common: a kernel of outputs and inputs, and the lengths that they lead to."""

    def _set_output_padding(self, output_padding):
        self.output_padding = output_padding
        if output_padding is not None:
            self.output_padding = normalized_tuple(output_padding, self.rank, "output_padding")
            for stride, padding in zip(self.strides, self.output_padding, strict=True):
                if padding >= stride:
                    raise ValueError(
                        f"Stride {self.strides} must be greater than output padding {self.output_padding}"
                    )

    def _build(self, input_shape):
        channels = self._input_channels(input_shape)
        self.input_spec = self._spec_of(channels)
        self.kernel = self._new_weight("kernel", (*self.kernel_size, self.filters, channels))
        self.bias = self._new_bias()
        self.built = True

    def _lengths(self, lengths):
        """The outputs' lengths along the axes that the kernel moves along."""
        more = self.output_padding or (None,) * self.rank
        return [
            transposed_output_length(length, size, self.padding, padding, stride, dilation)
            for length, size, padding, stride, dilation in zip(
                lengths, self.kernel_size, more, self.strides, self.dilation_rate, strict=True
            )
        ]

    def _shape_tensor(self, inputs):
        sizes = ops.shape(inputs)
        batch = sizes[0]
        first = 2 if self._channels_first else 1
        lengths = self._lengths([sizes[first + i] for i in range(self.rank)])
        return ops.stack((batch, self.filters, *lengths) if self._channels_first else (batch, *lengths, self.filters))

    def _finished(self, outputs, inputs):
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            outputs = ops.bias_add(outputs, self.bias, data_format=format_of_op(self.data_format, 4))
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        lengths = self._lengths(sizes[2:] if self._channels_first else sizes[1:-1])
        return TensorShape(
            [sizes[0], self.filters, *lengths] if self._channels_first else [sizes[0], *lengths, self.filters]
        )


@public("keras.layers.Conv2DTranspose", "keras.layers.Convolution2DTranspose")
class Conv2DTranspose(_Transposed, Conv2D):
    """The transpose of a convolution along two dimensions; see `Conv`.

    Zeiler et al., "Deconvolutional Networks", 2010.

    Args:
      output_padding: how much longer the outputs are to be than the shortest that fit; None for that which the
        padding says.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", output_padding=None, data_format=None,
        dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer="glorot_uniform",
        bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        kernel_constraint=None, bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self._set_output_padding(output_padding)

    def build(self, input_shape):
        input_shape = TensorShape(input_shape)
        if input_shape.rank != 4:
            raise ValueError(f"Inputs should have rank 4. Received input shape: {input_shape}")
        self._build(input_shape)

    def call(self, inputs):
        shape = self._shape_tensor(inputs)
        images = inputs
        if self._channels_first:  # which TensorFlow has no kernel for, on CPUs
            images = ops.transpose(inputs, (0, 2, 3, 1))
            shape = ops.stack([shape[0], shape[2], shape[3], shape[1]])
        else:
            _ = shape[0]  # a node that TensorFlow's graphs have, and nothing uses
        padding = self.padding.upper()
        if self.dilation_rate == (1, 1):
            outputs = ops.conv2d_transpose(images, self.kernel, shape, (1, *self.strides, 1), padding=padding)
        else:
            outputs = atrous_conv2d_transpose(images, self.kernel, shape, self.dilation_rate[0], padding)
        if self._channels_first:
            outputs = ops.transpose(outputs, (0, 3, 1, 2))
        return self._finished(outputs, inputs)

    def get_config(self):
        return {**super().get_config(), "output_padding": self.output_padding}


@public("keras.layers.Conv3DTranspose", "keras.layers.Convolution3DTranspose")
class Conv3DTranspose(_Transposed, Conv3D):
    """The transpose of a convolution along three dimensions; see `Conv2DTranspose`."""

    def __init__(
        self, filters, kernel_size, strides=(1, 1, 1), padding="valid", output_padding=None, data_format=None,
        activation=None, use_bias=True, kernel_initializer="glorot_uniform",
        bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        kernel_constraint=None, bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters, kernel_size, strides, padding, data_format, (1, 1, 1), activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self._set_output_padding(output_padding)

    def build(self, input_shape):
        input_shape = TensorShape(input_shape)
        if input_shape.rank != 5:
            raise ValueError("Inputs should have rank 5, received input shape:", str(input_shape))
        if input_shape.dims[1 if self._channels_first else -1].value is None:
            raise ValueError(f"The channel dimension of the inputs should be defined, found None: {input_shape}")
        self._build(input_shape)

    def call(self, inputs):
        shape = self._shape_tensor(inputs)
        strides = (1, 1, *self.strides) if self._channels_first else (1, *self.strides, 1)
        outputs = ops.conv3d_transpose(
            inputs, self.kernel, shape, strides, data_format=format_of_op(self.data_format, 5),
            padding=self.padding.upper(),
        )  # fmt: skip
        return self._finished(outputs, inputs)

    def get_config(self):
        config = {**super().get_config(), "output_padding": self.output_padding}
        del config["dilation_rate"]
        return config
