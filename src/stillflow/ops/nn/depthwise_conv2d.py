"""DepthwiseConv2dNative: convolutions of each channel with filters of its own, and their gradients."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.nn import window
from stillflow.ops.nn.convolution_gradients import attach_gradients
from stillflow.ops.registry import define_op

_ATTRS = (
    f"{window.FLOATS}; strides: list(int); {window.PADDING}; {window.DATA_FORMAT}; "
    "dilations: list(int) = [1, 1, 1, 1]"
)
_CALL = "strides, padding, data_format"

depthwise_conv2d_native = define_op(
    "DepthwiseConv2dNative(input: T, filter: T) -> (output: T)",
    _ATTRS,
    kernel=f"depthwise_conv2d(input, filter | {_CALL})",
    public="nn.depthwise_conv2d_native",
    doc="""A convolution of each channel with filters of its own; see `depthwise_conv2d`.

    output[b, y, x, c * multiplier + q] is the sum over (ky, kx) of input[b, y * stride + ky, x * stride + kx, c] *
    filter[ky, kx, c, q], in that order, in one accumulator, by fused multiply-adds; what lies outside of the image
    counts as zeros. The gradient of the filter is summed over positions in blocks of 256, blocks in order. 16-bit
    floats are computed in float32. Neither format, threads nor instruction set changes a bit.

    Args:
      input: floating-point [batch, rows, columns, channels], or [batch, channels, rows, columns].
      filter: [rows, columns, channels, multiplier].
      strides: a number for each dimension; rows' and columns' are equal.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      dilations: kept in the graph; TensorFlow does not heed them.
    """,
)
depthwise_conv2d_native_backprop_input = define_op(
    "DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T)",
    _ATTRS,
    kernel=f"depthwise_conv2d_backprop_input(input_sizes, filter, out_backprop | {_CALL})",
    public="nn.depthwise_conv2d_native_backprop_input nn.depthwise_conv2d_backprop_input",
    doc="The gradient of `depthwise_conv2d_native` by its input, whose shape is `input_sizes`.",
)
depthwise_conv2d_native_backprop_filter = define_op(
    "DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T)",
    _ATTRS,
    kernel=f"depthwise_conv2d_backprop_filter(input, filter_sizes, out_backprop | {_CALL})",
    public="nn.depthwise_conv2d_native_backprop_filter nn.depthwise_conv2d_backprop_filter",
    doc="The gradient of `depthwise_conv2d_native` by its filter, whose shape is `filter_sizes`.",
)


@depthwise_conv2d_native.shape_rule
def _(context):
    attrs = context.attrs
    images, filters = (plain.with_rank(dims, 4) for dims in context.shapes)
    strides = attrs["strides"]
    if len(strides) != 4:
        raise ShapeError(
            f"DepthwiseConv2D requires the stride attribute to contain 4 values, but got: {len(strides)}"
        )
    channels_first = window.is_channels_first(attrs)
    channel_axis = 1 if channels_first else 3
    channels = plain.merged_size(images[channel_axis], filters[2])
    result = list(images)
    result[channel_axis] = plain.product((channels, filters[3]))
    for axis, size in zip(window.spatial_axes(4, channels_first), filters, strict=False):
        result[axis] = window.place_count(images[axis], size, strides[axis], attrs["padding"])
    return tuple(result)


@depthwise_conv2d_native_backprop_input.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 0), 4)


@depthwise_conv2d_native_backprop_filter.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 1), 4)


attach_gradients(
    depthwise_conv2d_native, depthwise_conv2d_native_backprop_input, depthwise_conv2d_native_backprop_filter
)
