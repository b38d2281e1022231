"""Batch normalization."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.layout import as_before, channels_first
from stillflow.onnx_export.translation import Call, converts


@converts("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(call: Call):
    form = call.attr("data_format")
    image = channels_first(call, call.inputs[0], 4, form)
    scale, offset, mean, variance = call.inputs[1:5]
    if call.attr("is_training"):
        mean, variance = _moments(call, image)
    options = {"epsilon": call.attr("epsilon")}
    result = as_before(call, call.add("BatchNormalization", image, scale, offset, mean, variance, **options), 4, form)
    return [result, mean, variance]


@converts("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(call):
    image, mean, variance, offset, scale = call.inputs
    deviation = call.add("Sqrt", call.add("Add", variance, call.like(call.attr("variance_epsilon"))))
    normal = call.add("Div", call.add("Sub", image, mean), deviation)
    if call.attr("scale_after_normalization"):
        normal = call.add("Mul", normal, scale)
    return call.add("Add", normal, offset)


def _moments(call, image):
    axes = call.constant([0, 2, 3], np.int64)
    mean = call.add("ReduceMean", image, axes, keepdims=1)
    difference = call.add("Sub", image, mean)
    variance = call.add("ReduceMean", call.add("Mul", difference, difference), axes, keepdims=0)
    return call.add("Squeeze", mean, axes), variance
