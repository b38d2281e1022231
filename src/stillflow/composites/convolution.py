"""Convolutions in one to three dimensions, dilated and transposed, built on Conv2D and Conv3D."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites.with_space_to_batch import apply_with_gaps
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import as_shape
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.nn.conv2d import conv2d, conv2d_backprop_input_op, conv2d_op, conv2d_transpose
from stillflow.ops.nn.conv3d import conv3d_op, conv3d_transpose
from stillflow.ops.nn.window import sequence

# ---- One dimension ----------------------------------------------------------------------------------------


@public("nn.conv1d")
def conv1d(
    value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
    input=None, dilations=None,
):  # fmt: skip
    """The convolution of rows; see `conv2d`.

    Args:
      value: floating-point [batch, width, channels] ("NWC", the default), or [batch, channels, width] ("NCW").
      filters: [width, channels, output channels].
      stride, dilations: numbers.
      padding: "SAME" or "VALID".

    Raises:
      ValueError, InvalidArgumentError: for sizes that do not fit.
    """
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        data_format, axis = _row_format(data_format, ("NHWC", "NWC"), ("NCHW", "NCW"))
        strides = [1, *sequence(stride, 1, 3 - axis, "stride")]
        dilations = [1, *sequence(dilations, 1, 3 - axis, "dilations")]
        rows = ops.expand_dims(value, axis)
        filters = ops.expand_dims(filters, 0)
        result = conv2d_op(
            rows, filters, strides=strides, padding=padding, use_cudnn_on_gpu=use_cudnn_on_gpu,
            data_format=data_format, dilations=dilations, name=scope,
        )  # fmt: skip
        return ops.squeeze(result, [axis])


@public("nn.conv1d_transpose", "contrib.nn.conv1d_transpose")
def conv1d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None
):
    """The transpose of `conv1d`: the gradient by its input, as a layer of its own.

    Args:
      input: [batch, width, channels], or [batch, channels, width].
      filters: [width, output channels, channels].
      output_shape: the shape of the result; a vector.
      strides, dilations: numbers.
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        data_format, axis = _row_format(data_format, ("NWC",), ("NCW",))
        strides = [1, *sequence(strides, 1, 3 - axis, "stride")]
        dilations = [1, *sequence(dilations, 1, 3 - axis, "dilations")]
        rows = ops.expand_dims(input, axis)
        filters = ops.expand_dims(filters, 0)
        sizes: Any = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        sizes = ops.concat([sizes[:axis], [1], sizes[axis:]], 0)
        result = conv2d_backprop_input_op(
            sizes, filters, rows, strides=strides, padding=padding, data_format=data_format, dilations=dilations,
            name=scope,
        )  # fmt: skip
        return ops.squeeze(result, axis)


def _row_format(data_format, last, first):
    """(the format in two dimensions, where a row's one line is)."""
    if data_format is None or data_format in last:
        return "NHWC", 1
    if data_format in first:
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


# ---- Any number -------------------------------------------------------------------------------------------


