"""Flatten: all dimensions but the first as one."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.layers.core.data_formats import normalized_data_format
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public


@public("keras.layers.Flatten")
class Flatten(Layer):
    """All dimensions but the first as one. Channels that come first are moved to the end before that.

    Args:
      data_format: "channels_last" or "channels_first".
    """

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = normalized_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = ops.transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = ops.reshape(inputs, (inputs.shape.as_list()[0] or ops.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], math.prod(sizes[1:]) if all(sizes[1:]) else None])

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}
