"""tensorflow.python.tools.strip_unused_lib: the part of a graph between its inputs and outputs."""

from __future__ import annotations

from stillflow.files.gfile import Exists
from stillflow.formats import protobuf
from stillflow.importer.graph_util import extract_sub_graph
from stillflow.names import public_module
from stillflow.tools import graph_files

public_module("python.tools.strip_unused_lib")

__all__ = ["strip_unused", "strip_unused_from_files"]


def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """What the output nodes need of a graph, with placeholders for the input nodes.

    Args:
      placeholder_type_enum: the value of DataType for the placeholders, or a list of one for each input node.

    Returns:
      A GraphDef. Raises ValueError for the name of a tensor among the inputs, KeyError for one that is not there.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(input_node_names)
    found = protobuf.message("GraphDef")()
    for node in input_graph_def.node:
        if node.name not in input_node_names:
            found.node.add().CopyFrom(node)
            continue
        missing.remove(node.name)
        if isinstance(placeholder_type_enum, list):
            dtype = placeholder_type_enum[list(input_node_names).index(node.name)]
        else:
            dtype = placeholder_type_enum
        _add_placeholder(found, node, dtype)
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    return extract_sub_graph(found, output_node_names)


def _add_placeholder(graph_def, node, dtype):
    placeholder = graph_def.node.add(op="Placeholder", name=node.name)
    placeholder.attr["dtype"].type = dtype
    for name in ("_output_shapes", "shape"):
        if name in node.attr:
            placeholder.attr[name].CopyFrom(node.attr[name])


def strip_unused_from_files(
    input_graph,
    input_binary,
    output_graph,
    output_binary,
    input_node_names,
    output_node_names,
    placeholder_type_enum,
):
    """Strips the graph in a file into another. Returns -1, having printed why, if that cannot be done."""
    if not Exists(input_graph):
        print("Input graph file '" + input_graph + "' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    graph_def = graph_files.read(input_graph, "GraphDef", input_binary)
    stripped = strip_unused(
        graph_def, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum
    )
    graph_files.write(output_graph, stripped, output_binary)
    print(f"{len(stripped.node)} ops in the final graph.")
    return None
