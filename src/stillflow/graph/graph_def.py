"""GraphDef, NodeDef and OpDef messages of graphs and ops, as TensorFlow 1.15.5 writes them."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.attr_value import set_message
from stillflow.graph.shape import TensorShape

PRODUCER_VERSION = 134  # TensorFlow 1.15.5
_FIRST_WITH_FUNCTIONS = 12  # the version of GraphDefs


def graph_def_message(graph, from_version=None, add_shapes=False):
    """The GraphDef of a graph, or of the nodes made after `from_version`."""
    proto = protobuf.message("GraphDef")()
    proto.versions.producer = PRODUCER_VERSION if graph._producer is None else graph._producer
    proto.versions.min_consumer = graph._min_consumer
    for function in graph._functions.values():
        proto.versions.min_consumer = max(_FIRST_WITH_FUNCTIONS, graph._min_consumer)
        proto.library.function.append(function.definition)
        if add_shapes and function.traced_body is not None:
            add_shapes_of_body(proto.library.function[-1], function.traced_body)
        if function.gradient_name is not None:
            proto.library.gradient.add(function_name=function.name, gradient_func=function.gradient_name)
    for op in graph.get_operations()[from_version or 0 :]:
        fill_node_def(proto.node.add(), op)
        if add_shapes and op._outputs:
            shapes = tuple(TensorShape._of(tensor._dims) for tensor in op._outputs)
            set_message(proto.node[-1].attr["_output_shapes"], shapes)
    return proto


def add_shapes_of_body(proto, body):
    """Adds what is known of the shapes of its arguments and nodes to the FunctionDef message of a function."""
    handles = [tensor._dtype is dtypes.resource for tensor in body.inputs]
    sizes = [None if is_handle else tensor._dims for is_handle, tensor in zip(handles, body.inputs, strict=True)]
    set_message(proto.attr["_input_shapes"], tuple(map(TensorShape._of, sizes)))
    operations = {op._name: op for op in body.get_operations()}
    for node in proto.node_def:
        if node.name in operations:
            shapes = tuple(TensorShape._of(tensor._dims) for tensor in operations[node.name]._outputs)
            set_message(node.attr["_output_shapes"], shapes)


def node_def_message(op):
    proto = protobuf.message("NodeDef")()
    fill_node_def(proto, op)
    return proto


def fill_node_def(proto, op):
    proto.name = op._name
    proto.op = op.type
    proto.device = op._device
    for tensor in op._inputs:
        port = tensor._value_index
        proto.input.append(f"{tensor._op._name}:{port}" if port else tensor._op._name)
    proto.input.extend(sorted(f"^{control._name}" for control in op._control_inputs))
    for name, value in op._attrs.items():
        set_message(proto.attr[name], value)


def op_def_message(op_def):
    """The OpDef of an op, without documentation."""
    proto = protobuf.message("OpDef")(name=op_def.name, is_stateful=op_def.is_stateful)
    proto.is_commutative = op_def.is_commutative
    proto.is_aggregate = op_def.is_aggregate
    proto.allows_uninitialized_input = op_def.allows_uninitialized_input
    for args, messages in ((op_def.inputs, proto.input_arg), (op_def.outputs, proto.output_arg)):
        for arg in args:
            message = messages.add(name=arg.name, is_ref=arg.is_ref)
            message.type = 0 if arg.dtype is None else arg.dtype.as_datatype_enum
            message.type_attr = arg.type_attr or ""
            message.type_list_attr = arg.type_list_attr or ""
            message.number_attr = arg.number_attr or ""
    for attr in op_def.attrs.values():
        message = proto.attr.add(name=attr.name, type=attr.kind)
        if attr.has_default:
            set_message(message.default_value, attr.default)
        if attr.minimum is not None:
            message.has_minimum = True
            message.minimum = attr.minimum
        if attr.allowed is not None:
            set_message(message.allowed_values, attr.allowed)
    return proto
