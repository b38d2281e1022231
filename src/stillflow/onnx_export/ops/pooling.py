"""Pools."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.layout import as_before, channels_first, spatial, window_pads
from stillflow.onnx_export.ops.convolution import spatial_sizes
from stillflow.onnx_export.translation import Call, converts


def pool_windows(call: Call):
    """(sizes, strides) of the windows of a pool, or of a gradient of one, along the spatial axes."""
    form = call.attr("data_format")
    if "V2" in call.op.type:
        count = len(call.inputs)
        whole, steps = (call.known(index, "windows").tolist() for index in (count - 2, count - 1))
    else:
        whole, steps = call.attr("ksize"), call.attr("strides")
    if max(whole[0], whole[1 if form.startswith("NC") else -1]) > 1:
        raise call.error("pools over batch or channels, which ONNX does not")
    return spatial(whole, form), spatial(steps, form)


def pool_options(call):
    """ONNX's attributes of a pool, or of the pool that a gradient is of."""
    window, strides = pool_windows(call)
    sizes = spatial_sizes(call, call.attr("data_format"))
    pads = window_pads(call, sizes, window, strides, [1] * len(window))
    return {"kernel_shape": window, "strides": strides, **pads}


@converts("MaxPool", "MaxPoolV2", "MaxPool3D", "AvgPool", "AvgPool3D")
def pool(call):
    form, rank = call.attr("data_format"), len(call.dims())
    if call.op.type == "MaxPool" and call.attr("ksize")[-1] > 1 and form == "NHWC":
        return _pool_channels(call)
    op_type = "MaxPool" if call.op.type.startswith("Max") else "AveragePool"
    if call.dtype().name == "int64":
        raise call.error("pools int64, of which ONNX has no pools")
    image = call.inputs[0] if call.dtype().is_floating else call.cast(call.inputs[0], np.float64)
    image = channels_first(call, image, rank, form)
    found = as_before(call, call.add(op_type, image, **pool_options(call)), rank, form)
    return found if call.dtype().is_floating else call.to_type_of(found, call.dtype())


def _pool_channels(call):
    """The largest of each `width` channels; TensorFlow has no other windows than whole ones of channels alone."""
    *outer, width = call.attr("ksize")
    if max(outer) > 1 or list(call.attr("strides")) != [1, 1, 1, width]:
        raise call.error("pools over channels and images at once, or over channels with another stride")
    inner = call.add("Shape", call.inputs[0], end=3)
    parts = call.add("Reshape", call.inputs[0], call.add("Concat", inner, call.ints(-1, width), axis=0))
    return call.add("ReduceMax", parts, call.ints(4), keepdims=0)
