"""Graphs of watched runs: GraphDefs with the debugger's nodes in them, and what they are without."""

from __future__ import annotations

from stillflow.debug.dumps.element_names import (  # noqa: F401  names of this module in TensorFlow
    get_node_name,
    get_output_slot,
    is_copy_node,
    is_debug_node,
    parse_debug_node_name,
    parse_node_or_tensor_name,
)
from stillflow.formats import protobuf
from stillflow.names import public, public_module
from stillflow.ops.registered import get_registered_ops
from stillflow.platform import logging

public_module("python.debug.lib.debug_graphs")


class DebugGraph:
    """The nodes of a device's GraphDef, without those of the debugger.

    Each of the `node_...` properties is a dict by the names of nodes. Inputs are names as in GraphDefs, recipients
    are names of nodes.

    Args:
      debug_graph_def: the GraphDef of one device.
      device_name: the device; by default that of the first node that has one.

    Raises ValueError if two nodes have one name.
    """

    def __init__(self, debug_graph_def, device_name=None):
        self.debug_graph_def = debug_graph_def
        self.device_name = device_name or _infer_device_name(debug_graph_def)
        self.node_attributes: dict = {}
        self.node_op_types: dict = {}
        self.node_devices: dict = {}
        self.node_inputs: dict = {}
        self.node_ctrl_inputs: dict = {}
        self.node_reversed_ref_inputs: dict = {}
        self._non_debug_graph_def = None
        copies = {
            node.name: node.input[0]
            for node in debug_graph_def.node
            if is_copy_node(node.name) and not is_debug_node(node.name)
        }
        for node in debug_graph_def.node:
            if not is_debug_node(node.name):
                self._add(node, copies)
        self.node_recipients: dict = {name: [] for name in self.node_inputs}
        self.node_ctrl_recipients: dict = {name: [] for name in self.node_inputs}
        self._find_recipients(debug_graph_def, copies)

    def _add(self, node, copies):
        if node.name in self.node_op_types:
            raise ValueError(f"Duplicate node name on device {self.device_name}: '{node.name}'")
        self.node_attributes[node.name] = node.attr
        self.node_op_types[node.name] = node.op
        self.node_devices[node.name] = {node.device or self.device_name}
        if node.name not in copies:
            self.node_inputs[node.name] = [copies.get(name, name) for name in node.input if name[0] != "^"]
            controls = [name[1:] for name in node.input if name[0] == "^"]
            self.node_ctrl_inputs[node.name] = [name for name in controls if not is_debug_node(name)]

    def _find_recipients(self, graph_def, copies):
        # What the debugger's copy is sent to another device by waits for nobody.
        senders = {
            node.name
            for node in graph_def.node
            if node.op in ("_Send", "_Retval") and not copies.keys().isdisjoint(node.input)
        }
        references = _reference_outputs(graph_def)
        for name, inputs in self.node_inputs.items():
            for source in map(get_node_name, inputs):
                self.node_recipients.setdefault(source, []).append(name)
                if source in references:
                    self.node_reversed_ref_inputs.setdefault(source, []).append(name)
        for name, controls in self.node_ctrl_inputs.items():
            for source in controls:
                if source not in senders:
                    self.node_ctrl_recipients.setdefault(source, []).append(name)

    @property
    def non_debug_graph_def(self):
        """The GraphDef as it is without a debugger."""
        if self._non_debug_graph_def is None:
            self._non_debug_graph_def = protobuf.message("GraphDef")()
            for node in self.debug_graph_def.node:
                if not (is_copy_node(node.name) or is_debug_node(node.name)):
                    kept = self._non_debug_graph_def.node.add()
                    kept.CopyFrom(node)
                    controls = [f"^{name}" for name in self.node_ctrl_inputs[node.name]]
                    kept.input[:] = self.node_inputs[node.name] + controls
        return self._non_debug_graph_def


def _reference_outputs(graph_def):
    """The names of outputs that are references, as inputs name them."""
    op_defs = get_registered_ops()
    found = set()
    for node in graph_def.node:
        op_def = op_defs.get(node.op)
        for i, output in enumerate(op_def.output_arg if op_def is not None else ()):
            if output.is_ref:
                found.add(f"{node.name}:{i}" if i else node.name)
    return found


def _infer_device_name(graph_def):
    device = next((node.device for node in graph_def.node if node.device), None)
    if device is None:
        logging.warn(
            "Failed to infer device name from partition GraphDef: none of the nodes of the GraphDef has a non-empty "
            "device name."
        )
    return device


@public("python.debug.reconstruct_non_debug_graph_def")
def reconstruct_non_debug_graph_def(debug_graph_def):
    """A GraphDef without the debugger's nodes. Control edges and the parallel iterations of loops may differ."""
    return DebugGraph(debug_graph_def).non_debug_graph_def
