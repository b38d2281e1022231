"""Images whose hue, saturation and value are changed at once: tf.contrib.image.python.ops.distort_image_ops."""

from __future__ import annotations

import numpy as np

from stillflow import errors, ops
from stillflow.composites.checks import assert_that
from stillflow.composites.image_types import convert_image_dtype
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public_module
from stillflow.ops.array.constant import constant
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform

public_module("contrib.image.python.ops.distort_image_ops")

# From RGB to YIQ and back, https://en.wikipedia.org/wiki/YIQ, as TensorFlow rounds them.
_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]], np.float32)
_RGB = np.array([[1, 0.95617069, 0.62143257], [1, -0.2726886, -0.64681324], [1, -1.103744, 1.70062309]], np.float32)


def random_hsv_in_yiq(
    image, max_delta_hue=0, lower_saturation=1, upper_saturation=1, lower_value=1, upper_value=1, seed=None
):
    """`adjust_hsv_in_yiq` with random numbers.

    Args:
      image: [..., height, width, 3].
      max_delta_hue: the greatest angle, in radians, either way.
      lower_saturation, upper_saturation, lower_value, upper_value: between which factors are drawn.
      seed: of the numbers.

    Raises ValueError for numbers below 0, and lower ones that are greater than the upper ones.
    """
    for name, number in (
        ("max_delta", max_delta_hue), ("lower_saturation", lower_saturation), ("lower_value", lower_value)
    ):  # fmt: skip
        if number < 0:
            raise ValueError(f"{name} must be non-negative.")
    if lower_saturation > upper_saturation:
        raise ValueError("lower_saturation must be < upper_saturation.")
    if lower_value > upper_value:
        raise ValueError("lower_value must be < upper_value.")

    def drawn(least, most):
        return least if least == most else random_uniform([], least, most, seed=seed)

    hue = 0 if max_delta_hue == 0 else drawn(-max_delta_hue, max_delta_hue)
    saturation = drawn(lower_saturation, upper_saturation)
    return adjust_hsv_in_yiq(image, hue, saturation, drawn(lower_value, upper_value))


def adjust_hsv_in_yiq(image, delta_hue=0, scale_saturation=1, scale_value=1, name=None):
    """Images whose colors are turned around the Y of the space YIQ, of the type that they had.

    Args:
      image: [..., height, width, 3], RGB.
      delta_hue: the angle, in radians.
      scale_saturation, scale_value: factors.
      name: of the scope.

    Raises ValueError for images of less dimensions, InvalidArgumentError for another number of channels.
    """
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert_to_tensor(image, name="image")
        floats = convert_image_dtype(image, dtypes.float32)
        rank = floats.shape.ndims
        if rank is not None and rank < 3:
            raise ValueError(f"Shape must be at least rank 3 but is rank {rank}")
        known = None if rank is None else floats.shape.as_list()[-1]
        if known not in (None, 3):
            message = f"input must have 3 channels but instead has {known} channels."
            raise errors.InvalidArgumentError(None, None, message)
        channels = ops.shape(floats)[-1]
        check = assert_that(ops.equal(channels, 3), ["input must have 3 channels but instead has ", channels])
        with control_dependencies([check]):
            rows = ops.reshape(floats, [-1, 3])
        adjusted = ops.matmul(rows, _matrix(delta_hue, scale_saturation, scale_value))
        return convert_image_dtype(ops.reshape(adjusted, ops.shape(floats)), image.dtype)


def _matrix(angle, saturation, value):
    """What a row of RGB is multiplied with."""
    angle, saturation, value = (ops.cast(each, dtypes.float32) for each in (angle, saturation, value))
    size = value * saturation
    along, across = size * ops.cos(angle), size * ops.sin(angle)
    zero = ops.zeros_like(value)
    turn = ops.stack([value, zero, zero, zero, along, across, zero, ops.negative(across), along])
    return ops.matmul(ops.matmul(constant(_YIQ.T), ops.reshape(turn, [3, 3])), constant(_RGB.T))
