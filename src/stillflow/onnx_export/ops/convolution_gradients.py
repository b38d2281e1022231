"""Gradients of convolutions by their filters: convolutions of images with gradients in the place of filters."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.layout import spatial, window_pads
from stillflow.onnx_export.ops.convolution import data_format, spatial_sizes
from stillflow.onnx_export.translation import Call, converts


def _filter_sizes(call):
    """[spatial..., channels of a group, channels out] as the second input spells them, or has them."""
    if call.op.type == "Conv3DBackpropFilter":
        return call.dims(1)
    return [int(size) for size in np.atleast_1d(call.known(1, "sizes of the filter"))]


def _channels(call, index, form):
    channels = call.dims(index)[1 if form.startswith("NC") else -1]
    if channels is None:
        raise call.error("needs to know how many channels its images have")
    return channels


def _channels_by_batch(call, index, form, groups):
    """Images as [channels of a group, groups x batch, spatial...]: of the gradient of a filter the batch is what is
    summed over."""
    rank = len(call.dims(index))
    axes = list(range(rank))
    batch, channels, inner = (0, 1, axes[2:]) if form.startswith("NC") else (0, rank - 1, axes[1:-1])
    value = call.add("Transpose", call.inputs[index], perm=[channels, batch, *inner])
    if groups == 1:
        return value
    parted = call.add("Concat", call.ints(groups, -1), _sizes_from(call, value, 1), axis=0)
    parted = call.add("Reshape", value, parted)
    turned = call.add("Transpose", parted, perm=[1, 0, *range(2, rank + 1)])
    inner_group = _channels(call, index, form) // groups
    merged = call.add("Concat", call.ints(inner_group, -1), _sizes_from(call, value, 2), axis=0)
    return call.add("Reshape", turned, merged)


def _sizes_from(call, value, axis):
    return call.add("Shape", value, start=axis)


def _windows(call, form):
    return (spatial(call.attr(name), form) for name in ("strides", "dilations"))


def _correlation(call, form, window, groups):
    """[channels of a group, channels out, window...] of the images, input 0, and the gradients, input 2."""
    strides, dilations = _windows(call, form)
    pads = window_pads(call, spatial_sizes(call, form), window, strides, dilations)
    if "auto_pad" in pads:
        raise call.error("needs the height and width of its images: name them, as in --inputs image[1,64,64,3]")
    image = _channels_by_batch(call, 0, form, groups)
    rank = len(call.dims())
    order = [1, 0, *range(2, rank)] if form.startswith("NC") else [rank - 1, 0, *range(1, rank - 1)]
    kernel = call.add("Transpose", call.inputs[2], perm=order)
    # A step in the window is a dilation of the images, and a step between windows one of the gradients.
    found = call.add("Conv", image, kernel, strides=dilations, dilations=strides, group=groups, **pads)
    count = len(window)
    return call.add("Slice", found, call.ints(*[0] * count), call.ints(*window), call.ints(*range(2, 2 + count)))


@converts("Conv2DBackpropFilter", "Conv3DBackpropFilter", "Conv3DBackpropFilterV2")
def filter_gradient(call: Call):
    form = data_format(call)
    *window, depth, _ = _filter_sizes(call)
    found = _correlation(call, form, window, _channels(call, 0, form) // depth)
    return call.add("Transpose", found, perm=[*range(2, 2 + len(window)), 0, 1])


@converts("DepthwiseConv2dNativeBackpropFilter")
def depthwise_filter_gradient(call):
    """Each channel is a group."""
    sizes = _filter_sizes(call)
    found = _correlation(call, call.attr("data_format"), sizes[:2], sizes[2])
    parted = call.add("Reshape", found, call.ints(sizes[2], sizes[3], *sizes[:2]))
    return call.add("Transpose", parted, perm=[2, 3, 0, 1])
