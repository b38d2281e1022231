"""Conv3D and its gradients: convolutions in three dimensions, and what programs call them by."""

from __future__ import annotations

from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.nn import window
from stillflow.ops.nn.conv2d import check_groups
from stillflow.ops.nn.convolution_gradients import attach_gradients
from stillflow.ops.registry import define_op

_OLD_ATTRS = (
    f"T: {{float16, float32, float64}}; strides: list(int) >= 5; {window.PADDING}; "
    "dilations: list(int) = [1, 1, 1, 1, 1]"
)
_ATTRS = (
    f"{window.FLOATS}; strides: list(int) >= 5; {window.PADDING}; {window.DATA_FORMAT_3D}; "
    "dilations: list(int) = [1, 1, 1, 1, 1]"
)
_KERNEL_ATTRS = "strides, dilations, padding, data_format"
_INPUT_CALL = "conv3d_backprop_input({}, filter, out_backprop | strides, dilations, padding, {}, {})"
_FILTER_CALL = "conv3d_backprop_filter(input, {}, out_backprop | strides, dilations, padding, {}, {})"

conv3d_op = define_op(
    "Conv3D(input: T, filter: T) -> (output: T)", _ATTRS, kernel=f"conv3d(input, filter | {_KERNEL_ATTRS})"
)
conv3d_backprop_input = define_op(
    "Conv3DBackpropInput(input: T, filter: T, out_backprop: T) -> (output: T)",
    _OLD_ATTRS,
    kernel=_INPUT_CALL.format("input", "0", "0"),
    differentiable=None,
)
conv3d_backprop_filter = define_op(
    "Conv3DBackpropFilter(input: T, filter: T, out_backprop: T) -> (output: T)",
    _OLD_ATTRS,
    kernel=_FILTER_CALL.format("filter", "0", "0"),
    differentiable=None,
)
conv3d_backprop_input_v2 = define_op(
    "Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> (output: T)",
    f"{_ATTRS}; Tshape: {{int32, int64}} = int32",
    kernel=_INPUT_CALL.format("input_sizes", "data_format", "1"),
)
conv3d_backprop_filter_v2 = define_op(
    "Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> (output: T)",
    _ATTRS,
    kernel=_FILTER_CALL.format("filter_sizes", "data_format", "1"),
    public="nn.conv3d_backprop_filter nn.conv3d_backprop_filter_v2",
    doc="""The gradient of `conv3d` by its filter, whose shape is `filter_sizes`.

    Args:
      input: what was convolved.
      out_backprop: the gradient by the output.
      strides, padding, data_format, dilations: as for `conv3d`.
    """,
)


# ---- Shapes -----------------------------------------------------------------------------------------------


@conv3d_op.shape_rule
def _(context):
    attrs = context.attrs
    images, filters = (plain.with_rank(dims, 5) for dims in context.shapes)
    dilations = window.numbers_of(context, "dilations", 5, "Conv3D requires the dilation attribute to contain")
    strides = window.numbers_of(context, "strides", 5, "Conv3D requires the stride attribute to contain")
    channels_first = window.is_channels_first(attrs)
    channel_axis = 1 if channels_first else 4
    check_groups(images[channel_axis], *filters[3:])
    result = list(images)
    result[channel_axis] = filters[4]
    for axis, size in zip(window.spatial_axes(5, channels_first), filters, strict=False):
        result[axis] = window.place_count(images[axis], size, strides[axis], attrs["padding"], dilations[axis])
    return tuple(result)


@conv3d_backprop_input.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 5)


@conv3d_backprop_filter.shape_rule
def _(context):
    return plain.with_rank(context.shapes[1], 5)


@conv3d_backprop_input_v2.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 0), 5)


@conv3d_backprop_filter_v2.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 1), 5)


attach_gradients(conv3d_op, conv3d_backprop_input_v2, conv3d_backprop_filter_v2)


# ---- Functions --------------------------------------------------------------------------------------------


@public("nn.conv3d")
def conv3d(
    input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=(1, 1, 1, 1, 1), name=None,
    filters=None,
):  # fmt: skip
    """The convolution of images in three dimensions; see `conv2d`.

    Args:
      input: floating-point [batch, planes, rows, columns, channels] ("NDHWC"), or channels first ("NCDHW").
      filter: [planes, rows, columns, channels, output channels].
      strides, dilations: a number for each dimension.
      padding: "SAME" or "VALID".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    return conv3d_op(
        input, filter, strides=strides, padding=padding, data_format=data_format, dilations=dilations, name=name
    )


@public("nn.conv3d_transpose")
def conv3d_transpose(
    value, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC", name=None, input=None,
    filters=None, dilations=None,
):  # fmt: skip
    """The transpose of `conv3d`: the gradient by its input, as a layer of its own.

    Args:
      value: [batch, planes, rows, columns, channels], or channels first.
      filter: [planes, rows, columns, output channels, channels].
      output_shape: the shape of the result; a vector.
      strides, dilations: a number, one for each spatial axis, or one for each dimension.
      padding: "SAME" or "VALID".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, output_shape]) as scope:
        if data_format is None:
            data_format = "NDHWC"
        axis = 1 if data_format.startswith("NC") else 4
        return conv3d_backprop_input_v2(
            output_shape, filter, value, strides=window.sequence(strides, 3, axis, "strides"), padding=padding,
            data_format=data_format, dilations=window.sequence(dilations, 3, axis, "dilations"), name=scope,
        )  # fmt: skip
