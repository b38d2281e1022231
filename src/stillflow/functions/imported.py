"""The body of a function that came with a GraphDef."""

from __future__ import annotations

from stillflow.formats.function_def import graph_def_of_function
from stillflow.functions.function_graph import FunctionGraph


def imported_body(definition, outer_graph):
    """The FunctionGraph of a FunctionDef message, which may call the functions of `outer_graph`."""
    from stillflow.importer import import_graph_def

    graph_def, inputs, outputs, controls = graph_def_of_function(definition)
    body = FunctionGraph(definition.signature.name, outer_graph)
    body._functions = outer_graph._functions
    with body.as_default():
        elements = import_graph_def(graph_def, return_elements=[*inputs, *outputs, *controls], name="")
    body.inputs = elements[: len(inputs)]
    body.outputs = elements[len(inputs) : len(inputs) + len(outputs)]
    body.control_outputs = elements[len(inputs) + len(outputs) :]
    return body
