"""Nodes that a NodeDef message describes, added one at a time by programs that make messages themselves."""

from __future__ import annotations

import re

from stillflow.formats import protobuf
from stillflow.graph import attr_value, device, op_def
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import infer_shapes
from stillflow.names import public

_VALID_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/]*")


@public("python.framework.ops._NodeDef")
def node_def_of(op_type, name, device=None, attrs=None):
    """A NodeDef message. `device` may be a function of it; `attrs` maps names to AttrValue messages."""
    node = protobuf.message("NodeDef")(op=op_type, name=name)
    for key, value in (attrs or {}).items():
        node.attr[key].CopyFrom(value)
    if device is not None:
        node.device = device(node) if callable(device) else _device_text(device)
    return node


def _device_text(value):
    return device.canonical_name(value) if hasattr(value, "to_string") else value


def add_node(graph, op, node_def, inputs, control_inputs):
    """Makes the Operation `op` a node of the graph. Raises as its construction does."""
    if not isinstance(node_def, protobuf.message("NodeDef")):
        raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
    if not _VALID_NAME.fullmatch(node_def.name):
        raise ValueError(f"{node_def.name!r} is not a valid node name")
    if node_def.name in graph._by_name:
        raise ValueError(f"Duplicate node name in graph: {node_def.name!r}")
    for tensor in inputs:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"input needs to be a Tensor: {tensor}")
    declared = op_def.find(node_def.op)
    if declared is None:
        raise ValueError(f"Op type not registered {node_def.op!r} in binary running on this machine.")
    controls = [getattr(each, "op", each) for each in control_inputs]
    number, attrs = len(graph._operations) + 1, _attrs_of(node_def, declared, inputs)
    op._set_up(graph, declared, node_def.name, number, list(inputs), controls, attrs)
    op._control_flow_context = graph._control_flow_context
    op._device = node_def.device
    infer_shapes(op)
    graph._operations.append(op)
    graph._by_name[op._name] = op
    graph._names_in_use.setdefault(op._name.lower(), 1)
    graph._place_in_context(op)


def _attrs_of(node_def, declared, inputs):
    """The attributes: as given, of the types of single inputs, and by default."""
    attrs = {key: attr_value.from_message(value) for key, value in node_def.attr.items()}
    for arg, tensor in zip(declared.inputs, inputs, strict=False):
        if arg.is_list:
            break
        if arg.type_attr is not None:
            attrs.setdefault(arg.type_attr, tensor.dtype.base_dtype)
    for key, attr in declared.attrs.items():
        if attr.has_default:
            attrs.setdefault(key, attr.default)
        elif key not in attrs:
            raise ValueError(f"NodeDef missing attr '{key}' of Op<name={declared.name}>")
    return attrs
