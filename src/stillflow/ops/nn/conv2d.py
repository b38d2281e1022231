"""Conv2D and its gradients: convolutions of images, and what programs call them by."""

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
    f"{window.FLOATS}; strides: list(int); use_cudnn_on_gpu: bool = true; padding: {{'SAME', 'VALID', 'EXPLICIT'}}; "
    f"explicit_paddings: list(int) = []; {window.DATA_FORMAT}; dilations: list(int) = [1, 1, 1, 1]"
)
_KERNEL_ATTRS = "strides, dilations, padding, data_format, explicit_paddings"

conv2d_op = define_op(
    "Conv2D(input: T, filter: T) -> (output: T)", _ATTRS, kernel=f"conv2d(input, filter | {_KERNEL_ATTRS})"
)
conv2d_backprop_input_op = define_op(
    "Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T)",
    _ATTRS,
    kernel=f"conv2d_backprop_input(input_sizes, filter, out_backprop | {_KERNEL_ATTRS})",
)
conv2d_backprop_filter_op = define_op(
    "Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T)",
    _ATTRS,
    kernel=f"conv2d_backprop_filter(input, filter_sizes, out_backprop | {_KERNEL_ATTRS})",
)


# ---- Shapes -----------------------------------------------------------------------------------------------


def check_groups(input_channels, filter_channels, output_channels):
    """Whether the channels of images and filters fit each other; there may be groups of them."""
    if input_channels is None or filter_channels is None:
        return
    if input_channels != filter_channels and (filter_channels == 0 or input_channels % filter_channels != 0):
        raise ShapeError(
            f"Depth of input ({input_channels}) is not a multiple of input depth of filter ({filter_channels})"
        )
    if input_channels not in (0, filter_channels) and output_channels is not None:
        groups = input_channels // filter_channels
        if output_channels % groups != 0:
            raise ShapeError(
                f"Depth of output ({output_channels}) is not a multiple of the number of groups ({groups})"
            )


def _checked_paddings(attrs, channel_axis):
    """A pair for each dimension."""
    values = attrs["explicit_paddings"]
    if attrs["padding"] != b"EXPLICIT":
        if values:
            raise ShapeError("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
        return [(0, 0)] * 4
    if len(values) != 8:
        raise ShapeError(f"explicit_paddings attribute must contain 8 values, but got: {len(values)}")
    if any(value < 0 for value in values):
        raise ShapeError("All elements of explicit_paddings must be nonnegative")
    pairs = list(zip(values[::2], values[1::2], strict=True))
    if any(pairs[0]) or any(pairs[channel_axis]):
        raise ShapeError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return pairs


@conv2d_op.shape_rule
def _(context):
    attrs = context.attrs
    images, filters = (plain.with_rank(dims, 4) for dims in context.shapes)
    dilations = window.numbers_of(context, "dilations", 4, "Conv2D requires the dilation attribute to contain")
    data_format = attrs["data_format"].decode()
    strides = window.numbers_of(
        context, "strides", 4, f"Conv2D on data format {data_format} requires the stride attribute to contain"
    )
    channels_first = window.is_channels_first(attrs)
    channel_axis = 1 if channels_first else 3
    check_groups(images[channel_axis], *filters[2:])
    paddings = _checked_paddings(attrs, channel_axis)
    result = [images[0], None, None, None]
    result[channel_axis] = filters[3]
    for axis, size in zip(window.spatial_axes(4, channels_first), filters, strict=False):
        result[axis] = window.place_count(
            images[axis], size, strides[axis], attrs["padding"], dilations[axis], paddings[axis]
        )
    return tuple(result)


@conv2d_backprop_input_op.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 0), 4)


@conv2d_backprop_filter_op.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 1), 4)


# ---- Gradients --------------------------------------------------------------------------------------------


