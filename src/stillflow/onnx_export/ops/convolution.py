"""Convolutions: Conv2D, Conv3D, depthwise ones, and the gradients by images that transposed convolutions are."""

from __future__ import annotations

import operator

import numpy as np

from stillflow.graph import shape_inference
from stillflow.onnx_export.layout import as_before, channels_first, spatial, spatial_pairs, window_pads
from stillflow.onnx_export.translation import Call, converts


def _filter(call, index, order):
    """The filter with its axes in another order, turned at once where it is constant."""
    value = call.value(index)
    if value is not None:
        return call.constant(np.ascontiguousarray(np.transpose(value, order)), name=f"{call.name}/filter")
    return call.add("Transpose", call.inputs[index], perm=list(order))


@converts("Conv2D", "Conv3D")
def conv(call: Call):
    form, rank = call.attr("data_format"), len(call.dims())
    strides, dilations = spatial(call.attr("strides"), form), spatial(call.attr("dilations"), form)
    window = call.dims(1)[:-2]
    pads = window_pads(call, spatial_sizes(call, form), window, strides, dilations)
    order = (rank - 1, rank - 2, *range(rank - 2))
    options = {"strides": strides, "dilations": dilations, "group": _groups(call, form), **pads}
    image = channels_first(call, call.inputs[0], rank, form)
    return as_before(call, call.add("Conv", image, _filter(call, 1, order), **options), rank, form)


def spatial_sizes(call, form, index=0):
    sizes = call.dims(index)
    return sizes[2:] if form.startswith("NC") else sizes[1:-1]


def _groups(call, form):
    channels = call.dims()[1 if form.startswith("NC") else -1]
    depth = call.dims(1)[-2]
    return channels // depth if channels and depth else 1


@converts("DepthwiseConv2dNative")
def depthwise(call):
    form = call.attr("data_format")
    strides, dilations = spatial(call.attr("strides"), form), spatial(call.attr("dilations"), form)
    rows, columns, channels, _ = call.dims(1)
    pads = window_pads(call, spatial_sizes(call, form), (rows, columns), strides, dilations)
    kernel = _depthwise_filter(call)
    image = channels_first(call, call.inputs[0], 4, form)
    result = call.add("Conv", image, kernel, strides=strides, dilations=dilations, group=channels, **pads)
    return as_before(call, result, 4, form)


def _depthwise_filter(call):
    rows, columns, channels, multiplier = call.dims(1)
    sizes = call.ints(channels * multiplier, 1, rows, columns)
    return call.add("Reshape", _filter(call, 1, (2, 3, 0, 1)), sizes)


def _target(sizes):
    """The sizes of the result, as far as they are known."""
    if sizes.op.type == "Pack":
        return [_known_size(size) for size in sizes.op.inputs]
    return shape_inference.value_as_dims(shape_inference.partial_value(sizes))


def _known_size(tensor):
    """A size that is computed from known ones, as layers do that double images."""
    size = shape_inference.partial_value(tensor)
    if tensor.op.type == "StridedSlice" and tensor.op.get_attr("shrink_axis_mask") == 1:
        sizes, (place,) = (shape_inference.partial_value(value) for value in tensor.op.inputs[:2])
        return None if sizes is None else sizes[place]
    operation = _ARITHMETIC.get(tensor.op.type)
    if size is not None or operation is None:
        return size
    a, b = (_known_size(value) for value in tensor.op.inputs)
    return None if a is None or b is None else operation(a, b)


_ARITHMETIC = {"Add": operator.add, "AddV2": operator.add, "Mul": operator.mul, "Sub": operator.sub}


def transposed_pads(call, target, given, window, strides, dilations):
    """ONNX's attributes of the transposed convolution that makes images of `target` spatial sizes from `given` ones.

    Raises ConversionError where one of the sizes is unknown.
    """
    if None in (*target, *given):
        raise call.error("needs the height and width of its images: name them, as in --inputs image[1,64,64,3]")
    padding, begins, ends, extra = call.attr("padding"), [], [], []
    explicit = spatial_pairs(call)
    for i, (size, place, width, stride, dilation) in enumerate(
        zip(target, given, window, strides, dilations, strict=True)
    ):
        covered = (place - 1) * stride + (width - 1) * dilation + 1
        total = max(covered - size, 0) if padding == "SAME" else 0
        before = total // 2
        if explicit:
            before, total = explicit[i][0], sum(explicit[i])
        begins.append(before)
        ends.append(total - before)
        extra.append(size - (covered - total))
    return {"strides": strides, "dilations": dilations, "pads": begins + ends, "output_padding": extra}


def target_sizes(call, form, rank):
    """The spatial sizes that the first input of a gradient spells, or has, None where unknown."""
    target = call.dims() if call.op.type == "Conv3DBackpropInput" else _target(call.op.inputs[0])
    target = target or (None,) * rank
    return target[2:] if form.startswith("NC") else target[1:-1]


def data_format(call):
    """The first gradients of Conv3D have no attribute of that name."""
    return "NDHWC" if call.op.type in ("Conv3DBackpropInput", "Conv3DBackpropFilter") else call.attr("data_format")


@converts("Conv2DBackpropInput", "Conv3DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
def transposed(call):
    form, rank = data_format(call), len(call.dims(2))
    strides, dilations = spatial(call.attr("strides"), form), spatial(call.attr("dilations"), form)
    target, given = target_sizes(call, form, rank), spatial_sizes(call, form, 2)
    options = transposed_pads(call, target, given, call.dims(1)[:-2], strides, dilations)
    image = channels_first(call, call.inputs[2], rank, form)
    if call.op.type.startswith("Depthwise"):
        kernel, options["group"] = _depthwise_filter(call), call.dims(1)[2]
    else:
        kernel = _filter(call, 1, (rank - 1, rank - 2, *range(rank - 2)))
        channels, depth = call.op.outputs[0].shape.as_list()[1 if form.startswith("NC") else -1], call.dims(1)[-2]
        options["group"] = channels // depth if channels and depth else 1
    return as_before(call, call.add("ConvTranspose", image, kernel, **options), rank, form)
