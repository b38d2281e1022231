"""Weights as images, as the TensorBoard callbacks show them."""

from __future__ import annotations

from stillflow import ops
from stillflow.keras.backend.values import int_shape
from stillflow.layers.core.settings import image_data_format


def squeezed_weight(weight):
    """A weight without the sizes that are 1."""
    return ops.squeeze(weight)


def as_images(weight):
    """Images [count, height, width, 1] of a squeezed weight: of a vector or a matrix one, lying on its side; of three
    dimensions one for each kernel. Others are returned as they are."""
    shape = int_shape(weight)
    if len(shape) == 1:
        return ops.reshape(weight, [1, shape[0], 1, 1])
    if len(shape) == 2:
        if shape[0] > shape[1]:
            weight = ops.transpose(weight)
            shape = int_shape(weight)
        return ops.reshape(weight, [1, shape[0], shape[1], 1])
    if len(shape) == 3:
        if image_data_format() == "channels_last":
            weight = ops.transpose(weight, perm=[2, 0, 1])
            shape = int_shape(weight)
        return ops.reshape(weight, [shape[0], shape[1], shape[2], 1])
    return weight
