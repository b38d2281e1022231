"""The order in which the nodes of a GraphDef are computed, and the sizes of images on the way."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stillflow.contrib.receptive_field.layers import get_layer_params
from stillflow.names import public, public_module

public_module("contrib.receptive_field.python.util.graph_compute_order")


class NodeInfo(NamedTuple):
    """A NodeDef, the number of nodes on the longest way to it, and [height, width] before and after it, or None."""

    order: int
    node: Any
    input_size: Any
    output_size: Any


def parse_graph_nodes(graph_def):
    """{name: NodeDef} of a GraphDef."""
    return {node.name: node for node in graph_def.node}


@public("contrib.receptive_field.get_compute_order", "contrib.receptive_field.receptive_field_api.get_compute_order")
def get_compute_order(graph_def, input_node_name="", input_node_size=None):
    """The order of the nodes of a GraphDef without loops.

    Args:
      graph_def: the GraphDef.
      input_node_name: the node that begins, with the order 0; what it depends on does not count.
      input_node_size: [height, width] of its output, if they are known.

    Returns:
      {name: NodeInfo} and {name: NodeDef}.
    """
    nodes = parse_graph_nodes(graph_def)
    found: dict = {}
    if input_node_name in nodes:
        found[input_node_name] = NodeInfo(0, nodes[input_node_name], None, input_node_size)
    for name in nodes:
        waiting = [name]
        while waiting:
            missing = [each for each in _sources(nodes[waiting[-1]]) if each not in found]
            if waiting[-1] in found:
                waiting.pop()
            elif missing:
                waiting += missing
            else:
                name = waiting.pop()
                found[name] = _info(nodes[name], nodes, found)
    return found, nodes


def _sources(node):
    return [name.partition(":")[0] for name in node.input if not name.startswith("^")]


def _info(node, nodes, found):
    sources = [found[name] for name in _sources(node)]
    order = max((source.order + 1 for source in sources), default=0)
    input_size = sources[0].output_size if sources else None
    if input_size is None:
        return NodeInfo(order, node, None, None)
    params = get_layer_params(node, nodes, input_size, force=True)
    sizes_x, strides_x, _, totals_x = params[::2]
    sizes_y, strides_y, _, totals_y = params[1::2]
    # As TensorFlow has it: rows go with the parameters of columns.
    output_size = [
        _output_size(input_size[0], sizes_x, strides_x, totals_x),
        _output_size(input_size[1], sizes_y, strides_y, totals_y),
    ]
    return NodeInfo(order, node, input_size, output_size)


def _output_size(input_size, kernel_size, stride, total_padding):
    if None in (input_size, kernel_size, stride, total_padding):
        return None
    return math.ceil((input_size + total_padding - kernel_size + 1) / stride)
