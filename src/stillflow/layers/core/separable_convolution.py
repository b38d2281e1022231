"""SeparableConv1D, SeparableConv2D: each channel convolved on its own, then all of them mixed at each place."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.separable_convolution import separable_conv2d
from stillflow.graph.shape import TensorShape
from stillflow.layers.core import constraints, initializers, regularizers
from stillflow.layers.core.convolution import Conv
from stillflow.layers.core.data_formats import format_of_op
from stillflow.layers.core.serialization import serialize
from stillflow.names import public

_MADE = (
    "depthwise_initializer", "pointwise_initializer", "depthwise_regularizer", "pointwise_regularizer",
    "depthwise_constraint", "pointwise_constraint",
)  # fmt: skip


class SeparableConv(Conv):
    """A convolution of each channel on its own, then one of single places that mixes them; see `Conv`.

    Args:
      depth_multiplier: how many channels each channel becomes before they are mixed.
      depthwise_initializer, pointwise_initializer, depthwise_regularizer, pointwise_regularizer,
        depthwise_constraint, pointwise_constraint: of both kernels.
    """

    def __init__(
        self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
        depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
        pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
        pointwise_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            rank, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, trainable=trainable,
            name=name, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.pointwise_initializer = initializers.get(pointwise_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)
        self.pointwise_constraint = constraints.get(pointwise_constraint)

    def build(self, input_shape):
        channels = self._input_channels(TensorShape(input_shape))
        self.input_spec = self._spec_of(channels)
        depthwise = (*self.kernel_size, channels, self.depth_multiplier)
        pointwise = (*(1,) * self.rank, self.depth_multiplier * channels, self.filters)
        self.depthwise_kernel = self._new_weight("depthwise_kernel", depthwise, prefix="depthwise")
        self.pointwise_kernel = self._new_weight("pointwise_kernel", pointwise, prefix="pointwise")
        self.bias = self._new_bias()
        self.built = True

    def _convolved(self, inputs, depthwise, pointwise, strides, rate):
        strides = (1, 1, *strides) if self._channels_first else (1, *strides, 1)
        data_format = format_of_op(self.data_format, 4)
        outputs = separable_conv2d(
            inputs, depthwise, pointwise, strides=strides, padding=self._op_padding, rate=rate,
            data_format=data_format,
        )  # fmt: skip
        return ops.bias_add(outputs, self.bias, data_format=data_format) if self.use_bias else outputs

    def get_config(self):
        made = {key: serialize(getattr(self, key)) for key in _MADE}
        return {**super().get_config(), "depth_multiplier": self.depth_multiplier, **made}


@public("keras.layers.SeparableConv1D", "keras.layers.SeparableConvolution1D")
class SeparableConv1D(SeparableConv):
    """A separable convolution along one dimension; see `SeparableConv`."""

    _takes_causal_padding = True

    def __init__(
        self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
        depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
        pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
        pointwise_constraint=None, bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            1, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation,
            use_bias, depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer,
            pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
            pointwise_constraint, bias_constraint, **kwargs,
        )  # fmt: skip

    def call(self, inputs):
        if self.padding == "causal":
            inputs = self._padded_causally(inputs)
        axis = 2 if self._channels_first else 1  # of the dimension that images have more
        inputs = ops.expand_dims(inputs, axis)
        depthwise = ops.expand_dims(self.depthwise_kernel, 0)
        pointwise = ops.expand_dims(self.pointwise_kernel, 0)
        outputs = self._convolved(inputs, depthwise, pointwise, self.strides * 2, (1, *self.dilation_rate))
        outputs = ops.squeeze(outputs, [axis])
        return outputs if self.activation is None else self.activation(outputs)


@public("keras.layers.SeparableConv2D", "keras.layers.SeparableConvolution2D")
class SeparableConv2D(SeparableConv):
    """A separable convolution along two dimensions; see `SeparableConv`."""

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
        depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
        pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
        pointwise_constraint=None, bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation,
            use_bias, depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer,
            pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
            pointwise_constraint, bias_constraint, **kwargs,
        )  # fmt: skip

    def call(self, inputs):
        kernels = self.depthwise_kernel, self.pointwise_kernel
        outputs = self._convolved(inputs, *kernels, self.strides, self.dilation_rate)
        return outputs if self.activation is None else self.activation(outputs)
