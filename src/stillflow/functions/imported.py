"""The body of a function that came with a GraphDef."""

from __future__ import annotations

from stillflow.formats.function_def import graph_def_of_function
from stillflow.functions.call import call_op_def
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import op_def as op_defs


def imported_body(definition, outer_graph):
    """The FunctionGraph of a FunctionDef message, which may call the functions of `outer_graph`."""
    from stillflow.importer import import_graph_def

    def find_op(name):
        found = op_defs.find(name)
        if found is None and name in outer_graph._functions:
            found = call_op_def(outer_graph._functions[name].definition)
        return found

    graph_def, inputs, outputs, controls = graph_def_of_function(definition, find_op)
    body = FunctionGraph(definition.signature.name, outer_graph)
    body._functions = outer_graph._functions
    with body.as_default():
        elements = import_graph_def(graph_def, return_elements=[*inputs, *outputs, *controls], name="")
    body.inputs = elements[: len(inputs)]
    body.outputs = elements[len(inputs) : len(inputs) + len(outputs)]
    body.control_outputs = elements[len(inputs) + len(outputs) :]
    return body
