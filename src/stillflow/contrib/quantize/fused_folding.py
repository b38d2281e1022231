"""Folding of fused batch normalizations into the weights of the layers before them."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.registry import RegisterGradient
from stillflow.contrib.quantize.folded_parts import Normalization, copy_layer, corrections
from stillflow.contrib.quantize.patterns import GraphMatcher, OneofPattern, OpTypePattern
from stillflow.contrib.quantize.rewiring import reroute
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph

_GRADIENT = "FoldFusedBatchNormGrad"


class _Patterns:
    """A layer, a normalization behind it, and the moving averages that its statistics go to."""

    def __init__(self):
        any_node = OpTypePattern
        self.input, self.weights = any_node("*"), any_node("*")
        self.gamma, self.beta, self.mean, self.variance = (any_node("*") for _ in range(4))
        self.decay = any_node("*")
        self.layer = OpTypePattern("Conv2D|DepthwiseConv2dNative|MatMul", inputs=[self.input, self.weights])
        self.batch_to_space = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        outputs = [self.batch_to_space, self.layer]
        with_identity = OpTypePattern("Identity", inputs=[OneofPattern(outputs)])
        output = OneofPattern([with_identity, self.layer, self.batch_to_space])
        reshaped = OpTypePattern("Reshape", inputs=[output, "*"])
        statistics = [self.gamma, self.beta, self.mean, self.variance]
        self.node = OpTypePattern(
            "FusedBatchNorm|FusedBatchNormV3", inputs=[OneofPattern([reshaped, output]), *statistics]
        )
        self.reshaped = OpTypePattern("Reshape", inputs=[self.node, "*"])
        self.whole = OneofPattern([self.reshaped, self.node])
        self.difference = OpTypePattern("Sub", inputs=["*", self.node])
        self.update = OpTypePattern("Mul", inputs=[self.difference, self.decay])


def fold_fused(graph, freeze_delay):
    """Puts layers with normalized weights in the place of layers and fused normalizations.

    Raises ValueError if nothing takes the output of one.
    """
    for parts in _normalizations(graph):
        scope, separator, _ = parts.layer.name.rpartition("/")
        with graph.as_default(), graph.name_scope(scope + separator):
            _fold(graph, parts, scope + separator, separator, freeze_delay)


def _fold(graph, parts, scope, separator, freeze_delay):
    scale = back = offset = None
    with graph.name_scope(scope + "BatchNorm_Fold" + separator):
        factor = parts.gamma * ops.rsqrt(parts.variance + parts.node.get_attr("epsilon"))
        bias = ops.sub(parts.beta, parts.mean * factor, name="bias")
        if parts.node.get_attr("is_training"):
            scale, back, offset = corrections("", parts, freeze_delay)
        if parts.layer.type == "DepthwiseConv2dNative":
            shape = parts.weights.shape.as_list()[2:4]
            factor = ops.reshape(factor, shape, name="scale_reshape")
            if scale is not None:
                scale = ops.reshape(scale, shape, name="correction_reshape")
    weights = parts.weights
    if scale is not None:
        weights = ops.mul(scale, weights, name="correction_mult")
    weights = ops.mul(weights, factor, name="mul_fold")
    found = _copy(parts, weights)
    if back is not None:
        found = ops.mul(back, found, name="post_conv_mul")
        found = ops.add(found, offset, "correction_add")
    found = ops.add(found, bias, name="add_fold")
    if reroute(found, parts.output) == 0:
        raise ValueError(f"Folding batch norms failed, {parts.output.name} had no outputs.")


def _copy(parts, weights):
    name = parts.layer.name.split("/")[-1] + "_Fold"
    found = copy_layer(parts.layer, parts.input, weights, name)
    if parts.layer.type == "DepthwiseConv2dNative" and parts.batch_to_space:
        node = parts.layer.outputs[0].consumers()[0]
        name = node.name.split("/")[-1] + "_Fold"
        found = ops.batch_to_space_nd(found, node.inputs[1], node.inputs[2], name=name)
    return found


def _normalizations(graph):
    """The Normalizations of a graph, one for each layer."""
    patterns = _Patterns()
    found: dict = {}
    for match in GraphMatcher(patterns.whole).match_graph(graph):
        parts = _parts(graph, patterns, match)
        if parts is not None:
            found.setdefault(parts.layer, parts)
    return list(found.values())


def _parts(graph, patterns, match):
    layer, node = match.get_op(patterns.layer), match.get_op(patterns.node)
    output = node.outputs[0]
    if layer.type == "MatMul":
        reshaped = match.get_op(patterns.reshaped)
        if reshaped is None:
            return None
        output = reshaped.outputs[0]
    if not output.consumers():
        return None
    parts = Normalization(
        layer=layer,
        node=node,
        output=output,
        input=match.get_tensor(patterns.input),
        weights=match.get_tensor(patterns.weights),
        gamma=match.get_tensor(patterns.gamma),
        beta=match.get_tensor(patterns.beta),
        epsilon=node.get_attr("epsilon"),
        batch_to_space=match.get_op(patterns.batch_to_space),
    )
    if node.get_attr("is_training"):
        _set_batch_statistics(graph, patterns, parts, match.get_tensor(patterns.layer))
    else:
        parts.mean, parts.variance = match.get_tensor(patterns.mean), match.get_tensor(patterns.variance)
    return parts


def _set_batch_statistics(graph, patterns, parts, layer_tensor):
    """The mean and variance of the batch, and where their moving averages are."""
    node = parts.node
    node._set_attr("_gradient_op_type", _GRADIENT.encode())
    parts.mean = node.outputs[1]
    scope, separator, _ = node.name.rpartition("/")
    default = get_default_graph()
    with default.as_default(), default.name_scope(scope + separator):
        n = ops.cast(ops.size(layer_tensor) / ops.size(parts.mean), dtypes.float32)
        parts.variance = ops.mul(node.outputs[2], (n - 1) / n, name="Undo_Bessel_Correction")
    for match in GraphMatcher(patterns.update).match_graph(graph):
        difference = match.get_op(patterns.difference)
        if difference.inputs[1] is node.outputs[1]:
            parts.moving_mean, parts.mean_decay = difference.inputs[0], match.get_tensor(patterns.decay)
        if difference.inputs[1] is node.outputs[2]:
            parts.moving_variance, parts.variance_decay = difference.inputs[0], match.get_tensor(patterns.decay)


@RegisterGradient(_GRADIENT)
def _gradient(op, unused_grad, mean_grad, variance_grad, *unused):
    """That of the mean and the variance of a batch alone: what was normalized is not used any more."""
    x = op.inputs[0]
    n = ops.cast(ops.size(x) / ops.size(mean_grad), dtypes.float32)
    of_mean = mean_grad / n
    of_variance = 2 * variance_grad * (x - op.outputs[1]) / (n - 1)
    return of_mean + of_variance, None, None, None, None
