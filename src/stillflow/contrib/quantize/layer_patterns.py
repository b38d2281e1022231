"""Layers of a graph with what follows them: additions, activations and residual connections."""

from __future__ import annotations

import dataclasses
from typing import Any

from stillflow.contrib.quantize.patterns import GraphMatcher, OneofPattern, OpTypePattern
from stillflow.platform.logging import info

RELUS = ("Relu", "Relu6")
_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADDITIONS = "Add|AddV2"


@dataclasses.dataclass
class Layer:
    """The nodes of a layer that are rounded behind; None for those that are not there."""

    layer: Any
    weights: Any  # a tensor
    activation: Any
    bypass: Any = None  # an addition before the activation
    later_bypass: Any = None  # one after it
    bias: Any = None


def _unordered(types, first):
    return OpTypePattern(types, inputs=[first, "*"], ordered_inputs=False)


class _Patterns:
    def __init__(self):
        variable = OpTypePattern("Variable|VariableV2")
        part = OpTypePattern("Identity", inputs=[variable])
        parts = OpTypePattern("ConcatV2", inputs=[part, "*", "*"])
        self.read = OpTypePattern("Identity", inputs=[OneofPattern([part, parts, variable])])
        self.resource_read = OpTypePattern("ReadVariableOp")
        self.folded_weights = OpTypePattern("Mul")
        weights = OneofPattern([self.read, self.resource_read, self.folded_weights])
        self.layer = OpTypePattern(_LAYERS, inputs=["*", weights], ordered_inputs=False)
        output = OneofPattern([OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"]), self.layer])
        self.separable = _unordered(_LAYERS, OneofPattern([output]))
        corrected = _unordered(_ADDITIONS, OpTypePattern("Mul", inputs=["*", output], ordered_inputs=False))
        self.folded_bias = _unordered(_ADDITIONS, corrected)
        normalized = OpTypePattern("Identity", inputs=[self.folded_bias])
        self.bias = _unordered(f"{_ADDITIONS}|BiasAdd", output)
        sums = [self.bias, self.folded_bias, normalized]
        self.bypass = _unordered(_ADDITIONS, OneofPattern(sums))
        before = OneofPattern([*sums, self.bypass, self.layer])
        self.activation = OpTypePattern("Relu|Relu6|Identity", inputs=[before])
        self.later_bypass = OpTypePattern(_ADDITIONS, inputs=["*", self.activation], ordered_inputs=False)

    def weights_of(self, match, may_be_folded=True):
        """The tensor of weights: what a variable is read into, or a product."""
        kinds = [self.read, self.resource_read, *([self.folded_weights] if may_be_folded else [])]
        return next((found for found in map(match.get_tensor, kinds) if found is not None), None)

    def bias_of(self, match):
        found = match.get_op(self.bias)
        return match.get_op(self.folded_bias) if found is None else found


def layers(graph):
    """The Layers of a graph: those with residual connections, with activations, with sums, and separable ones."""
    patterns = _Patterns()
    found: dict = {}

    def matches(pattern):
        for match in GraphMatcher(pattern).match_graph(graph):
            layer = match.get_op(patterns.layer)
            if layer not in found:
                yield layer, match

    for layer, match in matches(patterns.later_bypass):
        found[layer] = Layer(
            layer,
            patterns.weights_of(match),
            match.get_op(patterns.activation),
            match.get_op(patterns.bypass),
            match.get_op(patterns.later_bypass),
            patterns.bias_of(match),
        )
    for layer, match in matches(patterns.activation):
        activation = match.get_op(patterns.activation)
        if not _is_before_normalization(activation):
            bypass = match.get_op(patterns.bypass)
            bias = patterns.bias_of(match)
            found[layer] = Layer(layer, patterns.weights_of(match), activation, bypass, None, bias)
    for layer, match in matches(OneofPattern([patterns.bias, patterns.folded_bias])):
        found[layer] = Layer(layer, patterns.weights_of(match), patterns.bias_of(match))
    for layer, match in matches(patterns.separable):
        found[layer] = Layer(layer, patterns.weights_of(match, may_be_folded=False), layer)
    return list(found.values())


def _is_before_normalization(activation):
    """Whether it is only a name for what a normalization takes."""
    if activation.type != "Identity" or len(activation.outputs) != 1:
        return False
    consumers = activation.outputs[0].consumers()
    if len(consumers) != 1 or consumers[0].type not in ("FusedBatchNorm", "FusedBatchNormV3"):
        return False
    info(
        "Skipping quantizing %s, because it is the output of a conv/fc followed by a identity, feeding a fused batch "
        "norm.",
        activation.name,
    )
    return True
