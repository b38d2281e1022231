"""Pools, and local response normalization."""

from __future__ import annotations

from stillflow.onnx_export.layout import as_before, channels_first, spatial, window_pads
from stillflow.onnx_export.ops.convolution import spatial_sizes
from stillflow.onnx_export.translation import Call, converts


@converts("MaxPool", "MaxPoolV2", "MaxPool3D", "AvgPool", "AvgPool3D")
def pool(call: Call):
    form, rank = call.attr("data_format"), len(call.dims())
    if call.op.type == "MaxPoolV2":
        whole, steps = (call.known(index, "windows").tolist() for index in (1, 2))
    else:
        whole, steps = call.attr("ksize"), call.attr("strides")
    window, strides = spatial(whole, form), spatial(steps, form)
    if max(whole[0], whole[1 if form.startswith("NC") else -1]) > 1:
        raise call.error("pools over batch or channels, which ONNX does not")
    pads = window_pads(
        call, call.attr("padding"), spatial_sizes(call, form), window, strides, [1] * len(window), form
    )
    op_type = "MaxPool" if call.op.type.startswith("Max") else "AveragePool"
    image = channels_first(call, call.inputs[0], rank, form)
    return as_before(call, call.add(op_type, image, kernel_shape=window, strides=strides, **pads), rank, form)


@converts("LRN")
def local_response_normalization(call):
    width = 2 * call.attr("depth_radius") + 1
    options = {
        "size": width,
        "alpha": call.attr("alpha") * width,
        "beta": call.attr("beta"),
        "bias": call.attr("bias"),
    }
    image = channels_first(call, call.inputs[0], 4, "NHWC")
    return as_before(call, call.add("LRN", image, **options), 4, "NHWC")
