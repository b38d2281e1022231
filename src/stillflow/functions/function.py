"""Function: what a graph keeps of one: its FunctionDef message and its body, each made when first asked for."""

from __future__ import annotations

from collections.abc import Callable


class Function:
    """A function that nodes of a graph call by its name.

    Args:
      name: the function's name.
      outer_graph: the graph that it belongs to.
      definition: its FunctionDef message, or None for one with a body.
      body: a FunctionGraph, or None for one with a definition.
      load_body: a function of a FunctionDef message and a graph that makes the body of one with a definition.
      gradient_name: the name of the function that computes its gradient, or None.
      description: what TensorFlow keeps of a function's docstring.
      attrs: attributes of the definition.
      output_names: what the definition calls the results; None for names made of those of their nodes.
    """

    def __init__(
        self, name, outer_graph, definition=None, body=None, gradient_name=None, description="", attrs=None,
        load_body=None, output_names=None,
    ):  # fmt: skip
        self.name = name
        self.gradient_name = gradient_name
        self.gradient_body = None  # see functions.gradient
        self.gradient: Function | None = None  # which computes it, where it comes with this one
        self.differentiate: Callable | None = None  # adds its gradient: of the calling operation and the gradients
        # The body that it was made with, of which TensorFlow knows the shapes; None for other functions.
        self.traced_body = None if "_disable_call_shape_inference" in (attrs or {}) else body
        self._outer_graph = outer_graph
        self._definition = definition
        self._body = body
        self._load_body = load_body
        self._description = description
        self.attrs = attrs or {}
        self._output_names = output_names

    @property
    def definition(self):
        """The FunctionDef message."""
        if self._definition is None:
            from stillflow.graph.function_def import function_def_message

            self._definition = function_def_message(
                self._body, self.name, self._description, self.attrs, self._output_names
            )
        return self._definition

    @property
    def body(self):
        """The FunctionGraph that a call runs. Raises what import_graph_def raises for one that cannot be read."""
        if self._body is None:
            self._body = self._load_body(self._definition, self._outer_graph)
        return self._body

    @property
    def captured_inputs(self):
        """The tensors outside that the function uses, which are its last arguments."""
        return [] if self._body is None else self._body.external_captures

    @property
    def outputs(self):
        """The tensors of the body that the function returns."""
        return self.body.outputs

    @classmethod
    def gradients_of_branches(cls, op, grads):
        """[None, gradients of the inputs...] of a node If or StatelessIf whose branches are such functions."""
        from stillflow.functions.branch_gradients import gradients_of_branches

        return gradients_of_branches(op, grads, cls)

    @classmethod
    def gradients_of_loop(cls, op, grads):
        """The gradients of the inputs of a node While or StatelessWhile whose functions are such functions."""
        from stillflow.functions.loop_gradients import gradients_of_loop

        return gradients_of_loop(op, grads, cls)

    def add_to_graph(self, graph):
        """Makes the function, and those that it calls, known in a graph."""
        graph._functions.setdefault(self.name, self)
        if self.gradient is not None:
            self.gradient.add_to_graph(graph)
        if self._body is not None:
            for function in list(self._body._functions.values()):
                graph._functions.setdefault(function.name, function)
