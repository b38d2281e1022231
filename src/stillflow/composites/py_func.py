"""tf.py_func: a Python function as a node of a graph."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.host import py_functions
from stillflow.names import public


@public("py_func")
@by_mode
def py_func(func, inp, Tout, stateful=True, name=None):  # noqa: N803
    """A node that calls `func` with the values of `inp`, as numpy arrays and scalars of its own.

    Args:
      func: takes as many arguments as there are tensors in `inp`, and returns an array or a list of them.
      inp: a list of tensors.
      Tout: the dtypes of what `func` returns: a list, or one dtype for one value.
      stateful: False for a function of its arguments alone: it may be called less often than the node runs.

    Returns:
      A tensor of unknown shape, a list of them if `Tout` is a list, or the operation if that is empty and the
      function has state. Gradients do not flow through.

    Raises:
      ValueError: if `func` cannot be called.
      At run time: tf.errors.InvalidArgumentError for a TypeError or ValueError of `func` and for results of other
      dtypes or another number; OutOfRangeError for StopIteration; ResourceExhaustedError for MemoryError;
      UnimplementedError for NotImplementedError; UnknownError for others; InternalError for results that are no
      arrays.

    Executed eagerly, `func` is simply called: its errors are not wrapped, and types are what it returns.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    is_list = isinstance(Tout, (list, tuple))
    token = py_functions.register(get_default_graph(), func)
    build = ops.py_func if stateful else ops.py_func_stateless
    results = build(inp, token=token, Tout=list(Tout) if is_list else [Tout], name=name)
    if is_list:
        return results if Tout or stateful else []
    return results[0]


@public("numpy_function")
def numpy_function(func, inp, Tout, name=None):  # noqa: N803
    """py_func for a function with state."""
    return py_func(func, inp, Tout, stateful=True, name=name)
