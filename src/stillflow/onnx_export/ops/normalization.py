"""Batch normalization and local response normalization, and their gradients."""

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
    told = _of_a_sample(call, image, variance) if call.attr("is_training") else variance
    return [result, mean, told, mean, variance, call.constant(0, np.float32)]


def _of_a_sample(call, image, variance):
    """The variance that TensorFlow tells: of n elements n / (n - 1) of that which it divides by."""
    sizes = call.add("Gather", call.add("Shape", image), call.ints(0, 2, 3))
    count = call.cast(call.add("ReduceProd", sizes, keepdims=0), np.float32)
    rest = call.add("Max", call.add("Sub", count, call.constant(1, np.float32)), call.constant(1, np.float32))
    return call.add("Mul", variance, call.add("Div", count, rest))


@converts("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(call):
    image, mean, variance, offset, scale = call.inputs
    deviation = call.add("Sqrt", call.add("Add", variance, call.like(call.attr("variance_epsilon"))))
    normal = call.add("Div", call.add("Sub", image, mean), deviation)
    if call.attr("scale_after_normalization"):
        normal = call.add("Mul", normal, scale)
    return call.add("Add", normal, offset)


def _moments(call, image):
    axes = call.ints(0, 2, 3)
    mean = call.add("ReduceMean", image, axes, keepdims=1)
    difference = call.add("Sub", image, mean)
    variance = call.add("ReduceMean", call.add("Mul", difference, difference), axes, keepdims=0)
    return call.add("Squeeze", mean, axes), variance


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


# ---- Gradients ----------------------------------------------------------------------------------------------------


@converts("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_gradient(call):
    form, is_training = call.attr("data_format"), call.attr("is_training")
    grad, image = (channels_first(call, call.cast(value, np.float32), 4, form) for value in call.inputs[:2])
    scale, mean, variance = call.inputs[2:5]
    axes, planes = call.ints(0, 2, 3), call.ints(1, 2)
    epsilon = call.constant(call.attr("epsilon"), np.float32)
    shifted = call.add("Add", variance, epsilon)
    root = call.add("Reciprocal", call.add("Sqrt", shifted))
    distance = call.add("Sub", image, call.add("Unsqueeze", mean, planes))
    products = call.add("Mul", grad, distance)
    offset_grad = call.add("ReduceSum", grad, axes, keepdims=0)
    scale_grad = call.add("Mul", call.add("ReduceSum", products, axes, keepdims=0), root)
    image_grad = grad
    if is_training:
        slope = call.add("Div", call.add("ReduceMean", products, axes, keepdims=0), shifted)
        image_grad = call.add("Sub", image_grad, call.add("ReduceMean", grad, axes, keepdims=1))
        tilt = call.add("Mul", distance, call.add("Unsqueeze", slope, planes))
        image_grad = call.add("Sub", image_grad, tilt)
    factor = call.add("Unsqueeze", call.add("Mul", root, scale), planes)
    image_grad = as_before(call, call.add("Mul", image_grad, factor), 4, form)
    nothing = call.constant([], np.float32) if is_training else call.add("Sub", mean, mean)
    return [call.to_type_of(image_grad, call.dtype(1)), scale_grad, offset_grad, nothing, nothing]


@converts("BatchNormWithGlobalNormalizationGrad")
def batch_norm_with_global_normalization_gradient(call):
    image, mean, variance, gamma, grad = call.inputs
    axes, is_scaled = call.ints(0, 1, 2), call.attr("scale_after_normalization")
    shifted = call.add("Add", variance, call.like(call.attr("variance_epsilon")))
    root = call.add("Reciprocal", call.add("Sqrt", shifted))
    factor = call.add("Mul", root, gamma) if is_scaled else root
    total = call.add("ReduceSum", grad, axes, keepdims=0)
    product = call.add("ReduceSum", call.add("Mul", grad, call.add("Sub", image, mean)), axes, keepdims=0)
    of_variance = call.add("Mul", call.add("Mul", product, call.like(-0.5)), call.add("Div", factor, shifted))
    of_gamma = call.add("Mul", product, root) if is_scaled else call.add("Sub", gamma, gamma)
    of_mean = call.add("Neg", call.add("Mul", total, factor))
    return [call.add("Mul", grad, factor), of_mean, of_variance, total, of_gamma]


@converts("LRNGrad")
def local_response_normalization_gradient(call):
    grad, image, normalized = call.inputs
    alpha, beta = call.attr("alpha"), call.attr("beta")
    squares = _sums_of_neighbors(call, call.add("Mul", image, image))
    norms = call.add("Add", call.add("Mul", squares, call.like(alpha)), call.like(call.attr("bias")))
    sums = _sums_of_neighbors(call, call.add("Div", call.add("Mul", grad, normalized), norms))
    direct = call.add("Mul", grad, call.add("Pow", norms, call.like(-beta)))
    across = call.add("Mul", call.add("Mul", image, sums), call.like(2 * alpha * beta))
    return call.add("Sub", direct, across)


def _sums_of_neighbors(call, value):
    """Of each channel, the last axis, the sum with those that are at most the radius away."""
    radius = call.attr("depth_radius")
    depth = call.add("Shape", value, start=3)
    lines = call.add("Reshape", value, call.add("Concat", call.ints(-1, 1), depth, axis=0))
    ones = call.like(np.ones([1, 1, 2 * radius + 1]))
    return call.add("Reshape", call.add("Conv", lines, ones, pads=[radius, radius]), call.add("Shape", value))
