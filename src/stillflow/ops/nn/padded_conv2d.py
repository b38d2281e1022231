"""FusedPadConv2D, FusedResizeAndPadConv2D: convolutions of images that are padded, or resized and padded, before.

TensorFlow's rewriting of graphs for phones makes them.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.array.pad import mirror_pad
from stillflow.ops.image.resize import resize_bilinear_op
from stillflow.ops.nn import window
from stillflow.ops.nn.conv2d import conv2d_op
from stillflow.ops.registry import define_op

_WINDOW = f"mode: {{'REFLECT', 'SYMMETRIC'}}; strides: list(int); {window.PADDING}"
_TYPES = "T: {float16, float32, float64}"


def _convolved(op, images):
    paddings, filters = op.inputs[-2:]
    padded = mirror_pad(images, paddings, mode=op.get_attr("mode"))
    return [conv2d_op(padded, filters, strides=op.get_attr("strides"), padding=op.get_attr("padding"))]


def _convolved_at_a_size(op):
    images, size = op.inputs[:2]
    resized = resize_bilinear_op(images, size, align_corners=op.get_attr("resize_align_corners"))
    return _convolved(op, ops.cast(resized, images.dtype))


fused_pad_conv2d = define_op(
    "FusedPadConv2D(input: T, paddings: int32, filter: T) -> (output: T)",
    f"{_TYPES}; {_WINDOW}",
    written=lambda op: _convolved(op, op.inputs[0]),
    differentiable=None,
)
fused_resize_and_pad_conv2d = define_op(
    "FusedResizeAndPadConv2D(input: T, size: int32, paddings: int32, filter: T) -> (output: T)",
    f"{_TYPES}; resize_align_corners: bool = false; {_WINDOW}",
    written=_convolved_at_a_size,
    differentiable=None,
)


def _resized(context):
    """The shape of the images once they have the size that the second input says."""
    batch, _, _, channels = plain.with_rank(context.shapes[0], 4)
    plain.merged(context.shapes[1], (2,))
    size = context.value(1)
    return (batch, *((None, None) if size is None else size.tolist()), channels)


def _padded(dims, context, index):
    plain.merged(plain.with_rank(context.shapes[index], 2), (4, 2))
    paddings = context.value(index)
    if paddings is None:
        return (None,) * 4
    if (paddings < 0).any():
        raise ShapeError("Paddings must be non-negative")
    return tuple(plain.total((size, *sides)) for size, sides in zip(dims, paddings.tolist(), strict=True))


def _convolution_dims(context, images):
    """The shape of a convolution of padded images with the last input."""
    rows, columns, depth, channels = plain.with_rank(context.shapes[-1], 4)
    strides = window.numbers_of(context, "strides", 4, "Operation requires the stride attribute to contain")
    plain.merged_size(images[3], depth)
    sizes = [
        window.place_count(images[axis], size, strides[axis], context.attrs["padding"])
        for axis, size in ((1, rows), (2, columns))
    ]
    return (images[0], *sizes, channels)


@fused_pad_conv2d.shape_rule
def _(context):
    return _convolution_dims(context, _padded(plain.with_rank(context.shapes[0], 4), context, 1))


@fused_resize_and_pad_conv2d.shape_rule
def _(context):
    return _convolution_dims(context, _padded(_resized(context), context, 2))
