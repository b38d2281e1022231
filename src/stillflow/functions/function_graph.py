"""FunctionGraph: the body of a function, which takes in as further arguments what it uses from outside."""

from __future__ import annotations

import math
from typing import ClassVar

from stillflow import errors, ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph

# A function's body adds to these collections of the graph around it; of others it has a copy.
_SHARED_COLLECTIONS = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)


# Executed tensors of at most so many elements are constants of the body, so that shapes can be inferred from them.
_MOST_CONSTANT_ELEMENTS = 128


def is_small_value(tensor):
    """Whether a tensor has a value that is small enough to become a constant."""
    value = tensor._value
    return (
        value is not None and tensor.dtype.is_numpy_compatible and math.prod(value.shape) <= _MOST_CONSTANT_ELEMENTS
    )


def constant_in(graph, tensor):
    """A constant of a function's body with the value of a tensor outside."""
    with graph.as_default(), graph.control_dependencies(None):
        return ops.constant(tensor.numpy(), tensor.dtype, tensor.shape, name="Const")


class FunctionGraph(Graph):
    """A graph whose nodes may read tensors of the graphs around it.

    `inputs` are the placeholders of the arguments, those that stand for tensors from outside last; `outputs` are
    what the function returns, and `control_outputs` the operations that run whenever it does.
    """

    takes_any_input = True
    versions: ClassVar[dict] = {}  # what is in a function is Switch and Merge nodes, which nobody sees
    _building_function = True

    def __init__(self, name, outer_graph=None):
        super().__init__()
        self.name = name
        self.inputs = []
        self.outputs = []
        self.control_outputs = []
        self.outer_graph = outer_graph = get_default_graph() if outer_graph is None else outer_graph
        self._captures = {}  # tensor outside -> placeholder
        self._seed = outer_graph._seed
        self._seed_rule = outer_graph._seed_rule
        self._colocation_stack = list(outer_graph._colocation_stack)
        self._auto_cast_variable_read_dtype = outer_graph._auto_cast_variable_read_dtype
        self._py_functions = outer_graph.py_functions_of_bodies()
        for key in outer_graph.collections:
            self._collections[key] = outer_graph.get_collection(key)
        for key in _SHARED_COLLECTIONS:
            self._collections[key] = outer_graph.get_collection_ref(key)

    @property
    def captures(self):
        """[(tensor outside, placeholder)] in the order in which they were met."""
        return list(self._captures.items())

    @property
    def external_captures(self):
        """The tensors from outside, in the order of their placeholders."""
        return list(self._captures)

    def always_run(self):
        """The operations that run in each call, whether or not the results need them.

        They are `control_outputs` if there are any, and those with state otherwise, as in TensorFlow.
        """
        if self.control_outputs:
            return self.control_outputs
        arguments = {tensor._op for tensor in self.inputs}
        return [op for op in self.get_operations() if op._op_def.is_stateful and op not in arguments]

    def _add_node(self, op_def, inputs, attrs, name):
        inputs = [self.capture(tensor) for tensor in inputs]
        return super()._add_node(op_def, inputs, attrs, name)

    def capture(self, tensor):
        """The tensor of this graph that stands for `tensor`, which may be from a graph around it.

        Raises tf.errors' InaccessibleTensorError, a ValueError, for a tensor that belongs to another function.
        """
        if tensor._op._graph is self:
            return tensor
        placeholder = self._captures.get(tensor)
        if placeholder is None:
            self._check_accessible(tensor)
            with self.control_dependencies(None):
                placeholder = ops.placeholder(tensor.dtype.base_dtype, tensor.shape, name=self._name_for(tensor))
            placeholder.op._captured = tensor
            self._captures[tensor] = placeholder
            self.inputs.append(placeholder)
        return placeholder

    def _name_for(self, tensor):
        """The name of the placeholder that stands for a tensor outside; None for the default."""
        return tensor._op._name

    def find_function(self, name):
        return super().find_function(name) or self.outer_graph.find_function(name)

    def _check_accessible(self, tensor):
        graph: Graph = self
        while isinstance(graph, FunctionGraph):
            graph = graph.outer_graph
            if graph is tensor._op._graph:
                return
        raise errors.InaccessibleTensorError(
            f"The tensor '{tensor}' cannot be accessed here: it is defined in another function or code block. Use "
            "return values, explicit Python locals or TensorFlow collections to access it. Defined in: "
            f"{tensor._op._graph}; accessed from: {self}."
        )

    def __str__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def control_dependencies(self, control_inputs):
        """Like Graph.control_dependencies; what is outside has run when the function is called."""
        if control_inputs is not None:
            control_inputs = [item for item in control_inputs if self._is_inside(item)]
        return super().control_dependencies(control_inputs)

    def _is_inside(self, item):
        op = getattr(item, "op", item)
        if op is None:  # a variable of eager execution after a change, which the order of the calls keeps in place
            return False
        graph = getattr(op, "graph", None)
        return graph is None or graph is self


def outermost(graph):
    """The graph that a function's body is part of in the end; other graphs themselves."""
    while isinstance(graph, FunctionGraph):
        graph = graph.outer_graph
    return graph
