"""MaxPool, MaxPoolV2, MaxPool3D: max pooling, with first and second gradients."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.nn import window
from stillflow.ops.registry import define_op

_POOLED = "{float16, bfloat16, float32, float64, int32, int64, uint8, int16, int8, uint16, qint8} = float32"
_REALS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"
_HALVES = "{float16, bfloat16, float32}"
_FORMATS = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
_SIZES = f"ksize: list(int) >= 4; strides: list(int) >= 4; {window.PADDING}"
_SIZES_3D = f"ksize: list(int) >= 5; strides: list(int) >= 5; {window.PADDING}; {window.DATA_FORMAT_3D}"
_CALL = "ksize, strides, padding, data_format"
_POOL_AND_GRAD = "orig_input, orig_output, grad"

max_pool_op = define_op(
    "MaxPool(input: T) -> (output: T)", f"T: {_POOLED}; {_SIZES}; {_FORMATS}", kernel=f"max_pool(input | {_CALL})"
)
max_pool_v2_op = define_op(
    "MaxPoolV2(input: T, ksize: int32, strides: int32) -> (output: T)",
    f"T: {_POOLED}; {window.PADDING}; {_FORMATS}",
    kernel="max_pool_v2(input, ksize, strides | padding, data_format)",
)
max_pool_grad = define_op(
    "MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> (output: T)",
    f"{_SIZES}; {window.DATA_FORMAT}; T: {_REALS} = float32",
    kernel=f"max_pool_grad({_POOL_AND_GRAD} | {_CALL})",
)
max_pool_grad_v2 = define_op(
    "MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> (output: T)",
    f"{window.PADDING}; {window.DATA_FORMAT}; T: {_REALS} = float32",
    kernel=f"max_pool_grad_v2({_POOL_AND_GRAD}, ksize, strides | padding, data_format)",
)
max_pool_grad_grad = define_op(
    "MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T)",
    f"{_SIZES}; {window.DATA_FORMAT}; T: {_REALS}",
    kernel=f"max_pool_grad_grad({_POOL_AND_GRAD} | {_CALL})",
)
max_pool_grad_grad_v2 = define_op(
    "MaxPoolGradGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> (output: T)",
    f"{window.PADDING}; {window.DATA_FORMAT}; T: {_REALS}",
    kernel=f"max_pool_grad_grad_v2({_POOL_AND_GRAD}, ksize, strides | padding, data_format)",
    differentiable=None,
)
max_pool3d_op = define_op(
    "MaxPool3D(input: T) -> (output: T)", f"{_SIZES_3D}; T: {_HALVES}", kernel=f"max_pool3d(input | {_CALL})"
)
max_pool3d_grad = define_op(
    "MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> (output: T)",
    f"{_SIZES_3D}; T: {_HALVES} = float32; TInput: {_HALVES} = float32",
    kernel=f"max_pool3d_grad({_POOL_AND_GRAD} | {_CALL})",
)
max_pool3d_grad_grad = define_op(
    "MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T)",
    f"{_SIZES_3D}; T: {_REALS}",
    kernel=f"max_pool3d_grad_grad({_POOL_AND_GRAD} | {_CALL})",
)


# ---- Shapes -----------------------------------------------------------------------------------------------


def pooled_shape(context):
    """The shape rule of MaxPool and what is like it."""
    attrs = context.attrs
    data_format = attrs.get("data_format", b"NHWC")
    vector = data_format == b"NCHW_VECT_C"
    images = plain.with_rank(context.shapes[0], 5 if vector else 4)
    strides = window.numbers_of(context, "strides", 4, "MaxPool requires the stride attribute to contain")
    windows = window.numbers_of(context, "ksize", 4, "MaxPool requires the ksize attribute to contain")
    return _pooled(images, windows, strides, attrs["padding"], data_format)


def _pooled(images, windows, strides, padding, data_format):
    """Those of images whose channels come in vectors of four have these as a fifth dimension."""
    if len(images) == 5 and images[4] not in (None, 4):
        raise ShapeError(f"Dimension must be 4 but is {images[4]}")
    pooled = window.pooled_dims(images[:4], windows, strides, padding, data_format.startswith(b"NC"), True)
    return (*pooled, 4) if len(images) == 5 else pooled


def _pooled_by_inputs(context):
    """The same where the sizes of windows and strides are the last inputs."""
    data_format = context.attrs["data_format"]
    images = plain.with_rank(context.shapes[0], 5 if data_format == b"NCHW_VECT_C" else 4)
    count = len(context.shapes)
    for index in (count - 2, count - 1):
        (length,) = plain.with_rank(context.shapes[index], 1)
        if length not in (None, 4):
            raise ShapeError(f"Dimension must be 4 but is {length}")
    windows, strides = context.value(count - 2), context.value(count - 1)
    if windows is None or strides is None:
        return None
    return _pooled(images, windows.tolist(), strides.tolist(), context.attrs["padding"], data_format)


max_pool_op.shape_rule(pooled_shape)
max_pool_v2_op.shape_rule(_pooled_by_inputs)


@max_pool_grad.shape_rule
@max_pool_grad_v2.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 4)


@max_pool3d_grad.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 5)


def pooled_shape_3d(context):
    """The shape rule of pools in three dimensions."""
    images = plain.with_rank(context.shapes[0], 5)
    strides = window.numbers_of(context, "strides", 5, "Pool3D ops require the stride attribute to contain")
    windows = window.numbers_of(context, "ksize", 5, "Pool3D requires the ksize attribute to contain")
    channels_first = window.is_channels_first(context.attrs)
    return window.pooled_dims(images, windows, strides, context.attrs["padding"], channels_first)


max_pool3d_op.shape_rule(pooled_shape_3d)


def _grad_grad(rule):
    """The shape of what was pooled to; the gradient has that of what was pooled."""

    def checked(context):
        pooled = rule(context)
        plain.merged(context.shapes[0], context.shapes[2])
        plain.merged(context.shapes[1], pooled)
        return pooled

    return checked


max_pool_grad_grad.shape_rule(_grad_grad(pooled_shape))
max_pool_grad_grad_v2.shape_rule(_grad_grad(_pooled_by_inputs))
max_pool3d_grad_grad.shape_rule(_grad_grad(pooled_shape_3d))


# ---- Gradients --------------------------------------------------------------------------------------------


def _zeros_like_inputs(op):
    return [ops.zeros(ops.shape(tensor), tensor.dtype) for tensor in op._inputs[:2]]


def _of_pool(gradient_op):
    def gradient(op, grad):
        return gradient_op(op._inputs[0], op._outputs[0], grad, **window.pool_attrs(op))

    return gradient


def _of_gradient(gradient_op):
    """Of an op that depends on what was pooled by jumps alone."""

    def gradient(op, grad):
        pooled, result, _ = op._inputs
        return *_zeros_like_inputs(op), gradient_op(pooled, result, grad, **window.pool_attrs(op))

    return gradient


max_pool_op.gradient(_of_pool(max_pool_grad))
max_pool_grad.gradient(_of_gradient(max_pool_grad_grad))
max_pool_grad_grad.gradient(_of_gradient(max_pool_grad))
max_pool3d_op.gradient(_of_pool(max_pool3d_grad))
max_pool3d_grad.gradient(_of_gradient(max_pool3d_grad_grad))
max_pool3d_grad_grad.gradient(_of_gradient(max_pool3d_grad))


@max_pool_v2_op.gradient
def _(op, grad):
    images, ksize, strides = op._inputs
    attrs = {"padding": op.get_attr("padding"), "data_format": op.get_attr("data_format")}
    return max_pool_grad_v2(images, op._outputs[0], grad, ksize, strides, **attrs), None, None


@max_pool_grad_v2.gradient
def _(op, grad):
    images, pooled, _, ksize, strides = op._inputs
    attrs = {"padding": op.get_attr("padding"), "data_format": op.get_attr("data_format")}
    zeros = _zeros_like_inputs(op)
    return *zeros, max_pool_grad_grad_v2(images, pooled, grad, ksize, strides, **attrs), None, None


# ---- Functions --------------------------------------------------------------------------------------------


@public("nn.max_pool")
def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The largest elements of images under a window.

    Args:
      value: [batch, rows, columns, channels], or [batch, channels, rows, columns].
      ksize: the window's size: a number, one for rows and one for columns, or one for each dimension.
      strides: likewise, how far it is from one place to the next.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    value = renamed("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as scope:
        data_format = "NHWC" if data_format is None else data_format
        ksize, strides = window.pool_arguments(ksize, strides, 2, data_format)
        if isinstance(ksize, (list, tuple, np.ndarray)) and any(size == 0 for size in ksize):
            raise ValueError("ksize cannot be zero.")
        return max_pool_op(value, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=scope)


@public("nn.max_pool1d")
def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """`max_pool` of [batch, width, channels] ("NWC") or [batch, channels, width] ("NCW")."""
    with name_scope(name, "MaxPool1d", [input]) as scope:
        return window.along_one_axis(max_pool_op, input, ksize, strides, padding, data_format, scope)


@public("nn.max_pool2d")
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """See `max_pool`."""
    with name_scope(name, "MaxPool2d", [input]) as scope:
        return window.along_axes(2, max_pool_op, input, ksize, strides, padding, data_format, scope)


@public("nn.max_pool3d")
def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """`max_pool` of [batch, planes, rows, columns, channels] ("NDHWC"), or channels first ("NCDHW")."""
    with name_scope(name, "MaxPool3D", [input]) as scope:
        return window.along_axes(3, max_pool3d_op, input, ksize, strides, padding, data_format, scope)


@public("nn.max_pool_v2")
def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """`max_pool1d`, `max_pool2d` or `max_pool3d`, by the rank of the input."""
    count = window.spatial_rank(input, data_format)
    pool = (max_pool1d, max_pool_op, max_pool3d_op)[count - 1]
    ksize, strides = window.pool_arguments(ksize, strides, count, data_format or "")
    return pool(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)
