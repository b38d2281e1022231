"""NodeDefs read and checked, before any of them becomes a node."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from stillflow import errors
from stillflow.functions.call import call_op_def
from stillflow.graph import attr_value, dtypes
from stillflow.graph import op_def as op_defs
from stillflow.graph.shape import TensorShape

_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/>]*\Z")
_MOST_OUTPUTS = 1 << 20
_MOST_CONSTANT_BYTES = 1 << 31
_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape",
           "tensor": "tensor", "func": "func"}  # fmt: skip
_KINDS = {field: kind for kind, field in _FIELDS.items()}


@dataclass(slots=True)
class ParsedNode:
    """A NodeDef whose attributes and number of inputs fit its op."""

    name: str
    op_def: Any
    device: str
    inputs: list  # (name of a node, output)
    control_inputs: list  # names of nodes
    attrs: dict
    input_args: list  # (Arg, dtype) for each input
    output_dtypes: list
    output_dims: list | None  # what `_output_shapes` says
    position: int
    waiting: int = 0  # how many nodes it waits for
    readers: list = field(default_factory=list)


def parse_nodes(graph_def, prefix, producer_ops, functions, mapped):
    """{name: ParsedNode} of a GraphDef.

    `producer_ops` maps op types to OpDef messages of who wrote it, `functions` names to FunctionDef messages: a node
    may have the name of a function for its type. The inputs `mapped`, which have been parsed, are of other nodes.

    Raises:
      NotFoundError: for an unknown op type.
      ValueError: for what is wrong with a node.
    """
    names: set = set()
    for node_def in graph_def.node:
        if not _NODE_NAME.match(node_def.name):
            raise ValueError(f"Node '{node_def.name}': Node name contains invalid characters")
        if node_def.name in names:
            raise ValueError(f"Node '{node_def.name}' is not unique")
        names.add(node_def.name)
    for node_def in graph_def.node:
        for text in node_def.input:
            key = parse_input_name(text)
            if key not in mapped and (key[1] if key[0] == "^" else key[0]) not in names:
                raise ValueError(f"Node '{node_def.name}': Unknown input node '{text}'")
    return {
        node_def.name: _parse_node(node_def, position, prefix, producer_ops, functions)
        for position, node_def in enumerate(graph_def.node)
    }


def _parse_node(node_def, position, prefix, producer_ops, functions):
    op_def = op_defs.find(node_def.op)
    if op_def is None and node_def.op in functions:
        op_def = call_op_def(functions[node_def.op])
    if op_def is None:
        raise errors.NotFoundError(
            None,
            None,
            f"Op type not registered '{node_def.op}' in binary running on this machine. Make sure the Op and Kernel "
            "are registered in the binary running in this process.",
        )
    inputs, controls = _parse_inputs(node_def)
    attrs, output_shapes = _parse_attrs(node_def, op_def, prefix, producer_ops)
    input_args = _input_args(node_def, op_def, attrs, len(inputs))
    for arg in op_def.outputs:
        if arg.number_attr is not None and attrs[arg.number_attr] > _MOST_OUTPUTS:
            raise _node_error(f"attr '{arg.number_attr}' asks for {attrs[arg.number_attr]} outputs", node_def)
    output_dtypes = op_def.output_dtypes(attrs)
    return ParsedNode(
        node_def.name, op_def, node_def.device, inputs, controls, attrs, input_args, output_dtypes, output_shapes,
        position,
    )  # fmt: skip


def _node_error(text, node_def, prefix=""):
    return ValueError(f"{text}; NodeDef: {{{{node {prefix}{node_def.name}}}}}")


def _parse_inputs(node_def):
    inputs: list = []
    controls: list = []
    for text in node_def.input:
        if text.startswith("^"):
            controls.append(text[1:])
            continue
        if controls:
            raise ValueError(f"Node '{node_def.name}': Control dependencies must come after regular dependencies")
        inputs.append(parse_tensor_name(text))
    return inputs, controls


def parse_input_name(text):
    """(name, output) of a tensor's name, ("^", name) of "^name"."""
    return ("^", text[1:]) if text.startswith("^") else parse_tensor_name(text)


def parse_tensor_name(text):
    """(name, output) of "name" or "name:output"."""
    name, colon, port = text.rpartition(":")
    if colon and port.isascii() and port.isdigit() and len(port) < 20:
        return name, int(port)
    return text, 0


# ---- Attributes -----------------------------------------------------------------------------------------------


def _parse_attrs(node_def, op_def, prefix, producer_ops):
    attrs = {}
    for name, attr in op_def.attrs.items():
        if name in node_def.attr:
            attrs[name] = _attr(node_def, attr, node_def.attr[name])
        elif attr.has_default:
            attrs[name] = attr.default
        else:
            raise _node_error(f"NodeDef missing attr '{name}' from {_summary(op_def)}", node_def, prefix)
    output_shapes = None
    for name in sorted(node_def.attr):
        if name in op_def.attrs:
            continue
        proto = node_def.attr[name]
        if name == "_output_shapes":
            output_shapes = [TensorShape(shape)._dims for shape in proto.list.shape]
        elif name.startswith("_"):
            attrs[name] = attr_value.from_message(proto)
        elif not _is_new_default(node_def.op, name, proto, producer_ops):
            raise ValueError(
                f"NodeDef mentions attr '{name}' not in {_summary(op_def)}; NodeDef: {{{{node {prefix}"
                f"{node_def.name}}}}}. (Check whether your GraphDef-interpreting binary is up to date with your "
                "GraphDef-generating binary.)."
            )
    return attrs, output_shapes


