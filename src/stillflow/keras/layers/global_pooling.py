"""Global pooling: the largest, or the mean, of all steps of sequences, pixels of images, voxels of volumes."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.arithmetic import max_, mean, sum_
from stillflow.layers.core.data_formats import normalized_data_format
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.settings import floatx
from stillflow.names import public


class _GlobalPooling(Layer):
    """One number of each channel.

    Args:
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for another format.
    """

    _rank = 0

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = normalized_data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    @property
    def _axes(self):
        first = 2 if self.data_format == "channels_first" else 1
        return first if self._rank == 1 else list(range(first, first + self._rank))

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], sizes[1 if self.data_format == "channels_first" else -1]])

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


@public("keras.layers.GlobalAveragePooling1D", "keras.layers.GlobalAvgPool1D")
class GlobalAveragePooling1D(_GlobalPooling):
    """The mean of all steps; of those that a mask, if there is one, leaves.

    Args:
      data_format: "channels_last" or "channels_first".
    """

    _rank = 1

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return mean(inputs, axis=self._axes)
        mask = ops.reshape(ops.cast(mask, floatx()), [-1, inputs.shape.as_list()[self._axes], 1])
        inputs *= mask
        return sum_(inputs, axis=self._axes) / ops.reduce_sum(mask, axis=self._axes)

    def compute_mask(self, inputs, mask=None):
        return None


@public("keras.layers.GlobalMaxPooling1D", "keras.layers.GlobalMaxPool1D")
class GlobalMaxPooling1D(_GlobalPooling):
    """The largest of all steps.

    Args:
      data_format: "channels_last" or "channels_first".
    """

    _rank = 1

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(data_format, **kwargs)

    def call(self, inputs):
        return max_(inputs, axis=self._axes)


class _Average(_GlobalPooling):
    def call(self, inputs):
        return mean(inputs, axis=self._axes)


class _Max(_GlobalPooling):
    def call(self, inputs):
        return max_(inputs, axis=self._axes)


@public("keras.layers.GlobalAveragePooling2D", "keras.layers.GlobalAvgPool2D")
class GlobalAveragePooling2D(_Average):
    """The mean of all pixels."""

    _rank = 2


@public("keras.layers.GlobalMaxPooling2D", "keras.layers.GlobalMaxPool2D")
class GlobalMaxPooling2D(_Max):
    """The largest of all pixels."""

    _rank = 2


@public("keras.layers.GlobalAveragePooling3D", "keras.layers.GlobalAvgPool3D")
class GlobalAveragePooling3D(_Average):
    """The mean of all voxels."""

    _rank = 3


@public("keras.layers.GlobalMaxPooling3D", "keras.layers.GlobalMaxPool3D")
class GlobalMaxPooling3D(_Max):
    """The largest of all voxels."""

    _rank = 3
