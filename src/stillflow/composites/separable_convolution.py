"""Depthwise and separable convolutions."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.with_space_to_batch import with_space_to_batch
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.nn.conv2d import conv2d
from stillflow.ops.nn.depthwise_conv2d import depthwise_conv2d_native


@public("nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """A convolution of each channel with filters of its own.

    output[b, y, x, c * multiplier + q] is the sum of input[b, y * stride + ky * rate, x * stride + kx * rate, c] *
    filter[ky, kx, c, q] over (ky, kx).

    Args:
      input: floating-point [batch, rows, columns, channels], or [batch, channels, rows, columns].
      filter: [rows, columns, channels, multiplier].
      strides: a number for each dimension; rows' and columns' are equal.
      padding: "SAME" or "VALID".
      rate: how far elements of the filter are from each other, along rows and columns; then strides are 1.
      data_format: "NHWC" or "NCHW".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _apart(input, filter, strides, padding, rate, data_format, scope)


def _apart(input, filter, strides, padding, rate, data_format, name):
    def op(images, _, padding):
        return depthwise_conv2d_native(
            images, filter, strides=strides, padding=padding, data_format=data_format, name=name
        )

    return with_space_to_batch(
        input, filter_shape=ops.shape(filter), dilation_rate=[1, 1] if rate is None else rate, padding=padding,
        data_format=data_format, op=op,
    )  # fmt: skip


@public("nn.separable_conv2d")
def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """`depthwise_conv2d`, and then a convolution with a filter of one pixel.

    Args:
      input: floating-point [batch, rows, columns, channels], or [batch, channels, rows, columns].
      depthwise_filter: [rows, columns, channels, multiplier].
      pointwise_filter: [1, 1, channels * multiplier, output channels].
      strides, padding, rate, data_format: of the first of the two.

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise_shape = pointwise_filter.shape.with_rank(4)
        for size in pointwise_shape.dims[:2]:
            size.assert_is_compatible_with(1)
        apart = _apart(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return conv2d(apart, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=scope)
