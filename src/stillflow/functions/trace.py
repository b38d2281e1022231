"""trace: a Python function that adds nodes becomes a function of the graph."""

from __future__ import annotations

from typing import ClassVar

from stillflow import ops
from stillflow.functions import numbers
from stillflow.functions.automatic_control import AutomaticControl
from stillflow.functions.function import Function
from stillflow.functions.taped_graph import TapedGraph
from stillflow.graph.default_graph import get_default_graph
from stillflow.ops.control_flow.list_tensor_array import ListTensorArray
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.scope import get_variable_scope, share_with_function


class TracedGraph(TapedGraph):
    """The body of a function of a data set, whose TensorArrays are lists: they may be elements."""

    versions: ClassVar[dict] = {TensorArray: ListTensorArray}


def trace(python_function, name, signature, argument_names=None) -> Function:
    """Calls `python_function` with a tensor for each argument, and makes a function of what it adds.

    What it uses from outside becomes further arguments, whose values are the result's `captured_inputs`. Whatever has
    effects runs whenever the function is called, in the order in which it was added.

    Args:
      python_function: returns a tensor or what can become one, or a list or tuple of such.
      name: what the function's name is made of.
      signature: [(dtype, shape)] of the arguments.
      argument_names: names of the placeholders; "args_0", ... by default.

    Raises:
      TypeError: if a result cannot become a tensor.
      ValueError: if it uses a tensor of another function.
    """
    outer = get_default_graph()
    body = TracedGraph(name, outer)
    share_with_function(body)
    with body.building():
        control = AutomaticControl(body)
        scope = get_variable_scope()
        uses_resources = scope.use_resource
        scope.set_use_resource(True)
        try:
            for index, (dtype, shape) in enumerate(signature):
                argument = f"args_{index}" if argument_names is None else argument_names[index]
                placeholder = ops.placeholder(dtype, shape, name=argument)
                placeholder.op._attrs["_user_specified_name"] = argument.encode()
                body.inputs.append(placeholder)
            results = python_function(*body.inputs)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            body.outputs = [control.mark_as_return(_converted(result, python_function)) for result in results]
        finally:
            scope.set_use_resource(uses_resources)
        body.control_outputs = control.end()
    number = numbers.next_number(body)
    numbers.end_function(body)
    return Function(f"__inference_{name}_{number}", outer, body=body)


def _converted(value, python_function):
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; in "
            f"compilation of {python_function}, found return value of type {type(value)}, which is not a Tensor."
        ) from None
