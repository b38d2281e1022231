"""tf.custom_gradient: a function of tensors that brings its own gradient."""

from __future__ import annotations

import functools
import itertools

from stillflow import ops
from stillflow.autodiff.registry import RegisterGradient
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.names import public
from stillflow.ops import convert

_numbers = itertools.count()


@public("custom_gradient", "contrib.eager.custom_gradient")
def custom_gradient(f):
    """Decorates `f(*tensors)`, which returns (result, grad): `grad` takes the gradients of the results.

    The result is a tensor or a list of them; `grad` returns a gradient for each argument of `f`, or one for one.

    Executed eagerly, `f` may take arguments by name, return a nested structure, and use variables: then `grad` takes
    them as `variables=` and returns two lists, of the gradients of the arguments and of the variables.

    Raises, when the decorated function is called:
      ValueError: for arguments by name, in a graph.
      TypeError: if `f` makes variables: their gradients would be lost.
    """

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return call_with_gradient(f, args, kwargs)

    return decorated


def _variables(graph):
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    return {variable for key in keys for variable in graph.get_collection(key)}


@by_mode
def call_with_gradient(f, args, kwargs):
    """What f(*args, **kwargs) returns first; its gradient is the function that it returns second."""
    if kwargs:
        raise ValueError(
            "The custom_gradient decorator currently supports keywords arguments only when eager execution is "
            "enabled."
        )
    args = [convert.convert_to_tensor(arg) for arg in args]
    graph = get_default_graph()
    name = f"CustomGradient-{next(_numbers)}"
    before = _variables(graph)
    result, gradient = f(*args)
    if _variables(graph) - before:
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. Ensure that "
            "no `variable_scope` is created with `use_resource=False`."
        )
    is_list = isinstance(result, (list, tuple))
    results = [convert.convert_to_tensor(value) for value in (result if is_list else [result])]

    @RegisterGradient(name)
    def _(op, *gradients):
        found = gradient(*gradients[: len(results)])
        return [None] * len(results) + (list(found) if isinstance(found, (list, tuple)) else [found])

    for value in results:
        ops.identity(value)  # TensorFlow makes these nodes too, and later names depend on them
    with graph.gradient_override_map({"IdentityN": name}):
        copies = ops.identity_n([*results, *args])
    return type(result)(copies[: len(results)]) if is_list else copies[0]
