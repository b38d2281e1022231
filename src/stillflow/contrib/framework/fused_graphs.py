"""fuse_op: a part of a GraphDef in one node, for what runs graphs elsewhere."""

from __future__ import annotations

from stillflow.names import public


def _node_of(name):
    return name.removeprefix("^").partition(":")[0]


def _reached(inputs, targets):
    """The names of the nodes that `targets` need, themselves included."""
    found: set[str] = set()
    waiting = list(targets)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(inputs[name])
    return found


def _check_cut(name, inputs, before, input_nodes):
    """Raises TypeError if a node of the part gets at what comes before it by another way than its inputs."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in seen or current in input_nodes:
            continue
        seen.add(current)
        if current in before:
            raise TypeError(f"Node {name} uses input {current} not in input_nodes.")
        waiting.extend(inputs[current])


@public("contrib.framework.fuse_op")
def fuse_op(graph_def, input_nodes, output_nodes, output_dtypes, output_quantized, op_name, op_type):
    """A GraphDef in which one node stands for the nodes between `input_nodes` and `output_nodes`.

    Args:
      graph_def: a GraphDef.
      input_nodes: a list of the names of nodes, which stay, that the part reads.
      output_nodes: a list of the names of nodes with one input each, which stay and read the new node.
      output_dtypes: a list of the numbers of its outputs' types, the attribute `_output_types`.
      output_quantized: whether they are quantized, the attribute `_output_quantized`.
      op_name, op_type: the new node's.

    Raises:
      TypeError: if `graph_def` is none, if names are not in a list, or if the part needs what comes before its inputs
        by another way.
      AssertionError: if there is no node of one of the names, and for an output node that has not one input.
    """
    if getattr(getattr(graph_def, "DESCRIPTOR", None), "name", None) != "GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for argument, names in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(names, str):
            raise TypeError(f"{argument} must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    inputs = {name: [_node_of(each) for each in node.input] for name, node in nodes.items()}
    before, needed = _reached(inputs, input_nodes), _reached(inputs, output_nodes)
    for name in nodes:
        if name in needed and name not in before and name not in output_nodes:
            _check_cut(name, inputs, before, set(input_nodes))

    fused = type(graph_def)()
    fused.node.extend(node for name, node in nodes.items() if name in before)
    new = fused.node.add(name=op_name, op=op_type)
    new.input.extend(input_nodes)
    new.attr["_output_types"].list.type.extend(output_dtypes)
    new.attr["_output_quantized"].b = output_quantized
    for index, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"{name} must have one input")
        output = fused.node.add()
        output.CopyFrom(nodes[name])
        del output.input[:]
        output.input.append(f"{op_name}:{index}" if index else op_name)
    fused.node.extend(node for name, node in nodes.items() if name not in needed and name not in before)
    fused.library.CopyFrom(graph_def.library)
    fused.versions.CopyFrom(graph_def.versions)
    return fused
