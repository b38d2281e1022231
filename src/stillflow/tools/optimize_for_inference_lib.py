"""tensorflow.python.tools.optimize_for_inference_lib: a frozen graph rewritten for inference."""

from __future__ import annotations

import collections
import logging
import re

import numpy as np

from stillflow.formats import protobuf
from stillflow.graph import tensor_proto
from stillflow.graph.python_values import make_tensor_proto
from stillflow.importer.graph_util import remove_training_nodes
from stillflow.names import public_module
from stillflow.tools.strip_unused_lib import strip_unused

public_module("python.tools.optimize_for_inference_lib")

__all__ = [
    "ensure_graph_is_valid",
    "fold_batch_norms",
    "fuse_resize_and_conv",
    "node_from_map",
    "node_name_from_input",
    "optimize_for_inference",
    "scale_after_normalization",
    "values_from_const",
]

_LOG = logging.getLogger("tensorflow")

# The inputs of batch normalizations, and the attribute with their epsilon.
_INPUTS = {
    "BatchNormWithGlobalNormalization": ("conv", "mean", "var", "beta", "gamma"),
    "FusedBatchNorm": ("conv", "gamma", "beta", "mean", "var"),
}
_EPSILON = {"BatchNormWithGlobalNormalization": "variance_epsilon", "FusedBatchNorm": "epsilon"}


def optimize_for_inference(
    input_graph_def, input_node_names, output_node_names, placeholder_type_enum, toco_compatible=False
):
    """A graph without what only training needs, with batch normalization folded into the weights of convolutions.

    Args:
      placeholder_type_enum: the value of DataType for the inputs' placeholders, or a list of one for each.
      toco_compatible: whether to leave resizing and padding before a convolution as they are.

    Returns:
      A GraphDef. Raises ValueError if the graph names a node twice, or an input that it does not have.
    """
    ensure_graph_is_valid(input_graph_def)
    graph_def = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    graph_def = remove_training_nodes(graph_def, output_node_names)
    graph_def = fold_batch_norms(graph_def)
    if not toco_compatible:
        graph_def = fuse_resize_and_conv(graph_def, output_node_names)
    ensure_graph_is_valid(graph_def)
    return graph_def


def ensure_graph_is_valid(graph_def):
    """Raises ValueError if a name is there twice, or an input is not there."""
    nodes = _nodes_by_name(graph_def)
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", name)


def _nodes_by_name(graph_def):
    nodes = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


def node_name_from_input(node_name):
    """The name of the node that an input such as "^conv" or "split:1" is of."""
    return re.sub(r":\d+$", "", node_name.removeprefix("^"))


def node_from_map(node_map, name):
    """The node that an input is of. Raises ValueError if the map does not have it."""
    try:
        return node_map[node_name_from_input(name)]
    except KeyError:
        raise ValueError(f"No node named '{name}' found in map.") from None


def values_from_const(node_def):
    """The array that a Const holds. Raises ValueError for another node."""
    if node_def.op != "Const":
        raise ValueError(f"Node named '{node_def.name}' should be a Const op for values_from_const.")
    return tensor_proto.make_ndarray(node_def.attr["value"].tensor)


def scale_after_normalization(node):
    """Whether a batch normalization multiplies with gamma."""
    return node.op != "BatchNormWithGlobalNormalization" or node.attr["scale_after_normalization"].b


def fold_batch_norms(input_graph_def):
    """A graph in which constant batch normalizations after a convolution are scaled weights and a bias.

    BatchNormWithGlobalNormalization and FusedBatchNorm are folded after Conv2D and DepthwiseConv2dNative, if all of
    their inputs are constants. Raises ValueError if a name is in the graph twice.
    """
    nodes = _nodes_by_name(input_graph_def)
    replaced: set[str] = set()
    added = []
    for node in input_graph_def.node:
        if node.op in _INPUTS:
            parts = _foldable_parts(node, nodes)
            if parts is not None:
                replaced.update(part.name for part in (node, *parts.values()))
                added += _folded(node, parts)
    return _with_nodes([node for node in input_graph_def.node if node.name not in replaced] + added)


def _with_nodes(nodes):
    found = protobuf.message("GraphDef")()
    for node in nodes:
        found.node.add().CopyFrom(node)
    return found


