"""Dilation2D: morphological dilation of images, its gradients, and erosion by it."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.nn import window
from stillflow.ops.registry import define_op

_ATTRS = (
    "T: {float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}; "
    f"strides: list(int) >= 4; rates: list(int) >= 4; {window.PADDING}"
)
_CALL = "strides, rates, padding"

dilation2d_op = define_op(
    "Dilation2D(input: T, filter: T) -> (output: T)", _ATTRS, kernel=f"dilation2d(input, filter | {_CALL})"
)
dilation2d_backprop_input = define_op(
    "Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> (in_backprop: T)",
    _ATTRS,
    kernel=f"dilation2d_backprop_input(input, filter, out_backprop | {_CALL})",
    differentiable=None,
)
dilation2d_backprop_filter = define_op(
    "Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> (filter_backprop: T)",
    _ATTRS,
    kernel=f"dilation2d_backprop_filter(input, filter, out_backprop | {_CALL})",
    differentiable=None,
)


@dilation2d_op.shape_rule
def _(context):
    images, filters = plain.with_rank(context.shapes[0], 4), plain.with_rank(context.shapes[1], 3)
    strides = window.numbers_of(context, "strides", 4, "Dilation2D requires the stride attribute to contain")
    rates = window.numbers_of(context, "rates", 4, "Dilation2D requires the rates attribute to contain")
    if None in (*images[1:3], *filters[:2]):
        return (images[0], None, None, filters[2])
    channels = plain.merged_size(images[3], filters[2])
    padding = context.attrs["padding"]
    places = [_place_count(images[i], filters[i - 1], strides[i], padding, rates[i]) for i in (1, 2)]
    return (images[0], *places, channels)


def _place_count(size, window_size, stride, padding, rate):
    """Like window.place_count of known sizes, but a window that is too large by less than a stride has no place."""
    extent = (window_size - 1) * rate + 1
    if padding == b"SAME" or stride <= 0 or rate < 1 or extent <= size:
        return window.place_count(size, window_size, stride, padding, rate)
    count = int((size - extent + stride) / stride)  # towards 0, as in C
    if count < 0:
        raise ShapeError(
            f"Computed output size would be negative: {count} [input_size: {size}, effective_filter_size: {extent}, "
            f"stride: {stride}]"
        )
    return count


@dilation2d_backprop_input.shape_rule
def _(context):
    return context.shapes[0]


@dilation2d_backprop_filter.shape_rule
def _(context):
    return context.shapes[1]


@dilation2d_op.gradient
def _(op, grad):
    images, filters = op._inputs
    attrs = {name: op.get_attr(name) for name in ("strides", "rates", "padding")}
    return (
        dilation2d_backprop_input(images, filters, grad, **attrs),
        dilation2d_backprop_filter(images, filters, grad, **attrs),
    )


@public("nn.dilation2d")
def dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None):
    """Morphological dilation: the largest sums of pixels and a filter that is moved over them.

    output[b, y, x, c] is the largest of input[b, y * stride + ky * rate, x * stride + kx * rate, c] +
    filter[ky, kx, c] over (ky, kx), of pixels inside of the image.

    Args:
      input: numbers [batch, rows, columns, channels].
      filter: [rows, columns, channels].
      strides, rates: a number for each dimension, 1 for the first and the last.
      padding: "SAME" or "VALID".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    rates = renamed("dilations", dilations, "rates", rates)
    return dilation2d_op(input, filter, strides=strides, rates=rates, padding=padding, name=name)


@public("nn.erosion2d")
def erosion2d(value, kernel, strides, rates, padding, name=None):
    """Morphological erosion: the smallest differences of pixels and a kernel that is moved over them.

    It is -dilation2d(-value, the kernel with rows and columns in reverse); see `dilation2d` for the arguments.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        return ops.negative(
            dilation2d_op(
                ops.negative(value), ops.reverse_v2(kernel, [0, 1]), strides=strides, rates=rates, padding=padding,
                name=scope,
            )
        )  # fmt: skip