def _same_window(op):
    return {
        name: op.get_attr(name)
        for name in ("dilations", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format")
    }


@conv2d_op.gradient
def _(op, grad):
    images, filters = op._inputs
    attrs = _same_window(op)
    image_shape, filter_shape = ops.shape_n([images, filters])
    return (
        conv2d_backprop_input_op(image_shape, filters, grad, **attrs),
        conv2d_backprop_filter_op(images, filter_shape, grad, **attrs),
    )


@conv2d_backprop_input_op.gradient
def _(op, grad):
    _, filters, out_backprop = op._inputs
    attrs = _same_window(op)
    filter_grad = conv2d_backprop_filter_op(grad, ops.shape(filters), out_backprop, **attrs)
    return None, filter_grad, conv2d_op(grad, filters, **attrs)


@conv2d_backprop_filter_op.gradient
def _(op, grad):
    images, _, out_backprop = op._inputs
    attrs = _same_window(op)
    image_grad = conv2d_backprop_input_op(ops.shape(images), grad, out_backprop, **attrs)
    return image_grad, None, conv2d_op(images, grad, **attrs)


# ---- Functions --------------------------------------------------------------------------------------------


def _padding_attrs(padding):
    """(padding, explicit paddings) of an argument that is a name, or a list of a pair for each dimension."""
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding '
            "parameter must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    for i, pair in enumerate(padding):
        text = (
            f"When padding is a list, each element of padding must be a list/tuple of size 2. Element with index {i}"
        )
        if not isinstance(pair, (list, tuple)):
            raise ValueError(f"{text} of padding is not a list/tuple")
        if len(pair) != 2:
            raise ValueError(f"{text} of padding has size {len(pair)}")
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return "EXPLICIT", [size for pair in padding for size in pair]


def _channel_axis(data_format):
    return 1 if data_format.startswith("NC") else 3


@public("nn.conv2d")
def conv2d(
    input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True,
    data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None,
):  # fmt: skip
    """The convolution (cross-correlation) of images with filters.

    output[b, y, x, q] is the sum over (ky, kx, c) of filter[ky, kx, c, q] times
    input[b, y * stride + ky * dilation, x * stride + kx * dilation, c], in that order, in one accumulator, by fused
    multiply-adds; what lies outside of the image counts as zeros. The gradient of the filter is summed over positions
    in blocks of 256, blocks in order. 16-bit floats are computed in float32. Neither format, threads nor instruction
    set changes a bit.

    Args:
      input: floating-point images [batch, rows, columns, channels], or [batch, channels, rows, columns].
      filter: [rows, columns, channels, output channels]. If it has a fraction of the images' channels, these are that
        many groups with filters of their own.
      strides, dilations: a number, one for rows and one for columns, or one for each dimension.
      padding: "SAME", "VALID", or a pair for each dimension.
      use_cudnn_on_gpu: kept in the graph.
      data_format: "NHWC" or "NCHW".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    padding, explicit_paddings = _padding_attrs(padding)
    if data_format is None:
        data_format = "NHWC"
    axis = _channel_axis(data_format)
    return conv2d_op(
        input, filter, strides=window.sequence(strides, 2, axis, "strides"), padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit_paddings, data_format=data_format,
        dilations=window.sequence(dilations, 2, axis, "dilations"), name=name,
    )  # fmt: skip


@public("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True, data_format="NHWC",
    dilations=(1, 1, 1, 1), name=None,
):  # fmt: skip
    """The gradient of `conv2d` by its filter, whose shape is `filter_sizes`; `out_backprop` is that by its output."""
    padding, explicit_paddings = _padding_attrs(padding)
    return conv2d_backprop_filter_op(
        input, filter_sizes, out_backprop, strides=strides, padding=padding, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings, data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


@public("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes, filter=None, out_backprop=None, strides=None, padding=None, use_cudnn_on_gpu=True,
    data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None,
):  # fmt: skip
    """The gradient of `conv2d` by its input, whose shape is `input_sizes`; `out_backprop` is that by its output."""
    filter = renamed("filters", filters, "filter", filter)
    padding, explicit_paddings = _padding_attrs(padding)
    return conv2d_backprop_input_op(
        input_sizes, filter, out_backprop, strides=strides, padding=padding, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings, data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


@public("nn.conv2d_transpose")
def conv2d_transpose(
    value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC", name=None,
    input=None, filters=None, dilations=None,
):  # fmt: skip
    """The transpose of `conv2d`: the gradient by its input, as a layer of its own ("deconvolution").

    Args:
      value: [batch, rows, columns, channels], or channels first.
      filter: [rows, columns, output channels, channels].
      output_shape: the shape of the result; a vector.
      strides, dilations: as for `conv2d`.
      padding: "SAME" or "VALID".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    value = renamed("input", input, "value", value)
    filter = renamed("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        if data_format is None:
            data_format = "NHWC"
        axis = _channel_axis(data_format)
        return conv2d_backprop_input_op(
            output_shape, filter, value, strides=window.sequence(strides, 2, axis, "strides"), padding=padding,
            data_format=data_format, dilations=window.sequence(dilations, 2, axis, "dilations"), name=scope,
        )  # fmt: skip
