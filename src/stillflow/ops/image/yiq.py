"""AdjustHsvInYiq: turns the colors of images in the space YIQ, and scales their saturation and value."""

from __future__ import annotations

import numpy as np

from stillflow import errors, ops
from stillflow.graph import dtypes
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

# From RGB to YIQ and back, https://en.wikipedia.org/wiki/YIQ, as TensorFlow rounds them.
_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]], np.float32)
_RGB = np.array(
    [[1, 0.95617069, 0.62143257], [1, -0.2726886, -0.64681324], [1, -1.103744, 1.70062309]], np.float32
)  # fmt: skip


def _adjusted(op):
    images, angle, saturation, value = op.inputs
    channels = images.shape.as_list()[-1]  # known when a plan is made
    if channels not in (None, 3):
        message = f"input must have 3 channels but instead has {channels} channels."
        raise errors.InvalidArgumentError(None, None, message)
    size = value * saturation
    along, across = size * ops.cos(angle), size * ops.sin(angle)
    zero = ops.zeros_like(value)
    turn = ops.reshape(
        ops.stack([value, zero, zero, zero, along, across, zero, ops.negative(across), along]), [3, 3]
    )  # fmt: skip
    matrix = ops.matmul(ops.matmul(ops.constant(_YIQ.T), turn), ops.constant(_RGB.T))
    return [ops.cast(ops.matmul(ops.cast(images, dtypes.float32), matrix), images.dtype)]


adjust_hsv_in_yiq_op = define_op(
    "AdjustHsvInYiq(images: T, delta_h: float32, scale_s: float32, scale_v: float32) -> (output: T)",
    "T: {uint8, int8, int16, int32, int64, float16, float32, float64}",
    written=_adjusted,
    differentiable=None,
)


@adjust_hsv_in_yiq_op.shape_rule
def _(context):
    for index in range(1, 4):
        plain.with_rank(context.shapes[index], 0)
    return plain.with_rank_at_least(context.shapes[0], 3)
