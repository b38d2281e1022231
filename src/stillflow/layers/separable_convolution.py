"""tf.layers.SeparableConv1D and SeparableConv2D, and their functions."""

from __future__ import annotations

from stillflow.layers import base
from stillflow.layers.core import separable_convolution as core
from stillflow.names import public
from stillflow.variables.initializers import Zeros

_ZEROS = Zeros()


@public("layers.SeparableConv1D")
class SeparableConv1D(core.SeparableConv1D, base.Layer):
    """A convolution of each channel on its own along one dimension, then one of single places that mixes them.

    Args:
      depth_multiplier: how many channels each channel becomes before they are mixed.
      depthwise_initializer, pointwise_initializer, depthwise_regularizer, pointwise_regularizer,
        depthwise_constraint, pointwise_constraint: of both kernels.
      The rest: see `Conv1D`.
    """

    def __init__(
        self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
        dilation_rate=1, depth_multiplier=1, activation=None,
        use_bias=True, depthwise_initializer=None, pointwise_initializer=None, bias_initializer=_ZEROS,
        depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation, use_bias=use_bias,
            depthwise_initializer=depthwise_initializer, pointwise_initializer=pointwise_initializer,
            bias_initializer=bias_initializer, depthwise_regularizer=depthwise_regularizer,
            pointwise_regularizer=pointwise_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, depthwise_constraint=depthwise_constraint,
            pointwise_constraint=pointwise_constraint, bias_constraint=bias_constraint, trainable=trainable,
            name=name, **kwargs,
        )  # fmt: skip


@public("layers.separable_conv1d")
def separable_conv1d(
    inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
    dilation_rate=1, depth_multiplier=1, activation=None,
    use_bias=True, depthwise_initializer=None, pointwise_initializer=None, bias_initializer=_ZEROS,
    depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
    depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None,
):  # fmt: skip
    """A convolution of each channel on its own along one dimension, then one of single places that mixes them.

    Args:
      inputs: a tensor of 3 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `SeparableConv1D`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = SeparableConv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint,
        trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)


@public("layers.SeparableConv2D", "python.layers.convolutional.SeparableConvolution2D")
class SeparableConv2D(core.SeparableConv2D, base.Layer):
    """A convolution of each channel on its own along two dimensions, then one of single places that mixes them.

    Args:
      depth_multiplier: how many channels each channel becomes before they are mixed.
      depthwise_initializer, pointwise_initializer, depthwise_regularizer, pointwise_regularizer,
        depthwise_constraint, pointwise_constraint: of both kernels.
      The rest: see `Conv2D`.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
        dilation_rate=(1, 1), depth_multiplier=1, activation=None,
        use_bias=True, depthwise_initializer=None, pointwise_initializer=None, bias_initializer=_ZEROS,
        depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation, use_bias=use_bias,
            depthwise_initializer=depthwise_initializer, pointwise_initializer=pointwise_initializer,
            bias_initializer=bias_initializer, depthwise_regularizer=depthwise_regularizer,
            pointwise_regularizer=pointwise_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, depthwise_constraint=depthwise_constraint,
            pointwise_constraint=pointwise_constraint, bias_constraint=bias_constraint, trainable=trainable,
            name=name, **kwargs,
        )  # fmt: skip


@public("layers.separable_conv2d", "python.layers.convolutional.separable_convolution2d")
def separable_conv2d(
    inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
    dilation_rate=(1, 1), depth_multiplier=1, activation=None,
    use_bias=True, depthwise_initializer=None, pointwise_initializer=None, bias_initializer=_ZEROS,
    depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
    depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None,
):  # fmt: skip
    """A convolution of each channel on its own along two dimensions, then one of single places that mixes them.

    Args:
      inputs: a tensor of 4 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `SeparableConv2D`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = SeparableConv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint,
        trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)
