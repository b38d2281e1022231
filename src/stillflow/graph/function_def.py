"""FunctionDef: a function's body as TensorFlow 1.15.5 writes it, and as a GraphDef that can be imported.

In a FunctionDef outputs of nodes have the names of their ops' outputs: "MatMul:product:0", and arguments no number.
"""

from __future__ import annotations

import re

from stillflow import errors
from stillflow.formats import protobuf
from stillflow.graph import op_def as op_defs
from stillflow.graph.attr_value import set_message
from stillflow.graph.graph_def import PRODUCER_VERSION, fill_node_def
from stillflow.names import public


class _Names:
    """The names of arguments, results and nodes, which must differ."""

    def __init__(self):
        self._used = set()

    def of_argument(self, node_name):
        """A name for what the node brings in or out: small letters, digits and underscores."""
        normalized = re.sub(r"[^a-z0-9]", "_", node_name.lower())
        normalized = re.sub(r"^[^a-z]*", "", normalized) or "unknown"
        return self.of_node(normalized)

    def of_node(self, name):
        found, number = name, 0
        while found in self._used:
            found, number = f"{name}_{number}", number + 1
        self._used.add(found)
        return found


def function_def_message(graph, name, description="", attrs=None, output_names=None):
    """The FunctionDef of a function's body.

    Args:
      graph: the body, with `inputs`, `outputs` and `control_outputs`.
      name: the function's name.
      description: for its signature.
      attrs: attributes of the function.
      output_names: what the results are called, instead of names made of those of their nodes.
    """
    proto = protobuf.message("FunctionDef")()
    signature = proto.signature
    signature.name = name
    signature.description = description
    arguments = {tensor._op for tensor in graph.inputs}
    nodes = [op for op in graph.get_operations() if op not in arguments]
    names = _Names()
    for index, tensor in enumerate(graph.outputs):
        result = output_names[index] if output_names else names.of_argument(tensor._op._name)
        signature.output_arg.add(name=result, type=tensor._dtype.as_datatype_enum)
    tensors = {}  # Tensor -> how the body calls it
    for index, tensor in enumerate(graph.inputs):
        argument = names.of_argument(tensor._op._name)
        signature.input_arg.add(name=argument, type=tensor._dtype.as_datatype_enum)
        tensors[tensor] = argument
        marks = {key: value for key, value in tensor._op._attrs.items() if key.startswith("_")}
        arg_attrs = proto.arg_attr[index]
        for key, value in marks.items():
            set_message(arg_attrs.attr[key], value)
    node_names = {op: names.of_node(op._name) for op in nodes}
    for op in nodes:
        for tensor, (output, index) in zip(op._outputs, _output_names(op._op_def, op._attrs), strict=True):
            tensors[tensor] = f"{node_names[op]}:{output}:{index}"
    for op in nodes:
        _fill_node(proto.node_def.add(), op, node_names, tensors)
        signature.is_stateful = signature.is_stateful or op._op_def.is_stateful
    for tensor, output in zip(graph.outputs, signature.output_arg, strict=True):
        proto.ret[output.name] = tensors[tensor]
    for op in graph.control_outputs:
        signature.control_output.append(node_names[op])
        proto.control_ret[node_names[op]] = node_names[op]
    for key, value in (attrs or {}).items():
        set_message(proto.attr[key], value)
    return proto


@public("python.framework.graph_to_function_def.graph_to_function_def")
def graph_to_function_def(graph, operations, inputs, outputs, out_names=None):
    """The FunctionDef, named "_", of some of a graph's operations.

    Args:
      graph: the graph.
      operations: the operations, in order; placeholders among `inputs` are no nodes of the function.
      inputs: the tensors that are arguments.
      outputs: the tensors that are results.
      out_names: what the results are called, by default after their operations.

    Raises InvalidArgumentError for another number of names than outputs, ValueError for names that are the same.
    """
    if out_names is not None and len(out_names) != len(outputs):
        raise errors.InvalidArgumentError(
            None,
            None,
            "output names must be either empty or equal in size to outputs. "
            f"output names size = {len(out_names)} outputs size = {len(outputs)}",
        )
    if out_names is not None and len(out_names) != len(set(out_names)):
        raise ValueError(f"Must not have duplicates in out_names: {', '.join(out_names)}")
    proto = protobuf.message("FunctionDef")()
    proto.signature.name = "_"
    arguments = {tensor._op for tensor in inputs}
    nodes = [op for op in operations if op not in arguments]
    names, tensors = _Names(), {}
    for tensor in inputs:
        tensors[tensor] = names.of_argument(tensor._op._name)
        proto.signature.input_arg.add(name=tensors[tensor], type=tensor._dtype.base_dtype.as_datatype_enum)
    for op in nodes:
        for tensor, (output, index) in zip(op._outputs, _output_names(op._op_def, op._attrs), strict=True):
            tensors.setdefault(tensor, f"{op._name}:{output}:{index}")
    for op in nodes:
        _fill_node(proto.node_def.add(), op, {other: other._name for other in nodes}, tensors)
        proto.signature.is_stateful = proto.signature.is_stateful or op._op_def.is_stateful
    names = _Names()
    for index, tensor in enumerate(outputs):
        name = out_names[index] if out_names else names.of_argument(tensor._op._name)
        proto.signature.output_arg.add(name=name, type=tensor._dtype.base_dtype.as_datatype_enum)
        proto.ret[name] = tensors[tensor]
    return proto


