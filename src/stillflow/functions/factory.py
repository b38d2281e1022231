"""factory_of: a Python function without arguments as a function that has copies of all it uses from outside."""

from __future__ import annotations

import base64
import hashlib

from stillflow.formats.protobuf import to_bytes
from stillflow.functions import numbers
from stillflow.functions.function import Function
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_def import function_def_message

# TensorFlow does not infer the shapes of calls of such functions.
_ATTRS = {"_disable_call_shape_inference": True}


class _CopyingGraph(FunctionGraph):
    """The body of such a function. Nodes with state are copied only if they are `allowed`."""

    def __init__(self, name, outer_graph, allowed):
        super().__init__(name, outer_graph)
        self._allowed = allowed
        self._seed = None
        self._copies: dict = {}

    def capture(self, tensor):
        if tensor.graph is self:
            return tensor
        if tensor not in self._copies:
            self._copy(tensor)
        return self._copies[tensor]

    def _copy(self, tensor):
        """Copies a node with all that is before it, again what has been copied for another one."""
        op = tensor.op
        if op._op_def.is_stateful and op not in self._allowed:
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
        if op.type == "Placeholder":
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        inputs = [self._copy(source) for source in op._inputs]
        copy = self._add_node(op._op_def, inputs, dict(op._attrs), op.name)
        self._copies.update(zip(op._outputs, copy._outputs, strict=True))
        return copy._outputs[tensor.value_index]


def factory_of(python_function, name, allowed=(), seed=None) -> Function:
    """The function that gives what `python_function()` returns, a tensor.

    Args:
      python_function: adds nodes to the default graph.
      name: what the function's name begins with; the rest says what is in it.
      allowed: operations with state that may be copied.
      seed: the graph-level seed inside.

    Raises ValueError for placeholders and for what has state and is not allowed.
    """
    outer = get_default_graph()
    body = _CopyingGraph(name, outer, allowed)
    with body.as_default():
        body._seed = seed
        body.outputs = [body.capture(python_function())]
    numbers.end_function(body)
    description = python_function.__doc__ or ""
    content = to_bytes(function_def_message(body, "", description, _ATTRS))
    suffix = base64.b64encode(hashlib.sha256(content).digest()[:8], b"aA").decode().rstrip("=")
    return Function(f"{name}_{suffix}", outer, body=body, description=description, attrs=_ATTRS)