@public("nn.convolution")
def convolution(
    input,
    filter,
    padding,
    strides=None,
    dilation_rate=None,
    name=None,
    data_format=None,
    filters=None,
    dilations=None,
):
    """The convolution of images in one to three dimensions with a filter that may have gaps; see `conv2d`.

    Args:
      input: floating-point [batch, sizes..., channels], or channels first if `data_format` begins with "NC".
      filter: [sizes..., channels, output channels]. The rank of one of the two must be known.
      padding: "SAME" or "VALID".
      strides: a number for each spatial dimension, or one for all.
      dilation_rate: likewise; there are no strides if one is more than 1.

    Raises:
      ValueError: for arguments that do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    dilation_rate = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    count = _spatial_count(input, filter)
    channel_axis = 1 if data_format is not None and data_format.startswith("NC") else count + 1
    strides = sequence(strides, count, channel_axis, "strides")
    rates = sequence(dilation_rate, count, channel_axis, "dilations")
    with name_scope(name, "convolution", [input, filter]) as scope:
        if all(rate == 1 for rate in rates):
            if count == 1:
                return conv1d(input, filter, strides, padding, data_format=data_format, dilations=rates, name=scope)
            convolve = conv2d_op if count == 2 else conv3d_op
            return convolve(
                input, filter, strides=strides, padding=padding, data_format=data_format, dilations=rates, name=scope
            )
        spatial = slice(2, None) if channel_axis == 1 else slice(1, -1)
        return apply_convolution(input, filter, padding, strides[spatial], rates[spatial], scope, data_format)


def _spatial_count(input, filter):
    for tensor in (input, filter):
        rank = as_shape(tensor.shape).rank
        if rank is not None:
            if not 3 <= rank <= 5:
                raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
            return rank - 2
    raise ValueError("rank of input or filter must be known")


def checked_strides_and_rates(count, strides, rates):
    """Both as arrays of `count` numbers. Raises ValueError if there are not as many, or both are more than 1."""
    found = []
    for name, values in (("dilation_rate", rates), ("strides", strides)):
        values = [1] * count if values is None else values
        if len(values) != count:
            raise ValueError(f"len({name})={len(values)} but should be {count}")
        values = np.array(values, np.int32)
        if np.any(values < 1):
            raise ValueError(f"all values of {name} must be positive")
        found.append(values)
    rates, strides = found
    if np.any(strides > 1) and np.any(rates > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return strides, rates


def apply_convolution(input, filter, padding, strides, rates, name, data_format, rates_tensor=None):
    """`convolution` with `name` for its one op and no scope around it, as layers have it.

    `rates_tensor` is a node of the rates, if there is one already.
    """
    input_shape, filter_shape = as_shape(input.shape), as_shape(filter.shape)
    rank = input_shape.rank if filter_shape.rank is None else filter_shape.rank
    count = rank - 2
    for kind, shape in (("input", input_shape), ("filter", filter_shape)):
        if shape.rank not in (None, rank):
            raise ValueError(f"{kind} tensor must have rank {rank}")
    channels_first = data_format is not None and data_format.startswith("NC")
    channels = input_shape.dims[1 if channels_first else rank - 1] if input_shape.rank is not None else None
    if (
        filter_shape.rank is not None
        and channels is not None
        and not channels.is_compatible_with(filter_shape[count])
    ):
        raise ValueError(
            "number of input channels does not match corresponding dimension of filter, "
            f"{channels} != {filter_shape[count]}"
        )
    strides, rates = checked_strides_and_rates(count, strides, rates)

    def make(_, padding):
        return lambda images: _without_gaps(images, filter, strides, padding, data_format, name)

    spatial_dims = range(2, rank) if channels_first else range(1, rank - 1)
    outputs = filter_shape[-1] if filter_shape.rank is not None else None
    rates = rates if rates_tensor is None else rates_tensor
    return apply_with_gaps(input, rates, padding, make, filter_shape, spatial_dims, data_format, outputs)


def _without_gaps(images, filter, strides, padding, data_format, name):
    count = len(strides)
    if count == 1:
        if data_format not in (None, "NCW", "NWC", "NCHW", "NHWC"):
            raise ValueError('data_format must be "NWC" or "NCW".')
        return conv1d(images, filter, strides[0], padding, data_format=data_format or "NWC", name=name)
    last, first = ("NHWC", "NCHW") if count == 2 else ("NDHWC", "NCDHW")
    if data_format not in (None, last, first):
        have = f" Have: {data_format}" if count == 3 else ""
        raise ValueError(f'data_format must be "{last}" or "{first}".{have}')
    strides = [1, 1, *strides] if data_format == first else [1, *strides, 1]
    if count == 2:
        return conv2d(images, filter, strides, padding, data_format=data_format or last, name=name)
    return conv3d_op(images, filter, strides=strides, padding=padding, data_format=data_format, name=name)


@public("nn.conv_transpose")
def conv_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None
):
    """`conv1d_transpose`, `conv2d_transpose` or `conv3d_transpose`, by the length of `output_shape`."""
    with name_scope(name, "conv_transpose", [input, output_shape]) as scope:
        if isinstance(output_shape, Tensor):
            count = output_shape.shape.as_list()[0] - 2
        elif isinstance(output_shape, Sized):
            count = len(output_shape) - 2
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if not 1 <= count <= 3:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {count + 2}.")
        transpose = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[count - 1]
        return transpose(
            input, filters, output_shape, strides, padding=padding, data_format=data_format, dilations=dilations,
            name=scope,
        )  # fmt: skip


# ---- With gaps --------------------------------------------------------------------------------------------


@public("nn.atrous_conv2d")
def atrous_conv2d(value, filters, rate, padding, name=None):
    """`conv2d` with rate - 1 gaps between the elements of the filter: `convolution` with a dilation rate."""
    return convolution(value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name)


@public("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of `atrous_conv2d`.

    Args:
      value: [batch, rows, columns, channels].
      filters: [rows, columns, output channels, channels].
      output_shape: the shape of the result: a vector of four.
      rate: a positive integer.
      padding: "SAME" or "VALID".

    Raises:
      ValueError: for arguments that do not fit.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        if not value.shape.dims[3].is_compatible_with(filters.shape[3]):
            raise ValueError(
                "value's input channels does not match filters' input channels, "
                f"{value.shape[3]} != {filters.shape[3]}"
            )
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        shape_tensor = convert_to_tensor(output_shape, name="output_shape")
        if not shape_tensor.shape.is_compatible_with([4]):
            raise ValueError(f"output_shape must have shape (4,), got {shape_tensor.shape}")
        if isinstance(output_shape, tuple):
            output_shape = list(output_shape)
        is_plain = isinstance(output_shape, (list, np.ndarray))
        if is_plain and not filters.shape.dims[2].is_compatible_with(output_shape[3]):
            raise ValueError(
                f"output_shape does not match filter's output channels, {output_shape[3]} != {filters.shape[2]}"
            )
        return _dealt_out_transpose(value, filters, output_shape, rate, _gap_paddings(filters, rate, padding))


def _gap_paddings(filters, rate, padding):
    """[before, after] along rows and columns, of a filter with gaps."""
    if padding == "VALID":
        return [[0, 0], [0, 0]]
    if padding != "SAME":
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    sizes = filters.shape.as_list() if filters.shape.is_fully_defined() else ops.shape(filters)
    height, width = sizes[0], sizes[1]
    height_up = height + (height - 1) * (rate - 1)
    width_up = width + (width - 1) * (rate - 1)
    missing_height = height_up - 1
    missing_width = width_up - 1
    top = missing_height // 2
    bottom = missing_height - top
    left = missing_width // 2
    return [[top, bottom], [left, missing_width - left]]


def _dealt_out_transpose(value, filters, output_shape, rate, paddings):
    (top, bottom), (left, right) = paddings
    height = output_shape[1] + top + bottom
    width = output_shape[2] + left + right
    more_rows = (rate - height % rate) % rate
    more_columns = (rate - width % rate) % rate
    value = ops.space_to_batch(value, paddings=[[0, more_rows], [0, more_columns]], block_size=rate)
    sizes = [
        rate * rate * output_shape[0],
        (height + more_rows) // rate,
        (width + more_columns) // rate,
        output_shape[3],
    ]
    value = conv2d_backprop_input_op(sizes, filters, value, strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC")
    crops = [[top, bottom + more_rows], [left, right + more_columns]]
    return ops.batch_to_space(value, crops=crops, block_size=rate)
