"""FunctionDef messages as graphs: FuncGraphs that can be run, and GraphDefs."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.functions.call import call_op_def
from stillflow.graph import op_def as op_defs
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_def import outputs_of_message
from stillflow.graph.graph_def import PRODUCER_VERSION
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.importer.import_graph_def import import_body
from stillflow.names import public
from stillflow.traced_functions.body import FuncGraph

_FIRST_WITH_FUNCTIONS = 12


@public("python.framework.function_def_to_graph.function_def_to_graph")
def function_def_to_graph(fdef, input_shapes=None, copy_functions=True):
    """A FuncGraph of a FunctionDef message, in which the arguments are placeholders.

    Args:
      fdef: the message.
      input_shapes: shapes of the arguments, None for unknown ones; by default those that the message has.
      copy_functions: has no effect, as a body reads the functions of the graph around it.

    Raises:
      NotFoundError: for a node of an unknown op.
      ValueError: for another number of shapes than arguments, or a message that makes no sense.
    """
    _check_shapes(fdef, input_shapes)
    definition = protobuf.message("FunctionDef").FromString(fdef.SerializeToString())
    if input_shapes:
        shapes = definition.attr["_input_shapes"].list
        del shapes.shape[:]
        shapes.shape.extend(as_shape(shape).as_proto() for shape in input_shapes)
    body = FuncGraph(fdef.signature.name)
    import_body(definition, body)
    return body


@public("python.framework.function_def_to_graph.function_def_to_graph_def")
def function_def_to_graph_def(fdef, input_shapes=None, copy_functions=True):
    """(a GraphDef of a FunctionDef message, {how the message calls a tensor: its name in the GraphDef}).

    Args:
      fdef: the message.
      input_shapes: shapes of the arguments, None for those to leave open.
      copy_functions: whether the GraphDef has all functions of the default graph, or only those that nodes call.

    Raises ValueError for another number of shapes than arguments, or where the default graph lacks a function.
    """
    _check_shapes(fdef, input_shapes)
    library = get_default_graph()._functions
    graph_def = protobuf.message("GraphDef")()
    graph_def.versions.producer = PRODUCER_VERSION
    graph_def.versions.min_consumer = _FIRST_WITH_FUNCTIONS if library and copy_functions else 0
    copied = dict(library) if copy_functions else {}
    names = {}
    for index, arg in enumerate(fdef.signature.input_arg):
        _add_argument(graph_def, fdef, index, input_shapes[index] if input_shapes else None)
        names[arg.name], names[f"^{arg.name}"] = f"{arg.name}:0", f"^{arg.name}"

    def find_op(name):
        if name not in library:
            return op_defs.find(name)
        copied[name] = library[name]
        return call_op_def(library[name].definition)

    for node in fdef.node_def:
        _check_functions(node, library)
        names[f"^{node.name}"] = f"^{node.name}"
        for number, (output, index) in enumerate(outputs_of_message(node, find_op)):
            names[f"{node.name}:{output}:{index}"] = f"{node.name}:{number}"
    graph_def.node.extend(fdef.node_def)
    for node in graph_def.node:
        node.input[:] = [names[text] for text in node.input]
    for function in copied.values():
        graph_def.library.function.append(function.definition)
    return graph_def, names


def _check_shapes(fdef, input_shapes):
    count = len(fdef.signature.input_arg)
    if input_shapes and len(input_shapes) != count:
        raise ValueError(
            f"Length of input_shapes must match the number of input_args. len(input_shapes): {len(input_shapes)} "
            f"len(input_arg): {count}"
        )


def _add_argument(graph_def, fdef, index, shape):
    """Adds the placeholder of an argument."""
    arg = fdef.signature.input_arg[index]
    node = graph_def.node.add(name=arg.name, op="Placeholder")
    node.attr["dtype"].type = arg.type
    if shape is not None:
        node.attr["shape"].shape.CopyFrom(TensorShape(shape).as_proto())
    if index in fdef.arg_attr:
        for key, value in fdef.arg_attr[index].attr.items():
            if key.startswith("_"):
                node.attr[key].CopyFrom(value)


def _check_functions(node, library):
    """Raises ValueError if the graph lacks a function that an attribute names."""
    for value in node.attr.values():
        calls = [value.func] if value.HasField("func") else value.list.func
        for call in calls:
            if call.name not in library:
                raise ValueError(f"{call.name} function not found.")