def _fill_node(proto, op, node_names, tensors):
    fill_node_def(proto, op)
    proto.name = node_names[op]
    del proto.input[:]
    proto.input.extend(tensors[tensor] for tensor in op._inputs)
    proto.input.extend(sorted(_control_names(op, node_names, tensors)))


def _control_names(op, node_names, tensors):
    """How the body calls the operations that `op` waits for: nodes, and arguments."""
    for control in op._control_inputs:
        if control in node_names:
            yield f"^{node_names[control]}"
        elif control._outputs and control._outputs[0] in tensors:
            yield f"^{tensors[control._outputs[0]]}"


def _output_names(op_def, attrs):
    """(name, index in a list or 0) of each output."""
    found: list = []
    for arg in op_def.outputs:
        count = 1
        if arg.type_list_attr is not None:
            count = len(attrs[arg.type_list_attr])
        elif arg.number_attr is not None:
            count = attrs[arg.number_attr]
        found.extend((arg.name, index) for index in range(count))
    return found


# ---- As a GraphDef --------------------------------------------------------------------------------------------


def graph_def_of_function(definition, find_op=op_defs.find):
    """A GraphDef in which arguments are placeholders, and the names in it of arguments, results and controls.

    `find_op` gives the OpDef of a type, or None.

    Raises:
      NotFoundError: for a node of an unknown op.
      ValueError: for arguments that are lists or of a type that the caller chooses, and for what nothing makes.
    """
    signature = definition.signature
    graph_def = protobuf.message("GraphDef")()
    graph_def.versions.producer = PRODUCER_VERSION
    tensors = {}  # how the body calls a tensor -> its name in the GraphDef
    shapes = definition.attr["_input_shapes"].list.shape if "_input_shapes" in definition.attr else ()
    for index, arg in enumerate(signature.input_arg):
        if not arg.type:
            raise ValueError(f"Function {signature.name}: argument {arg.name} is not of one type")
        node = graph_def.node.add(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
        node.attr["shape"].shape.unknown_rank = True
        if index < len(shapes):
            node.attr["shape"].shape.CopyFrom(shapes[index])
        if index in definition.arg_attr:
            for key, value in definition.arg_attr[index].attr.items():
                node.attr[key].CopyFrom(value)
        tensors[arg.name] = arg.name
    for node_def in definition.node_def:
        for number, (output, index) in enumerate(outputs_of_message(node_def, find_op)):
            tensors[f"{node_def.name}:{output}:{index}"] = f"{node_def.name}:{number}"
            if index == 0:
                tensors[f"{node_def.name}:{output}"] = f"{node_def.name}:{number}"
    for node_def in definition.node_def:
        node = graph_def.node.add()
        node.CopyFrom(node_def)
        del node.input[:]
        node.input.extend(_flat_name(text, tensors, signature.name) for text in node_def.input)
    _keep_inner_colocation(graph_def)
    inputs = [f"{arg.name}:0" for arg in signature.input_arg]
    results = [_flat_name(definition.ret[arg.name], tensors, signature.name) for arg in signature.output_arg]
    outputs = [name if ":" in name else f"{name}:0" for name in results]
    controls = [definition.control_ret[name] for name in signature.control_output]
    return graph_def, inputs, outputs, controls


def _keep_inner_colocation(graph_def):
    """Takes out where nodes say that they are placed with nodes outside of the function."""
    names = {node.name for node in graph_def.node}
    for node in graph_def.node:
        if "_class" in node.attr:
            groups = node.attr["_class"].list.s
            inner = [group for group in groups if group[len(b"loc:@") :].decode("utf-8", "replace") in names]
            del groups[:]
            groups.extend(inner)
            if not inner:
                del node.attr["_class"]


def _flat_name(text, tensors, function_name):
    if text.startswith("^"):
        return text
    if text not in tensors:
        raise ValueError(f"Function {function_name}: nothing makes {text!r}")
    return tensors[text]


def outputs_of_message(node_def, find_op):
    op_def = find_op(node_def.op)
    if op_def is None:
        raise errors.NotFoundError(
            None,
            None,
            f"Op type not registered '{node_def.op}' in binary running on this machine. Make sure the Op and Kernel "
            "are registered in the binary running in this process.",
        )
    lengths = {}
    for arg in op_def.outputs:
        for name in (arg.type_list_attr, arg.number_attr):
            if name is None:
                continue
            if name in node_def.attr:
                value = node_def.attr[name]
                lengths[name] = range(value.i) if arg.number_attr else value.list.type
            else:
                default = op_def.attrs[name].default
                lengths[name] = range(default or 0) if arg.number_attr else default or ()
    return _output_names(op_def, {k: len(v) if isinstance(v, range) else v for k, v in lengths.items()})
