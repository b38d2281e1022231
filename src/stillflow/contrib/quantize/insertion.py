"""Putting rounding behind weights and activations: see `quantize`."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from stillflow import ops
from stillflow.contrib.quantize.fake_quantization import last_value_quantize, moving_average_quantize
from stillflow.contrib.quantize.layer_patterns import RELUS, layers
from stillflow.contrib.quantize.rewiring import InputToOps, get_or_create_step, reroute
from stillflow.graph.collections import GraphKeys
from stillflow.graph.inner_functions import get_name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.platform.logging import info

_ROUNDING = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
_SOURCES = ("Add", "AddV2", "Mul")
_PASSED = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")


@dataclasses.dataclass
class _Rounding:
    """How tensors are rounded in a graph."""

    is_training: bool
    weight_bits: int
    activation_bits: int
    symmetric: bool
    ema_decay: float
    delay: Any
    collection: str
    scope: Any


@public("contrib.quantize.python.quantize.Quantize")
def quantize(
    graph, is_training, weight_bits=8, activation_bits=8, symmetric=False, ema_decay=0.999, quant_delay=None,
    vars_collection=GraphKeys.GLOBAL_VARIABLES, scope=None,
):  # fmt: skip
    """Rounds the weights of a graph's layers, what they give, and sums of that.

    Args:
      graph: the graph, without operations of training.
      is_training: whether the ranges follow the values.
      weight_bits, activation_bits: to how many bits.
      symmetric: whether the ranges of weights and layers are as wide below 0 as above.
      ema_decay: of the average ranges of what layers give.
      quant_delay: after how many steps it begins.
      vars_collection: a collection of the ranges' variables.
      scope: the scope of the layers that are meant; all by default.

    Raises ValueError if nothing takes what is to be rounded.
    """
    scope = f"{scope}/" if scope and not scope.endswith("/") else scope
    rounding = _Rounding(
        is_training, weight_bits, activation_bits, symmetric, ema_decay, quant_delay, vars_collection, scope
    )
    consumers = InputToOps(graph)
    done: set = set()
    for layer in layers(graph):
        _round_layer(rounding, layer, consumers, done)
    consumers = InputToOps(graph)
    for op in graph.get_operations():
        if _is_open(op, done):
            name = f"activation_{op.type}_quant"
            info("Inserting fake quant op %s after %s", name, op.name)
            followers = consumers.ConsumerOperations(op)
            _round_activation(rounding, op.name, name, op, followers, symmetric=False)


def _round_layer(rounding, layer, consumers, done):
    scope, context = rounding.scope, _scope_of(layer.layer.name)
    within, around = context, context
    if layer.weights is not None:
        producer = layer.weights.op
        _insert(
            rounding, context, "weights_quant", producer, consumers.ConsumerOperations(producer),
            is_average=False, narrow_range=True, bits=rounding.weight_bits, consumer_scope=scope,
        )  # fmt: skip
    if layer.activation is not None:
        followers = consumers.ConsumerOperations(layer.activation)
        if layer.bypass:
            around = _scope_of(context)
        _round_activation(rounding, around, "act_quant", layer.activation, followers, init_min=0.0)
        done.add(layer.activation)
    if layer.bypass is not None:
        followers = consumers.ConsumerOperations(layer.bias)
        _round_activation(rounding, within, "conv_quant", layer.bias, followers, consumer_scope=scope)
        done.add(layer.bias)
        followers = consumers.ConsumerOperations(layer.bypass)
        if any(op.type in (*RELUS, "Identity") for op in followers):
            info("Skipping %s, because its followed by an activation.", layer.bypass.name)
        else:
            _round_activation(rounding, around, "add_quant", layer.bypass, followers, consumer_scope=scope)
            done.add(layer.bypass)
    if layer.later_bypass is not None:
        followers = consumers.ConsumerOperations(layer.later_bypass)
        if any(op.type in RELUS for op in followers):
            info("Skipping %s, because its followed by an activation.", layer.later_bypass.name)
        else:
            context = _scope_of(layer.later_bypass.name)
            _round_activation(rounding, context, "post_activation_bypass_quant", layer.later_bypass, followers)
            done.add(layer.later_bypass)


def _scope_of(name):
    found = re.search("^(.*)/([^/]+)", name)
    return found.group(1) if found else ""


def _is_open(op, done):
    """Whether a sum or product has inputs that are rounded, and is not rounded itself."""
    if op in done or op.type not in _SOURCES:
        return False
    followers = op.outputs[0].consumers() if len(op.outputs) == 1 else []
    if len(followers) == 1 and followers[0].type in RELUS:
        info("Skipping quant after %s", op.name)
        return False
    for tensor in op.inputs:
        before = tensor.op
        while before.type in _PASSED:
            before = before.inputs[0].op
        if before.type == "FakeQuantWithMinMaxVars" or before.name.find("delayed_quant/Merge") > 0:
            return True
        if before.type in _SOURCES and any(_is_open(each.op, done) for each in before.inputs):
            return True
    return False


def _is_followed_by_rounding(tensor):
    pending = list(tensor.consumers())
    while pending:
        op = pending.pop()
        if op.type in _ROUNDING:
            return True
        if op.type in ("Reshape", "Identity"):
            pending.extend(follower for output in op.outputs for follower in output.consumers())
    return False


def _round_activation(rounding, context, name, producer, consumers, **options):
    bits = rounding.activation_bits
    _insert(rounding, context, name, producer, consumers, bits=bits, producer_scope=rounding.scope, **options)


def _insert(
    rounding, context, name, producer, consumers, bits, is_average=True, init_min=-6.0, narrow_range=False,
    symmetric=None, producer_scope=None, consumer_scope=None,
):  # fmt: skip
    """Rounds the output of a node for its consumers, those of a scope if there is one."""
    if producer_scope and not producer.name.startswith(producer_scope):
        info("%s/%s: producer %s is not in scope %s", context, name, producer.name, producer_scope)
        return
    if consumer_scope:
        for op in consumers:
            if not op.name.startswith(consumer_scope):
                info("%s/%s: consumer %s is not in scope %s", context, name, op.name, consumer_scope)
                return
    prefix = f"{context}/{name}" if context else name
    scope = get_name_scope()
    prefix = prefix.removeprefix(f"{scope}/") if scope else prefix
    inputs = producer.outputs[0]
    if _is_followed_by_rounding(inputs):
        return
    options = {
        "init_min": init_min,
        "init_max": 6.0,
        "is_training": rounding.is_training,
        "num_bits": bits,
        "symmetric": rounding.symmetric if symmetric is None else symmetric,
        "narrow_range": narrow_range,
        "vars_collection": rounding.collection,
        "name_prefix": prefix,
    }
    if is_average:
        found = moving_average_quantize(inputs, ema_decay=rounding.ema_decay, **options)
    else:
        found = last_value_quantize(inputs, **options)
    if rounding.delay and rounding.delay > 0:
        begins = ops.greater_equal(get_or_create_step(), rounding.delay, name=f"{prefix}/activate_quant")
        found = cond(begins, lambda: found, lambda: inputs, name=f"{prefix}/delayed_quant")
    if consumers and reroute(found, inputs, can_modify=consumers) < len(consumers):
        names = ", ".join(op.name for op in consumers)
        raise ValueError(f"No inputs quantized for ops: [{names}]")
