"""What is computed of windows of an image without a convolution: patches, dilation, places of maxima."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.layout import as_before, channels_first, spatial, window_pads
from stillflow.onnx_export.ops.convolution import spatial_sizes, transposed_pads
from stillflow.onnx_export.translation import END, Call, converts


def _window_parts(call, window, strides, rates, filling):
    """For each place in the window the image's values there, [batch, rows, columns, depth], in rows and columns."""
    pads = window_pads(call, spatial_sizes(call, "NHWC"), window, strides, rates)
    if "auto_pad" in pads:
        raise call.error("needs an image whose size is known, with this padding")
    image = call.inputs[0]
    if pads:
        top, left, bottom, right = pads["pads"]
        whole = call.ints(0, top, left, 0, 0, bottom, right, 0)
        image = call.add("Pad", image, whole, call.like(filling))
    reaches = [(width - 1) * rate + 1 for width, rate in zip(window, rates, strict=True)]
    parts = []
    for place in np.ndindex(*window):
        starts = [n * rate for n, rate in zip(place, rates, strict=True)]
        ends = [start - reach + 1 or END for start, reach in zip(starts, reaches, strict=True)]
        numbers = (starts, ends, [1, 2], strides)
        parts.append((place, call.add("Slice", image, *(call.constant(each, np.int64) for each in numbers))))
    return parts


def one_hot_windows(call, window):
    """A filter [n, 1, window...] for each of the n places in a window, with a one there: it takes images apart into
    what lies at each place, and its transposed convolution puts them together."""
    count = int(np.prod(window))
    return call.like(np.eye(count).reshape([count, 1, *window]))


@converts("ExtractImagePatches")
def extract_image_patches(call: Call):
    window, strides, rates = (spatial(call.attr(name), "NHWC") for name in ("ksizes", "strides", "rates"))
    parts = [part for _, part in _window_parts(call, window, strides, rates, 0)]
    return call.add("Concat", *parts, axis=3)


@converts("Dilation2D")
def dilation(call):
    sums = _dilation_sums(call)
    return call.add("Max", *sums) if len(sums) > 1 else sums[0]


def _dilation_sums(call):
    """For each place in the filter the sums of image and filter, [batch, rows, columns, depth]."""
    height, width, _ = call.dims(1)
    if height is None or width is None:
        raise call.error("needs a filter whose size is known")
    strides, rates = _steps(call)
    least = np.finfo(call.dtype().as_numpy_dtype).min if call.dtype().is_floating else call.dtype().min
    sums = []
    for (row, column), part in _window_parts(call, [height, width], strides, rates, least):
        weights = call.add("Gather", call.inputs[1], call.constant(row, np.int64), axis=0)
        weights = call.add("Gather", weights, call.constant(column, np.int64), axis=0)
        sums.append(call.add("Add", part, weights))
    return sums


def _steps(call):
    return [spatial(call.attr(name), "NHWC") for name in ("strides", "rates")]


def _dilation_shares(call):
    """The gradients where a place of the filter made the maximum, the first that did, and zeros elsewhere:
    [places, batch, rows, columns, depth]."""
    sums = call.add("Concat", *(call.add("Unsqueeze", value, call.ints(0)) for value in _dilation_sums(call)), axis=0)
    best = call.add("ArgMax", sums, axis=0, keepdims=1)
    places = call.constant(np.arange(np.prod(call.dims(1)[:2])).reshape(-1, 1, 1, 1, 1), np.int64)
    return call.add("Where", call.add("Equal", best, places), call.inputs[2], call.like(0))


@converts("Dilation2DBackpropFilter")
def dilation_gradient_by_filter(call):
    total = call.add("ReduceSum", _dilation_shares(call), call.ints(1, 2, 3), keepdims=0)
    return call.add("Reshape", total, call.add("Shape", call.inputs[1]))


@converts("Dilation2DBackpropInput")
def dilation_gradient_by_image(call):
    window, sizes, channels = call.dims(1)[:2], spatial_sizes(call, "NHWC"), call.dims(1)[2]
    options = transposed_pads(call, sizes, spatial_sizes(call, "NHWC", 2), window, *_steps(call))
    shares = call.add("Transpose", _dilation_shares(call), perm=[1, 4, 0, 2, 3])
    inner = call.add("Concat", call.ints(-1), call.add("Shape", shares, start=2), axis=0)
    found = call.add("ConvTranspose", call.add("Reshape", shares, inner), one_hot_windows(call, window), **options)
    return as_before(call, call.add("Reshape", found, call.ints(-1, channels, *sizes)), 4, "NHWC")


@converts("MaxPoolWithArgmax")
def max_pool_with_argmax(call):
    window, strides = spatial(call.attr("ksize"), "NHWC"), spatial(call.attr("strides"), "NHWC")
    sizes = spatial_sizes(call, "NHWC")
    pads = window_pads(call, sizes, window, strides, [1, 1])
    image = channels_first(call, call.inputs[0], 4, "NHWC")
    options = {"kernel_shape": window, "strides": strides, **pads}
    found, places = call.add("MaxPool", image, outputs=2, **options)
    # ONNX counts rows and columns within channels, TensorFlow channels within columns.
    shape = call.add("Shape", image)
    channels = call.add("Gather", shape, call.ints(1))
    plane = call.add("ReduceProd", call.add("Slice", shape, *(call.ints(n) for n in (2, 4))))
    number = call.add("Mul", call.add("Mod", places, plane), channels)
    above = call.add("Div", places, plane)
    number = call.add("Add", number, call.add("Mod", above, channels))
    if call.attr("include_batch_in_index"):
        image_size = call.add("Mul", plane, channels)
        number = call.add("Add", number, call.add("Mul", call.add("Div", above, channels), image_size))
    number = call.to_type_of(as_before(call, number, 4, "NHWC"), call.op.outputs[1].dtype)
    return [as_before(call, found, 4, "NHWC"), number]
