"""Names of nodes and tensors in graphs, those of the debugger's own nodes included."""

from __future__ import annotations


def parse_node_or_tensor_name(name):
    """(node, output) of "node:1"; (name, None) for what is the name of a node."""
    node, colon, slot = name.rpartition(":")
    if not colon or not slot:
        return name, None
    return node, int(slot)


def get_node_name(element_name):
    """The node of a node's or tensor's name."""
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name):
    """The output that a name speaks of, 0 if it does not say."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name):
    """Whether a node is the debugger's copy of a tensor."""
    return node_name.startswith("__copy_")


def is_debug_node(node_name):
    """Whether a node is a debug op."""
    return node_name.startswith("__dbg_")


def parse_debug_node_name(node_name):
    """(watched node, output, number of the debug op, debug op) of "__dbg_node:1_0_DebugIdentity".

    Raises ValueError for other names.
    """
    if not is_debug_node(node_name):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    parts = node_name.removeprefix("__dbg_").rsplit("_", 2)
    if len(parts) < 3:
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    tensor, index, debug_op = parts
    if tensor.count(":") != 1:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    node, _, slot = tensor.partition(":")
    return node, int(slot), int(index), debug_op
