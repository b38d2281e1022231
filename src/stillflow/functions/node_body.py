"""NodeBody: the body of a function that a node If or While calls, built where the node is."""

from __future__ import annotations

from stillflow import ops
from stillflow.functions import numbers
from stillflow.functions.taped_graph import TapedGraph
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import FUNCTIONAL_VERSIONS


class NodeBody(TapedGraph):
    """A body that adds to the collections of the graph around it.

    Conditions, loops and TensorArrays in it are such as can be differentiated from outside: nodes that call functions
    again, and lists.
    """

    versions = FUNCTIONAL_VERSIONS

    def __init__(self, name):
        super().__init__(name)
        self._collections = self.outer_graph._collections
        self.structure = None  # of what the function returned
        self.results: list = []  # its parts, TensorArrays among them
        self.control_captures = {}  # operations outside that the body waits for

    def control_dependencies(self, control_inputs):
        for item in control_inputs or ():
            op = getattr(item, "op", item)
            if op is not None and not self._is_inside(item):
                self.control_captures[op] = None
        return super().control_dependencies(control_inputs)


def names_of_bodies(scope, *parts):
    """The names of a node's functions, chosen before anything is added."""
    return [f"{scope}{part}_{numbers.next_of_name(get_default_graph())}".replace("/", "_") for part in parts]


def match_captures(bodies):
    """Has all bodies take in the same tensors, as their last arguments and in one order; returns these tensors."""
    tensors = list(dict.fromkeys(tensor for body in bodies for tensor in body.external_captures))
    for body in bodies:
        first = body.inputs[: len(body.inputs) - len(body._captures)]
        for tensor in tensors:
            if tensor not in body._captures:
                with body.as_default(), body.control_dependencies(None):
                    body._captures[tensor] = ops.placeholder(tensor.dtype.base_dtype, tensor.shape)
        body._captures = {tensor: body._captures[tensor] for tensor in tensors}
        body.inputs = [*first, *body._captures.values()]
        numbers.end_function(body)
    return tensors


def results_of(outputs):
    """The results of a node that calls functions, each an operation: fetching the node itself would run all of it."""
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    op = outputs[0].op
    op._attrs["_lower_using_switch_merge"] = True
    results = [ops.identity(output) for output in outputs]
    get_default_graph().prevent_fetching(op)
    return results
