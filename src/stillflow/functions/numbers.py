"""The numbers in the names of functions. TensorFlow numbers functions, tensors and variables in one sequence.

Its sequence is that of the process; here each graph has its own, so that names do not depend on what else the process
does. In a process with one graph they are TensorFlow's.
"""

from __future__ import annotations

from stillflow.functions.function_graph import FunctionGraph


def next_number(graph):
    """The number for a function whose body, `graph`, is complete."""
    return _take(graph, 2)


def next_of_name(graph):
    """A number of its own for a name, in a graph that goes on."""
    return _take(graph, 1) - 1


def _take(graph, how_many):
    count = 0
    while isinstance(graph, FunctionGraph):
        count += _tensors(graph)
        graph = graph.outer_graph
    number = count + _tensors(graph) + _resource_variables(graph) + graph._numbers_of_functions + 1
    graph._numbers_of_functions += how_many
    return number


def end_function(body):
    """Counts the tensors of a function that is complete."""
    outer = body.outer_graph
    count = _tensors(body)
    while isinstance(outer, FunctionGraph):
        outer = outer.outer_graph
    outer._numbers_of_functions += count


def _tensors(graph):
    return sum(len(op._outputs) for op in graph._operations)


def _resource_variables(graph):
    return sum(op._op_def.special == "handle" for op in graph._operations)
