"""tf.layers.MaxPooling1D to AveragePooling3D, and their functions."""

from __future__ import annotations

from stillflow.layers import base
from stillflow.layers.core import pooling as core
from stillflow.names import public


class _WithStrides(core.Pooling):
    """The arguments of pools here, which unlike those of Keras have no strides of their own accord."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


@public("layers.AveragePooling1D")
class AveragePooling1D(_WithStrides, core.AveragePooling1D, base.Layer):
    """The mean of the inputs in each window, along one dimension.

    Args:
      pool_size: the size of the window, an integer or a tuple of 1.
      strides: how far it moves, likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the layer's name.
    """


@public("layers.average_pooling1d")
def average_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """The mean of the inputs, a tensor of 3 dimensions, in each window; see `AveragePooling1D`."""
    return AveragePooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


@public("layers.AveragePooling2D", "python.layers.pooling.AvgPool2D")
class AveragePooling2D(_WithStrides, core.AveragePooling2D, base.Layer):
    """The mean of the inputs in each window, along two dimensions.

    Args:
      pool_size: the size of the window, an integer or a tuple of 2.
      strides: how far it moves, likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the layer's name.
    """


@public("layers.average_pooling2d", "python.layers.pooling.avg_pool2d")
def average_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """The mean of the inputs, a tensor of 4 dimensions, in each window; see `AveragePooling2D`."""
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


@public("layers.AveragePooling3D")
class AveragePooling3D(_WithStrides, core.AveragePooling3D, base.Layer):
    """The mean of the inputs in each window, along three dimensions.

    Args:
      pool_size: the size of the window, an integer or a tuple of 3.
      strides: how far it moves, likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the layer's name.
    """


@public("layers.average_pooling3d")
def average_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """The mean of the inputs, a tensor of 5 dimensions, in each window; see `AveragePooling3D`."""
    return AveragePooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


@public("layers.MaxPooling1D")
class MaxPooling1D(_WithStrides, core.MaxPooling1D, base.Layer):
    """The largest of the inputs in each window, along one dimension.

    Args:
      pool_size: the size of the window, an integer or a tuple of 1.
      strides: how far it moves, likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the layer's name.
    """


@public("layers.max_pooling1d")
def max_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """The largest of the inputs, a tensor of 3 dimensions, in each window; see `MaxPooling1D`."""
    return MaxPooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


@public("layers.MaxPooling2D", "python.layers.pooling.MaxPool2D")
class MaxPooling2D(_WithStrides, core.MaxPooling2D, base.Layer):
    """The largest of the inputs in each window, along two dimensions.

    Args:
      pool_size: the size of the window, an integer or a tuple of 2.
      strides: how far it moves, likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the layer's name.
    """


@public("layers.max_pooling2d", "python.layers.pooling.max_pool2d")
def max_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """The largest of the inputs, a tensor of 4 dimensions, in each window; see `MaxPooling2D`."""
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


@public("layers.MaxPooling3D")
class MaxPooling3D(_WithStrides, core.MaxPooling3D, base.Layer):
    """The largest of the inputs in each window, along three dimensions.

    Args:
      pool_size: the size of the window, an integer or a tuple of 3.
      strides: how far it moves, likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the layer's name.
    """


@public("layers.max_pooling3d")
def max_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """The largest of the inputs, a tensor of 5 dimensions, in each window; see `MaxPooling3D`."""
    return MaxPooling3D(pool_size, strides, padding, data_format, name).apply(inputs)
