"""factory_of: a Python function without arguments as a function that has copies of all it uses from outside."""

from __future__ import annotations

import base64
import hashlib

from stillflow.formats.protobuf import to_bytes
from stillflow.functions import numbers
from stillflow.functions.copying_graph import CopyingGraph
from stillflow.functions.function import Function
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_def import function_def_message

# TensorFlow does not infer the shapes of calls of such functions.
_ATTRS = {"_disable_call_shape_inference": True}


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
    body = CopyingGraph(name, outer)
    body.allow(allowed)
    with body.as_default():
        body._seed = seed
        body.outputs = [body.capture(python_function())]
    numbers.end_function(body)
    description = python_function.__doc__ or ""
    content = to_bytes(function_def_message(body, "", description, _ATTRS))
    suffix = base64.b64encode(hashlib.sha256(content).digest()[:8], b"aA").decode().rstrip("=")
    return Function(f"{name}_{suffix}", outer, body=body, description=description, attrs=_ATTRS)
