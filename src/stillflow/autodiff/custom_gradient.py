"""tf.custom_gradient: a function of tensors that brings its own gradient."""

from __future__ import annotations

import functools
import inspect
import itertools

from stillflow import ops
from stillflow.autodiff.registry import RegisterGradient
from stillflow.graph import dtypes, nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.names import public
from stillflow.ops import convert
from stillflow.variables.resource_variable import ResourceVariable
from stillflow.variables.scope import get_variable_scope

_numbers = itertools.count()


@public("custom_gradient", "contrib.eager.custom_gradient")
def custom_gradient(f):
    """Decorates `f(*tensors)`, which returns (result, grad): `grad` takes the gradients of the results.

    The result is a tensor or a list of them; `grad` returns a gradient for each argument of `f`, or one for one. If
    `f` uses resource variables, `grad` takes them as `variables=` and returns two lists, of the gradients of the
    arguments and of the variables.

    Executed eagerly, `f` may take arguments by name and return a nested structure.

    Raises, when the decorated function is called:
      ValueError: for arguments by name, in a graph.
      TypeError: if `f` makes variables that are none of resources, or uses variables that `grad` does not take.
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
    first = len(graph.get_operations())
    result, gradient = f(*args)
    if any(not isinstance(variable, ResourceVariable) for variable in _variables(graph) - before):
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. Ensure that "
            "no `variable_scope` is created with `use_resource=False`."
        )
    variables = _used_since(graph, first)
    takes_them = takes_variables(gradient)
    if variables and not takes_them:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword "
            "argument 'variables'."
        )
    if takes_them and not variables and not get_variable_scope().use_resource:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, the enclosing variable scope must have "
            "use_resource=True."
        )
    is_list = isinstance(result, (list, tuple))
    results = [convert.convert_to_tensor(value) for value in nest.flatten(result)]

    @RegisterGradient(name)
    def _(op, *gradients):
        gradients = gradients[: len(results)]
        if not variables:
            return [None] * len(results) + nest.flatten(gradient(*gradients))
        of_arguments, of_variables = gradient(*gradients, variables=variables)
        if len(of_variables) != len(variables):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        return [None] * len(results) + nest.flatten(of_arguments) + list(of_variables)

    for value in results:
        ops.identity(value)  # TensorFlow makes these nodes too, and later names depend on them
    with graph.gradient_override_map({"IdentityN": name}):
        copies = ops.identity_n([*results, *args, *variables])
    for variable in variables:
        convert.convert_to_tensor(variable)  # as above
    return nest.pack_sequence_as(result, copies[: len(results)]) if is_list else copies[0]


def _used_since(graph, first):
    """The trainable variables that the operations from the one with that number on read, in their order."""
    known = {variable._handle: variable for variable in _variables(graph) if isinstance(variable, ResourceVariable)}
    found: dict = {}
    for op in itertools.islice(graph.get_operations(), first, None):
        for tensor in op.inputs:
            variable = (known.get(tensor) or _outside(tensor)) if tensor.dtype is dtypes.resource else None
            if variable is not None and variable.trainable and op._op_def.reads_variable:
                found[variable] = None
    return list(found)


def _outside(handle):
    """The trainable variable of eager execution whose handle a function has taken in; None if it is another's."""
    while handle._op._captured is not None:
        handle = handle._op._captured
    return getattr(handle, "_trainable_variable", lambda: None)()


def takes_variables(gradient):
    """Whether a gradient function takes the variables of the function whose gradient it is."""
    spec = inspect.getfullargspec(inspect.unwrap(gradient))  # it may have a gradient of its own
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None
