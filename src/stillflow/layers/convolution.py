"""tf.layers.Conv1D to Conv3D, and their functions."""

from __future__ import annotations

from stillflow.layers import base
from stillflow.layers.core import convolution as core
from stillflow.names import public
from stillflow.variables.initializers import Zeros

_ZEROS = Zeros()


@public("layers.Conv1D", "python.layers.convolutional.Convolution1D")
class Conv1D(core.Conv1D, base.Layer):
    """activation(convolution(inputs, kernel) + bias), along one dimension.

    Args:
      filters: the number of channels of the outputs.
      kernel_size, strides, dilation_rate: an integer, or a tuple of one.
      padding: "valid" or "same", or "causal", so that no output depends on later inputs.
      data_format: "channels_last" or "channels_first".
      activation: a function; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables; None for the variable scope's.
      kernel_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of the variables and the
        outputs.
      kernel_constraint, bias_constraint: functions from the value after an update to the value to keep.
      trainable: whether the variables go into GraphKeys.TRAINABLE_VARIABLES.
      name: the layer's name, and the scope's.
    """

    def __init__(
        self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
        dilation_rate=1, activation=None,
        use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
        trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


@public("layers.conv1d", "python.layers.convolutional.convolution1d")
def conv1d(
    inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
    dilation_rate=1, activation=None,
    use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
    trainable=True, name=None, reuse=None,
):  # fmt: skip
    """activation(convolution(inputs, kernel) + bias), along one dimension.

    Args:
      inputs: a tensor of 3 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `Conv1D`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = Conv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)


@public("layers.Conv2D", "python.layers.convolutional.Convolution2D")
class Conv2D(core.Conv2D, base.Layer):
    """activation(convolution(inputs, kernel) + bias), along two dimensions; see `Conv1D`.

    `kernel_size`, `strides` and `dilation_rate` are integers, or tuples of two.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
        dilation_rate=(1, 1), activation=None,
        use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
        trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


@public("layers.conv2d", "python.layers.convolutional.convolution2d")
def conv2d(
    inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
    dilation_rate=(1, 1), activation=None,
    use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
    trainable=True, name=None, reuse=None,
):  # fmt: skip
    """activation(convolution(inputs, kernel) + bias), along two dimensions.

    Args:
      inputs: a tensor of 4 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `Conv2D`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = Conv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)


@public("layers.Conv3D", "python.layers.convolutional.Convolution3D")
class Conv3D(core.Conv3D, base.Layer):
    """activation(convolution(inputs, kernel) + bias), along three dimensions; see `Conv1D`.

    `kernel_size`, `strides` and `dilation_rate` are integers, or tuples of three.
    """

    def __init__(
        self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
        dilation_rate=(1, 1, 1), activation=None,
        use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
        trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


@public("layers.conv3d", "python.layers.convolutional.convolution3d")
def conv3d(
    inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
    dilation_rate=(1, 1, 1), activation=None,
    use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
    trainable=True, name=None, reuse=None,
):  # fmt: skip
    """activation(convolution(inputs, kernel) + bias), along three dimensions.

    Args:
      inputs: a tensor of 5 dimensions.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `Conv3D`.

    Raises:
      ValueError: for inputs of another rank, or whose number of channels is not known.
    """
    layer = Conv3D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs)
