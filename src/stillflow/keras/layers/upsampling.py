"""UpSampling1D to UpSampling3D: each step, pixel or voxel several times."""

from __future__ import annotations

from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.shaping import repeat_elements, resize_images, resize_volumes
from stillflow.layers.core.data_formats import normalized_data_format, normalized_tuple
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public


@public("keras.layers.UpSampling1D")
class UpSampling1D(Layer):
    """Each step of sequences several times.

    Args:
      size: how many times.
    """

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape):
        batch, steps, features = TensorShape(input_shape).as_list()
        return TensorShape([batch, None if steps is None else steps * self.size, features])

    def call(self, inputs):
        return repeat_elements(inputs, self.size, axis=1)

    def get_config(self):
        return {**super().get_config(), "size": self.size}


class _UpSampling(Layer):
    """What those of images and of volumes have in common."""

    _rank = 0

    def __init__(self, size, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = normalized_data_format(data_format)
        self.size = normalized_tuple(size, self._rank, "size")
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        for axis, factor in enumerate(self.size, 2 if self.data_format == "channels_first" else 1):
            sizes[axis] = None if sizes[axis] is None else sizes[axis] * factor
        return TensorShape(sizes)

    def get_config(self):
        return {**super().get_config(), "size": self.size, "data_format": self.data_format}


@public("keras.layers.UpSampling2D")
class UpSampling2D(_UpSampling):
    """Images enlarged by whole numbers.

    Args:
      size: the factors of height and width, or one for both.
      data_format: "channels_last" or "channels_first".
      interpolation: "nearest" or "bilinear".

    Raises:
      ValueError: for another interpolation, or factors that are no integers.
    """

    _rank = 2

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(size, data_format, **kwargs)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError('`interpolation` argument should be one of `"nearest"` or `"bilinear"`.')
        self.interpolation = interpolation

    def call(self, inputs):
        return resize_images(inputs, *self.size, self.data_format, interpolation=self.interpolation)

    def get_config(self):
        return {**super().get_config(), "interpolation": self.interpolation}


@public("keras.layers.UpSampling3D")
class UpSampling3D(_UpSampling):
    """Volumes enlarged by whole numbers.

    Args:
      size: the factors of the three axes, or one for all.
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for factors that are no integers.
    """

    _rank = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(size, data_format, **kwargs)

    def call(self, inputs):
        return resize_volumes(inputs, *self.size, self.data_format)
