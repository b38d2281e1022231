"""tf.layers.Conv2DTranspose and Conv3DTranspose, and their functions."""

from __future__ import annotations

from stillflow.layers import base
from stillflow.layers.core import transposed_convolution as core
from stillflow.names import public
from stillflow.variables.initializers import Zeros

_ZEROS = Zeros()


@public(
    "layers.Conv2DTranspose",
    "python.layers.convolutional.Deconvolution2D",
    "python.layers.convolutional.Deconv2D",
    "python.layers.convolutional.Convolution2DTranspose",
)
class Conv2DTranspose(core.Conv2DTranspose, base.Layer):
    """The transpose of a convolution along two dimensions, as a layer; it makes images larger. See `Conv2D`.

    The outputs are as long as the inputs times the strides; with "valid" padding longer by what the kernel's size is
    above the stride.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
        activation=None,
        use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
        trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
            **kwargs,
        )  # fmt: skip


@public(
    "layers.conv2d_transpose",
    "python.layers.convolutional.deconvolution2d",
    "python.layers.convolutional.deconv2d",
    "python.layers.convolutional.convolution2d_transpose",
)
def conv2d_transpose(
    inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
    activation=None,
    use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
    trainable=True, name=None, reuse=None,
):  # fmt: skip
    """The transpose of a convolution along two dimensions.

    Args:
      inputs: a tensor of 4 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `Conv2DTranspose`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = Conv2DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)


@public(
    "layers.Conv3DTranspose",
    "python.layers.convolutional.Deconvolution3D",
    "python.layers.convolutional.Deconv3D",
    "python.layers.convolutional.Convolution3DTranspose",
)
class Conv3DTranspose(core.Conv3DTranspose, base.Layer):
    """The transpose of a convolution along three dimensions, as a layer; it makes volumes larger. See `Conv3D`.

    The outputs are as long as the inputs times the strides; with "valid" padding longer by what the kernel's size is
    above the stride.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
        activation=None,
        use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
        trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
            **kwargs,
        )  # fmt: skip


@public(
    "layers.conv3d_transpose",
    "python.layers.convolutional.deconvolution3d",
    "python.layers.convolutional.deconv3d",
    "python.layers.convolutional.convolution3d_transpose",
)
def conv3d_transpose(
    inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
    activation=None,
    use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
    trainable=True, name=None, reuse=None,
):  # fmt: skip
    """The transpose of a convolution along three dimensions.

    Args:
      inputs: a tensor of 5 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `Conv3DTranspose`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = Conv3DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)