def _is_new_default(op_type, name, proto, producer_ops):
    """Whether whoever wrote the graph knows the attribute, and it says there what it says when left out."""
    producer = producer_ops.get(op_type)
    if producer is None:
        return False
    return any(
        attr.name == name and attr.HasField("default_value") and attr.default_value == proto for attr in producer.attr
    )


def _attr(node_def, attr, proto):
    kind = proto.WhichOneof("value")
    is_list = attr.kind.startswith("list(")
    wanted = attr.kind[5:-1] if is_list else attr.kind
    found = "list" if kind == "list" else _KINDS.get(kind or "", "none")
    if found != ("list" if is_list else wanted) or (is_list and _has_other_items(proto.list, _FIELDS[wanted])):
        raise ValueError(
            f"Node '{node_def.name}': AttrValue had value with type '{found}' when '{attr.kind}' expected for attr "
            f"'{attr.name}'"
        )
    try:
        if wanted == "tensor" and not is_list:
            _check_size(proto.tensor)
        value = attr_value.from_message(proto)
    except (TypeError, KeyError, OverflowError) as error:
        raise ValueError(f"Node '{node_def.name}': attr '{attr.name}' cannot be read: {error}") from None
    _check_attr(node_def, attr, value)
    return value


def _check_size(proto):
    """Raises ValueError for a constant that is written with a few values and is far too large in full."""
    count = 1
    for dim in proto.tensor_shape.dim:
        count *= max(dim.size, 0)
    if count * dtypes.as_dtype(proto.dtype).size > _MOST_CONSTANT_BYTES:
        raise ValueError(f"Cannot parse tensor from proto: a constant of {count} elements is too large")


def _has_other_items(message, wanted):
    return any(len(getattr(message, name)) for name in _FIELDS.values() if name != wanted)


def _item_text(item):
    """A value that an attribute may have, as TensorFlow writes it."""
    return item._c_name if isinstance(item, dtypes.DType) else f'"{item.decode("utf-8", "backslashreplace")}"'


def _check_attr(node_def, attr, value):
    items = value if isinstance(value, tuple) else (value,)
    if attr.allowed is not None:
        for item in items:
            if item not in attr.allowed:
                wanted = ", ".join(map(_item_text, attr.allowed))
                text = f"Value for attr '{attr.name}' of {_item_text(item)} is not in the list of allowed values"
                raise _node_error(f"{text}: {wanted}", node_def)
    if attr.kind in ("type", "list(type)") and any(item._is_ref_dtype for item in items):
        raise _node_error(f"AttrValue must not have reference type value for attr '{attr.name}'", node_def)
    if attr.minimum is not None and (len(value) if isinstance(value, tuple) else value) < attr.minimum:
        raise _node_error(f"Value for attr '{attr.name}' must be at least minimum {attr.minimum}", node_def)
    is_constant = attr.kind == "tensor" and attr.name == "value" and node_def.op == "Const"
    if is_constant and node_def.attr["dtype"].type != value.dtype.as_datatype_enum:
        raise _node_error(f"Constant of type {value.dtype.name} in a node of another type", node_def)


# ---- Inputs ---------------------------------------------------------------------------------------------------


def _input_args(node_def, op_def, attrs, count):
    """(Arg, dtype) for each input. Raises ValueError if there are more or fewer inputs than the op has."""
    found: list = []
    for arg in op_def.inputs:
        if arg.type_list_attr is not None:
            found.extend((arg, dtype) for dtype in attrs[arg.type_list_attr])
            continue
        dtype = arg.dtype if arg.dtype is not None else attrs[arg.type_attr]
        number = 1 if arg.number_attr is None else attrs[arg.number_attr]
        if number > count:
            found.extend([(arg, dtype)] * (count + 1))
            break
        found.extend([(arg, dtype)] * number)
    if len(found) != count:
        expected = ", ".join(dtype._c_name for _, dtype in found[:16])
        raise _node_error(
            f"NodeDef expected inputs '{expected}' do not match {count} inputs specified; {_summary(op_def)}",
            node_def,
        )
    return found


def _summary(op_def):
    def arg_text(arg):
        kind = arg.dtype.name if arg.dtype is not None else arg.type_attr or arg.type_list_attr
        kind = f"{arg.number_attr}*{kind}" if arg.number_attr else kind
        return f"{arg.name}:{f'Ref({kind})' if arg.is_ref else kind}"

    inputs, outputs = (", ".join(map(arg_text, args)) for args in (op_def.inputs, op_def.outputs))
    attrs = "".join(f"; attr={attr.name}:{attr.kind}" for attr in op_def.attrs.values())
    return f"Op<name={op_def.name}; signature={inputs} -> {outputs}{attrs}>"
