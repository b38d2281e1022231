"""StructuredFunction: a Python function of elements as a function of the graph."""

from __future__ import annotations

import inspect

from stillflow.autograph.calls import convert_argument
from stillflow.datasets import structure
from stillflow.functions.trace import trace
from stillflow.graph.default_graph import get_default_graph
from stillflow.ops.convert import convert_to_tensor


class StructuredFunction:
    """What a Python function does with elements, and what its results are.

    Args:
      function: called with a component for each item of a tuple, or with the element that is none.
      transformation: whose function it is, for names and messages: "Dataset.map()".
      input_structure: the specification of the elements.
      adds_to_graph: whether the default graph gets the function now.

    Raises TypeError for results that cannot be elements.
    """

    def __init__(self, function, transformation, input_structure, adds_to_graph=True):
        self.output_structure = None
        name = f"{transformation.replace('.', '_')[:-2]}_{_name_of(function)}"
        function = convert_argument(function)

        def call(*tensors):
            element = structure.from_compatible_tensor_list(input_structure, tensors)
            arguments = element if type(element) is tuple else (element,)
            result = function(*arguments)
            if isinstance(result, list):
                result = tuple(result)
            try:
                self.output_structure = structure.type_spec_from_value(result)
            except (ValueError, TypeError):
                raise TypeError(
                    f"Unsupported return value from function passed to {transformation}: {result}."
                ) from None
            return [convert_to_tensor(t) for t in structure.to_tensor_list(self.output_structure, result)]

        signature = [(spec.dtype, spec.shape) for spec in structure.get_flat_tensor_specs(input_structure)]
        self.function = trace(call, name, signature)
        if adds_to_graph:
            self.function.add_to_graph(get_default_graph())


def _name_of(function):
    """What TensorFlow calls a callable in names of functions."""
    if inspect.isfunction(function):
        return function.__name__
    if inspect.ismethod(function):
        if inspect.isclass(function.__self__):  # what are functions of the class in TensorFlow
            return function.__name__
        return f"{type(function.__self__).__name__}.{function.__func__.__name__}"
    return str(type(function))
