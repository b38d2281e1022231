"""Folding of batch normalizations that are made of several nodes into the weights of the layers before them."""

from __future__ import annotations

import re

from stillflow import ops
from stillflow.contrib.quantize.folded_parts import Normalization, copy_layer, corrections
from stillflow.contrib.quantize.rewiring import SKIPPED_PREFIXES, InputToOps, reroute
from stillflow.graph.contexts import device
from stillflow.names import public
from stillflow.variables.scope import get_variable_scope

_ACTIVATIONS = ("Relu6", "Relu", "Identity")
_NODES = "BatchNorm/batchnorm_1/"


def fold_plain(graph, is_training, freeze_delay):
    """Puts layers with normalized weights in the place of layers and normalizations named BatchNorm.

    Raises ValueError if what follows a normalization is neither an activation nor an addition.
    """
    consumers = InputToOps(graph)
    for context in _contexts(graph):
        rsqrt = graph.get_operation_by_name(f"{context}{_NODES}Rsqrt")
        has_scale = sum(op.type == "Mul" for op in consumers.ConsumerOperations(rsqrt)) == 1
        if not graph.get_operation_by_name(f"{context}{_NODES}add_1").outputs[0].consumers():
            continue
        before, after = _folded(graph, context, has_scale, freeze_delay, is_training)
        follower = _activation(graph, context)
        if follower is None:
            # A residual connection: the sum lies in the scope around this one.
            found = re.search("^(.*)/([^/]+)", context)
            around = f"{found.group(1)}/" if found and found.group(1) else ""
            follower = graph.get_operation_by_name(f"{around}AddV2")
        if reroute(after.outputs[0], before.outputs[0], can_modify=[follower]) != 1:
            raise ValueError(f"Unexpected inputs to op: {follower.name}")


@public("contrib.quantize.python.common.BatchNormGroups")
def _contexts(graph):
    """The scopes that hold a normalization, in the order of their nodes."""
    found: dict = {}
    for op in graph.get_operations():
        match = re.search("^(.*)BatchNorm/batchnorm", op.name)
        if match and not match.group(1).startswith(SKIPPED_PREFIXES):
            found[match.group(1)] = None
    return list(found)


def _activation(graph, context):
    for suffix in _ACTIVATIONS:
        try:
            return graph.get_operation_by_name(context + suffix)
        except KeyError:
            continue
    return None


def _matching_tensor(graph, suffix, scope):
    """The output of the node whose name ends so and shares the most parts with a scope."""
    wanted, found = set(scope.split("/")), {}
    for op in graph.get_operations():
        if op.name.endswith(suffix):
            shared = len(set(op.name.split("/")) & wanted)
            if shared > 0 or not scope:
                found[op.name] = shared
    return graph.get_tensor_by_name(max(found, key=found.__getitem__) + ":0") if found else None


def _parts(graph, context, has_scale):
    is_resource = get_variable_scope().use_resource
    read = "/Read/ReadVariableOp" if is_resource else "/read"

    def find(suffix):
        return _matching_tensor(graph, f"BatchNorm/{suffix}", context)

    parts = Normalization(
        mean=find("moments/Squeeze"),
        variance=find("moments/Squeeze_1"),
        moving_mean=find(f"moving_mean{read}"),
        moving_variance=find(f"moving_variance{read}"),
        epsilon=find("batchnorm_1/add/y"),
        mean_decay=find("AssignMovingAvg/decay"),
        variance_decay=find("AssignMovingAvg_1/decay"),
    )
    if has_scale:
        parts.gamma = find(f"gamma{read}" if is_resource else "gamma")
    else:
        parts.gamma = ops.ones(parts.moving_mean.shape)
    return parts


def _folded(graph, context, has_scale, freeze_delay, is_training):
    """(the node that added the offset before, the one that does so now)."""
    product = graph.get_operation_by_name(f"{context}{_NODES}{'mul_1' if has_scale else 'mul'}")
    layer, batch_to_space = product.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, batch_to_space = layer.inputs[0].op, layer
    weights = layer.inputs[1]
    parts = _parts(graph, context, has_scale)
    scale = back = offset = None
    if is_training:
        scale, back, offset = corrections(context, parts, freeze_delay)
    factor = product.inputs[1]
    if layer.type == "DepthwiseConv2dNative":
        shape = weights.shape.as_list()[2:4]
        factor = graph.get_operation_by_name(f"{context}{_NODES}{'mul' if has_scale else 'Rsqrt'}").outputs[0]
        factor = ops.reshape(factor, shape, context + "scale_reshape")
        if scale is not None:
            scale = ops.reshape(scale, shape, context + "correction_reshape")
    elif layer.type not in ("Conv2D", "MatMul"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    if scale is not None:
        with device(product.device):
            weights = ops.mul(scale, weights, context + "correction_mult")
    folded = ops.mul(weights, factor, name=context + "mul_fold")
    _check_shapes("mul_fold", weights, folded)
    _check_layer(layer, folded)
    layer_copy = copy_layer(layer, layer.inputs[0], folded, layer.name + "_Fold")
    before = graph.get_operation_by_name(f"{context}{_NODES}add_1")
    output = layer_copy
    if batch_to_space is not None:
        name = batch_to_space.name + "_Fold"
        output = ops.batch_to_space_nd(output, *batch_to_space.inputs[1:3], name=name)
    if offset is not None:
        with device(layer_copy.device):
            output = ops.mul(back, output, context + "post_conv_mul")
            output = ops.add(output, offset, context + "correction_add")
    found = ops.add(output, before.inputs[1], name=context + "add_fold")
    _check_shapes("add_fold", output, found)
    return before, found.op


def _check_shapes(name, before, after):
    if not before.shape.is_compatible_with(after.shape):
        raise ValueError(f"{name} should not change tensor shape: input {before.shape}, output {after.shape}")


def _check_layer(layer, weights):
    inputs = layer.inputs[0].shape
    if layer.type == "MatMul":
        first, second = inputs, weights.shape
        fits = len(first) == 2 and len(second) == 2 and bool(first[1] == second[0])
    else:
        fits = len(inputs) == 4 and len(weights.shape) == 4 and bool(inputs[3] == weights.shape[2])
    if not fits:
        raise ValueError(f"Incompatible shapes for op {layer.name} inputs: {inputs} and {weights.shape}")
