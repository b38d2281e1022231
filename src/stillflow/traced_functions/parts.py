"""BodyPart: some of a body's nodes as the body of a function of its own; how such functions are called."""

from __future__ import annotations

from stillflow import ops
from stillflow.functions.function import Function
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.operation import Operation
from stillflow.traced_functions import options


class BodyPart:
    """The nodes of a function's body between `inputs` and `outputs`.

    It shares the nodes with the body and with other parts of it: the inference function, that which also returns what
    gradients need, and the gradients.
    """

    def __init__(self, body, name, inputs, outputs, control_outputs=(), operations=None):
        self.name = name
        self.body = body
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.control_outputs = list(control_outputs)
        self.outer_graph = body.outer_graph
        self.external_captures: list = []
        self._operations = operations

    @property
    def _functions(self):
        return self.body._functions

    def always_run(self):
        """The operations that run in each call, see FunctionGraph: the traced body has said which these are."""
        return self.control_outputs

    def get_operations(self):
        """The nodes: those that were there when the part was made, or those it needs."""
        return list(self._operations)


class CallableFunction:
    """A function of a graph's library, and how it is called.

    Args:
      function: the Function, whose body is a BodyPart.
      differentiate: its gradient, as a function of the calling operation and the gradients of its outputs; or None.
    """

    def __init__(self, name, part, attrs=None, differentiate=None):
        self.function = Function(name, part.outer_graph, body=part, attrs=attrs)
        self.function.differentiate = differentiate
        self.part = part
        self.is_stateful = any(op._op_def.is_stateful for op in part.get_operations())

    @property
    def name(self):
        return self.function.name

    def call(self, args):
        """Adds a node that calls the function, or runs it; returns the list of its results."""
        return self.call_with_node(args)[1]

    def call_with_node(self, args):
        """(the node of a call without results, else None; the list of results)."""
        graph = get_default_graph()
        if graph is self.part.body or len(args) != len(self.part.inputs):
            raise ValueError(
                f"Arguments and signature arguments do not match. got: {len(args)}, expected: "
                f"{len(self.part.inputs)} "
            )
        self.function.add_to_graph(graph)
        op = ops.stateful_partitioned_call if self.is_stateful else ops.partitioned_call
        results = op(
            args=list(args), Tout=[tensor.dtype.base_dtype for tensor in self.part.outputs],
            f=FunctionCall(self.name), config_proto=options.config_proto(), executor_type=options.executor_type(),
        )  # fmt: skip
        if not self.part.outputs:
            return results if isinstance(results, Operation) else None, []
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        for result, tensor in zip(results, self.part.outputs, strict=True):
            if result._value is None:
                result.set_shape(tensor.shape)
        return None, results