def _foldable_parts(node, nodes):
    """The convolution, weights and constants of a batch normalization; None, and a warning, if it has others."""
    inputs = {key: node_from_map(nodes, name) for key, name in zip(_INPUTS[node.op], node.input, strict=False)}
    conv = inputs["conv"]
    if conv.op not in ("Conv2D", "DepthwiseConv2dNative"):
        _LOG.warning("Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'", node.name)
        return None
    inputs["weights"] = node_from_map(nodes, conv.input[1])
    for key, name in (
        ("weights", "conv"),
        ("mean", "mean"),
        ("var", "var"),
        ("beta", "beta"),
        ("gamma", "gamma"),
    ):
        if inputs[key].op != "Const":
            _LOG.warning(
                "Didn't find expected %s Constant input to '%s', found %s instead. Maybe because freeze_graph wasn't "
                "run first?",
                name,
                conv.name if key == "weights" else node.name,
                inputs[key],
            )
            return None
        if key == "weights":
            shape = values_from_const(inputs[key]).shape
            expected = (shape[3] if conv.op == "Conv2D" else shape[2] * shape[3],)
        elif values_from_const(inputs[key]).shape != expected:
            _LOG.warning(
                "Incorrect shape for %s, found %s, expected %s, for node %s",
                name,
                values_from_const(inputs[key]).shape,
                expected,
                node.name,
            )
            return None
    return inputs


def _folded(node, parts):
    """Scaled weights, the convolution, an offset, and their sum, which has the name of the batch normalization."""
    conv, weights = parts["conv"], values_from_const(parts["weights"])
    mean, var, beta, gamma = (values_from_const(parts[key]) for key in ("mean", "var", "beta", "gamma"))
    # TensorFlow takes the roots as Python floats, so everything but the weights is float64 here.
    scale = 1.0 / np.sqrt((var + np.float64(node.attr[_EPSILON[node.op]].f).astype(var.dtype)).astype(np.float64))
    if scale_after_normalization(node):
        scale = scale * gamma
    offset = -mean * scale + beta
    by_output = scale if conv.op == "Conv2D" else scale.reshape(weights.shape[2:])
    scaled = (weights * by_output).astype(weights.dtype)
    new_conv = protobuf.message("NodeDef")()
    new_conv.CopyFrom(conv)
    bias_add = protobuf.message("NodeDef")(op="BiasAdd", name=node.name, input=[conv.name, conv.name + "_bn_offset"])
    bias_add.attr["T"].CopyFrom(conv.attr["T"])
    bias_add.attr["data_format"].CopyFrom(conv.attr["data_format"])
    return [
        _constant(parts["weights"].name, scaled, parts["weights"].attr["dtype"].type),
        new_conv,
        _constant(conv.name + "_bn_offset", offset.astype(mean.dtype), parts["mean"].attr["dtype"].type),
        bias_add,
    ]


def _constant(name, value, dtype):
    node = protobuf.message("NodeDef")(op="Const", name=name)
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value))
    return node


def fuse_resize_and_conv(input_graph_def, output_node_names):
    """A graph in which ResizeBilinear and MirrorPad before a Conv2D are one node with it.

    The nodes FusedResizeAndPadConv2D and FusedPadConv2D are of TensorFlow's mobile runtime. Raises ValueError if
    a name is in the graph twice.
    """
    nodes = _nodes_by_name(input_graph_def)
    readers = collections.Counter(node_name_from_input(name) for node in input_graph_def.node for name in node.input)
    readers.update(output_node_names)
    added = []
    for conv in input_graph_def.node:
        if conv.op != "Conv2D":
            continue
        pad = node_from_map(nodes, conv.input[0])
        resize = node_from_map(nodes, pad.input[0]) if pad.op == "MirrorPad" else pad
        pad = pad if pad.op == "MirrorPad" else None
        resize = resize if resize.op == "ResizeBilinear" else None
        if pad is None and resize is None:
            continue
        readers[conv.name] = 0
        for node in (pad, resize):
            if node is not None:
                readers[node.name] -= 1
        added += _fused(conv, pad, resize)
    return _with_nodes([node for node in input_graph_def.node if readers[node.name] >= 1] + added)


def _fused(conv, pad, resize):
    found = []
    node = protobuf.message("NodeDef")(name=conv.name)
    if pad is not None:
        paddings = pad.input[1]
        node.attr["mode"].CopyFrom(pad.attr["mode"])
    else:
        paddings = conv.name + "_dummy_paddings"
        found.append(_constant(paddings, np.zeros((4, 2), np.int32), protobuf.enum("DataType")["DT_INT32"]))
        node.attr["mode"].s = b"REFLECT"
    if resize is not None:
        node.op = "FusedResizeAndPadConv2D"
        node.input.extend([resize.input[0], resize.input[1], paddings, conv.input[1]])
        node.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    else:
        node.op = "FusedPadConv2D"
        node.input.extend([pad.input[0], paddings, conv.input[1]])
    for name in ("T", "strides", "padding"):
        node.attr[name].CopyFrom(conv.attr[name])
    return [*found, node]
