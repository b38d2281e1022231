"""AvgPool and AvgPool3D: average pooling, and its gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.nn import window
from stillflow.ops.nn.max_pool import pooled_shape_3d
from stillflow.ops.registry import define_op

_SIZES = f"ksize: list(int) >= 4; strides: list(int) >= 4; {window.PADDING}; {window.DATA_FORMAT}; {window.FLOATS}"
_SIZES_3D = (
    f"ksize: list(int) >= 5; strides: list(int) >= 5; {window.PADDING}; {window.DATA_FORMAT_3D}; {window.FLOATS}"
)
_CALL = "ksize, strides, padding, data_format"

avg_pool_op = define_op("AvgPool(value: T) -> (output: T)", _SIZES, kernel=f"avg_pool(value | {_CALL})")
avg_pool_grad = define_op(
    "AvgPoolGrad(orig_input_shape: int32, grad: T) -> (output: T)",
    _SIZES,
    kernel=f"avg_pool_grad(orig_input_shape, grad | {_CALL})",
)
avg_pool3d_op = define_op("AvgPool3D(input: T) -> (output: T)", _SIZES_3D, kernel=f"avg_pool3d(input | {_CALL})")
avg_pool3d_grad = define_op(
    "AvgPool3DGrad(orig_input_shape: int32, grad: T) -> (output: T)",
    _SIZES_3D,
    kernel=f"avg_pool3d_grad(orig_input_shape, grad | {_CALL})",
)


@avg_pool_op.shape_rule
def _(context):
    images = plain.with_rank(context.shapes[0], 4)
    strides = window.numbers_of(context, "strides", 4, "AvgPool requires the stride attribute to contain")
    windows = window.numbers_of(context, "ksize", 4, "AvgPool requires the ksize attribute to contain")
    attrs = context.attrs
    return window.pooled_dims(images, windows, strides, attrs["padding"], window.is_channels_first(attrs))


avg_pool3d_op.shape_rule(pooled_shape_3d)


@avg_pool_grad.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 0), 4)


@avg_pool3d_grad.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 0), 5)


# ---- Gradients --------------------------------------------------------------------------------------------


def _of_pool(gradient_op):
    def gradient(op, grad):
        return gradient_op(ops.shape(op._inputs[0]), grad, **window.pool_attrs(op))

    return gradient


def _of_gradient(pool_op):
    def gradient(op, grad):
        return ops.stop_gradient(op._inputs[0]), pool_op(grad, **window.pool_attrs(op))

    return gradient


avg_pool_op.gradient(_of_pool(avg_pool_grad))
avg_pool_grad.gradient(_of_gradient(avg_pool_op))
avg_pool3d_op.gradient(_of_pool(avg_pool3d_grad))
avg_pool3d_grad.gradient(_of_gradient(avg_pool3d_op))


# ---- Functions --------------------------------------------------------------------------------------------


@public("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The means of images under a window, of the elements inside of the image.

    Args:
      value: floating-point [batch, rows, columns, channels], or [batch, channels, rows, columns].
      ksize: the window's size: a number, one for rows and one for columns, or one for each dimension.
      strides: likewise, how far it is from one place to the next.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    with name_scope(name, "AvgPool", [value]) as scope:
        value = renamed("input", input, "value", value)
        return window.along_axes(2, avg_pool_op, value, ksize, strides, padding, data_format, scope)


@public("compat.v2.nn.avg_pool2d")
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """See `avg_pool`."""
    with name_scope(name, "AvgPool2D", [input]) as scope:
        return avg_pool(input, ksize, strides, padding, data_format, scope)


@public("nn.avg_pool1d")
def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """`avg_pool` of [batch, width, channels] ("NWC") or [batch, channels, width] ("NCW")."""
    with name_scope(name, "AvgPool1D", [input]) as scope:
        return window.along_one_axis(avg_pool_op, input, ksize, strides, padding, data_format, scope)


@public("nn.avg_pool3d")
def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """`avg_pool` of [batch, planes, rows, columns, channels] ("NDHWC"), or channels first ("NCDHW")."""
    with name_scope(name, "AvgPool3D", [input]) as scope:
        return window.along_axes(3, avg_pool3d_op, input, ksize, strides, padding, data_format, scope)


@public("nn.avg_pool_v2")
def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """`avg_pool1d`, `avg_pool` or `avg_pool3d`, by the rank of the input."""
    count = window.spatial_rank(input, data_format)
    pool = (avg_pool1d, avg_pool_op, avg_pool3d_op)[count - 1]
    ksize, strides = window.pool_arguments(ksize, strides, count, data_format or "")
    return pool(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)
