"""What folding a batch normalization into weights needs: its parts, the corrections of training, copies of layers."""

from __future__ import annotations

import dataclasses
from typing import Any

from stillflow import ops
from stillflow.composites.separable_convolution import depthwise_conv2d
from stillflow.contrib.quantize.rewiring import get_or_create_step, reroute
from stillflow.graph.default_graph import get_default_graph
from stillflow.layers.core.conditions import smart_cond


@dataclasses.dataclass
class Normalization:
    """The tensors of a batch normalization behind a layer."""

    gamma: Any = None
    beta: Any = None
    mean: Any = None
    variance: Any = None
    moving_mean: Any = None
    moving_variance: Any = None
    mean_decay: Any = None  # the parts of a batch that the moving averages take
    variance_decay: Any = None
    epsilon: Any = None
    layer: Any = None  # the nodes; those below for fused normalizations alone
    node: Any = None
    output: Any = None
    input: Any = None
    weights: Any = None
    batch_to_space: Any = None


def corrections(context, parts, freeze_delay):
    """(a factor of the weights, a factor and an addition for the layer's outputs) while training.

    By the factor the weights are scaled by moving averages, which vary less than batches; the outputs are scaled
    back, until `freeze_delay` steps have been run.
    """
    graph = get_default_graph()
    with graph.name_scope((context or "") + "batch_norm_correction"):
        of_average = ops.rsqrt(parts.moving_variance + parts.epsilon)
        of_batch = ops.rsqrt(parts.variance + parts.epsilon)
        scale = ops.divide(of_average, of_batch, name="scale_compute")
        scale = ops.identity(scale, name="correction_scale")
        back = ops.reciprocal(scale, name="reciprocal_compute")
        offset = ops.mul(parts.gamma, parts.mean * of_batch - parts.moving_mean * of_average, name="offset_compute")
        is_frozen: Any = False
        if freeze_delay is not None:
            is_frozen = ops.greater_equal(get_or_create_step(), freeze_delay, name="use_moving_average")
        _freeze(parts.mean_decay, is_frozen, "freeze_moving_mean")
        _freeze(parts.variance_decay, is_frozen, "freeze_moving_var")
        back = smart_cond(is_frozen, lambda: ops.ones(scale.shape), lambda: back, name="correction_recip")
        offset = smart_cond(is_frozen, lambda: offset, lambda: ops.zeros(offset.shape), name="correction_offset")
    return scale, back, offset


def _freeze(decay, is_frozen, name):
    """Makes a moving average take nothing more once it is frozen."""
    consumers = list(decay.consumers())
    found = smart_cond(is_frozen, lambda: 0.0, lambda: decay, name=name)
    reroute(found, decay, can_modify=consumers)


def copy_layer(layer, inputs, weights, name):
    """The layer with other inputs and weights. Raises ValueError for a node that is none."""
    if layer.type == "Conv2D":
        return ops.conv2d(
            inputs,
            weights,
            strides=layer.get_attr("strides"),
            padding=layer.get_attr("padding"),
            use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"),
            data_format=layer.get_attr("data_format").decode(),
            name=name,
        )
    if layer.type == "MatMul":
        turned = {key: layer.get_attr(key) for key in ("transpose_a", "transpose_b")}
        return ops.matmul(inputs, weights, **turned, name=name)
    if layer.type == "DepthwiseConv2dNative":
        strides, padding = layer.get_attr("strides"), layer.get_attr("padding")
        return depthwise_conv2d(inputs, weights, strides=strides, padding=padding, name=name)
    raise ValueError(f"Cannot handle operation of type: {layer.type}")
