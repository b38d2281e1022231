"""Gradients of pools, and their gradients.

What a maximum was taken from is told by the places that ONNX's MaxPool returns: the numbers of elements in the whole
tensor, channels first.
"""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.layout import as_before, channels_first, window_pads
from stillflow.onnx_export.ops.convolution import spatial_sizes, target_sizes, transposed_pads
from stillflow.onnx_export.ops.indexing import scatter_elements
from stillflow.onnx_export.ops.pooling import pool_options, pool_windows
from stillflow.onnx_export.ops.windows import one_hot_windows
from stillflow.onnx_export.translation import Call, converts


def _places(call, image):
    """Of each maximum the number of its element, int64, in the shape of what is pooled, channels first."""
    return call.add("MaxPool", image, outputs=2, **pool_options(call))[1]


def _flat(call, value):
    return call.add("Reshape", value, call.ints(-1))


def _taken_from(call, places, values):
    found = call.add("GatherElements", _flat(call, values), _flat(call, places), axis=0)
    return call.add("Reshape", found, call.add("Shape", places))


@converts("MaxPoolGrad", "MaxPoolGradV2")
def max_pool_gradient(call: Call):
    form, rank = call.attr("data_format"), len(call.dims())
    image, gradient = (channels_first(call, call.inputs[index], rank, form) for index in (0, 2))
    found = scatter_elements(call, call.add("Shape", image), _places(call, image), gradient, 0)
    return as_before(call, found, rank, form)


@converts("MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad")
def max_pool_second_gradient(call):
    form, rank = call.attr("data_format"), len(call.dims())
    image, gradient = (channels_first(call, call.inputs[index], rank, form) for index in (0, 2))
    return as_before(call, _taken_from(call, _places(call, image), gradient), rank, form)


@converts("MaxPool3DGrad")
def max_pool_3d_gradient(call):
    """All elements that are near their maximum have its gradient, as in TensorFlow."""
    form, (window, strides) = call.attr("data_format"), pool_windows(call)
    planes, pooled, gradient = (_single_channels(call, index, form) for index in (0, 1, 2))
    pads = window_pads(call, spatial_sizes(call, form), window, strides, [1] * len(window))
    elements = call.add("Conv", planes, one_hot_windows(call, window), strides=strides, **pads)
    is_near = call.add("Less", call.add("Abs", call.add("Sub", elements, pooled)), call.like(1e-5))
    parts = call.add("Where", is_near, gradient, call.like(0))
    return _spread(call, parts, one_hot_windows(call, window), spatial_sizes(call, form), window, strides)


def _single_channels(call, index, form):
    """Images as [batch x channels, 1, spatial...]."""
    image = channels_first(call, call.inputs[index], len(call.dims(index)), form)
    return call.add("Reshape", image, call.add("Concat", call.ints(-1, 1), call.add("Shape", image, start=2), axis=0))


def _spread(call, parts, kernel, target, window, strides):
    """What the places [batch x channels, n, spatial...] of a pool give to the images under them."""
    form, rank = call.attr("data_format"), len(target) + 2
    options = transposed_pads(call, target, _pooled_sizes(call, form), window, strides, [1] * len(window))
    found = call.add("ConvTranspose", parts, kernel, **options)
    channels = call.op.outputs[0].shape.as_list()[1 if form.startswith("NC") else -1]
    if channels is None:
        raise call.error("needs to know how many channels its images have")
    return as_before(call, call.add("Reshape", found, call.ints(-1, channels, *target)), rank, form)


def _pooled_sizes(call, form):
    """The spatial sizes of the gradient of what was pooled, the last input but those that spell windows."""
    return spatial_sizes(call, form, 1 if call.op.type.startswith("Avg") else 2)


@converts("AvgPoolGrad", "AvgPool3DGrad")
def average_pool_gradient(call):
    """A window of ones gives each element the gradients of the means that it is in, each divided by their count."""
    form, (window, strides) = call.attr("data_format"), pool_windows(call)
    rank = len(window) + 2
    target, given = target_sizes(call, form, rank), _pooled_sizes(call, form)
    padding = transposed_pads(call, target, given, window, strides, [1] * len(window))["pads"]
    counts = _counts(target, given, window, strides, padding[: len(window)])
    shares = call.add("Div", _single_channels(call, 1, form), call.like(counts, 1))
    ones = call.like(np.ones([1, 1, *window]), 1)
    return _spread(call, shares, ones, target, window, strides)


def _counts(target, given, window, strides, begins):
    """How many elements of an image are under each window, [spatial...]."""
    counts = np.ones([1] * len(target), np.int64)
    for axis, (size, places, width, stride, begin) in enumerate(
        zip(target, given, window, strides, begins, strict=True)
    ):
        first = np.arange(places) * stride - begin
        covered = np.minimum(first + width, size) - np.maximum(first, 0)
        counts = counts * covered.reshape([-1 if i == axis else 1 for i in range(len(target))])
    return counts


# ---- By the places that MaxPoolWithArgmax returned ----------------------------------------------------------------


def _numbers(call):
    """The places, input 2, as numbers of elements in the whole batch of images, channels last."""
    places = call.cast(call.inputs[2], np.int64)
    if call.attr("include_batch_in_index"):
        return places
    image_size = call.add("ReduceProd", call.add("Shape", call.inputs[0], start=1), call.ints(0), keepdims=1)
    batch = call.add("Gather", call.add("Shape", call.inputs[0]), call.constant(0, np.int64))
    images = call.below(batch)
    begins = call.add("Unsqueeze", call.add("Mul", images, image_size), call.ints(1, 2, 3))
    return call.add("Add", places, begins)


@converts("MaxPoolGradWithArgmax")
def gradient_by_places(call):
    return scatter_elements(call, call.add("Shape", call.inputs[0]), _numbers(call), call.inputs[1], 0)


@converts("MaxPoolGradGradWithArgmax")
def second_gradient_by_places(call):
    return _taken_from(call, _numbers(call), call.inputs[1])
