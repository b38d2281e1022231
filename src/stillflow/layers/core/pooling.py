"""Pooling: the largest, or the mean, of the inputs in each window; in one to three dimensions."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.layers.core.data_formats import (
    format_of_op,
    normalized_data_format,
    normalized_padding,
    normalized_tuple,
    output_length,
)
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public


class Pooling(Layer):
    """Windows that move along `rank` dimensions.

    Args:
      pool_size: the size of the window, an integer or a tuple.
      strides: how far it moves; by default its size.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for sizes that are not integers, or not as many as there are dimensions; for other paddings and
        formats.
    """

    rank: int
    _is_average: bool
    _of_config: tuple[str, ...] = ("pool_size", "padding", "strides", "data_format")

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(**kwargs)
        strides = pool_size if strides is None else strides
        self.pool_size = normalized_tuple(pool_size, self.rank, "pool_size")
        self.strides = normalized_tuple(strides, self.rank, "strides")
        self.padding = normalized_padding(padding)
        self.data_format = normalized_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _channels_first(self):
        return self.data_format == "channels_first"

    def _pooled(self, images):
        """Of images whose channels are last."""
        pool = ops.avg_pool if self._is_average else ops.max_pool
        window = self.pool_size if self.rank == 2 else (*self.pool_size, 1)
        strides = self.strides if self.rank == 2 else (*self.strides, 1)
        return pool(images, (1, *window, 1), (1, *strides, 1), padding=self.padding.upper())

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self._channels_first else 1
        for i in range(self.rank):
            sizes[first + i] = output_length(sizes[first + i], self.pool_size[i], self.padding, self.strides[i])
        return TensorShape(sizes)

    def get_config(self):
        return {**super().get_config(), **{key: getattr(self, key) for key in self._of_config}}


class _Pooling1D(Pooling):
    rank = 1
    _of_config = ("strides", "pool_size", "padding", "data_format")

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format="channels_last", **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)

    def call(self, inputs):
        axis = 3 if self._channels_first else 2  # of the dimension that images have more
        images = ops.expand_dims(inputs, axis)
        if self._channels_first:  # which TensorFlow has no kernel for, on CPUs
            images = ops.transpose(images, (0, 2, 3, 1))
        outputs = self._pooled(images)
        if self._channels_first:
            outputs = ops.transpose(outputs, (0, 3, 1, 2))
        return ops.squeeze(outputs, axis)


class _Pooling2D(Pooling):
    rank = 2

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)

    def call(self, inputs):
        pool = ops.avg_pool if self._is_average else ops.max_pool
        window, strides = (
            (1, 1, *sizes) if self._channels_first else (1, *sizes, 1) for sizes in (self.pool_size, self.strides)
        )
        return pool(
            inputs, ksize=window, strides=strides, padding=self.padding.upper(),
            data_format=format_of_op(self.data_format, 4),
        )  # fmt: skip


class _Pooling3D(Pooling):
    rank = 3

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)

    def call(self, inputs):
        pool = ops.avg_pool3d if self._is_average else ops.max_pool3d
        if self._channels_first:
            inputs = ops.transpose(inputs, (0, 2, 3, 4, 1))
        outputs = pool(
            inputs, ksize=(1, *self.pool_size, 1), strides=(1, *self.strides, 1), padding=self.padding.upper()
        )
        return ops.transpose(outputs, (0, 4, 1, 2, 3)) if self._channels_first else outputs


@public("keras.layers.MaxPooling1D", "keras.layers.MaxPool1D")
class MaxPooling1D(_Pooling1D):
    """The largest of the inputs in each window, in one dimension."""

    _is_average = False


@public("keras.layers.AveragePooling1D", "keras.layers.AvgPool1D")
class AveragePooling1D(_Pooling1D):
    """The mean of the inputs in each window, in one dimension."""

    _is_average = True


@public("keras.layers.MaxPooling2D", "keras.layers.MaxPool2D")
class MaxPooling2D(_Pooling2D):
    """The largest of the inputs in each window, in two dimensions."""

    _is_average = False


@public("keras.layers.AveragePooling2D", "keras.layers.AvgPool2D")
class AveragePooling2D(_Pooling2D):
    """The mean of the inputs in each window, in two dimensions."""

    _is_average = True


@public("keras.layers.MaxPooling3D", "keras.layers.MaxPool3D")
class MaxPooling3D(_Pooling3D):
    """The largest of the inputs in each window, in three dimensions."""

    _is_average = False


@public("keras.layers.AveragePooling3D", "keras.layers.AvgPool3D")
class AveragePooling3D(_Pooling3D):
    """The mean of the inputs in each window, in three dimensions."""

    _is_average = True
