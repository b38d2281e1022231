"""Where layers are called: with tensors of a graph that is being built, or with values."""

from __future__ import annotations

import contextlib

from stillflow.eager.tensor import EagerTensor
from stillflow.graph import nest
from stillflow.graph.mode import by_mode, by_outermost_mode, eager_version_of
from stillflow.graph.name_scope import init_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import is_tensor
from stillflow.variables.variable import Variable


@by_outermost_mode
def scope_of_variables():
    return contextlib.nullcontext()


@eager_version_of(scope_of_variables)
def _scope_outside_of_traced_functions():
    return init_scope()


_ANYWHERE = contextlib.nullcontext()


@by_mode
def graph_of_call(values):
    """The context in which a layer is called with tensors of a graph."""
    return _ANYWHERE


@eager_version_of(graph_of_call)
def _graph_of_tensors(values):
    first = values[0]
    if stands_for_tensor(first):
        first = convert_to_tensor(first)
    return nest.components(first)[0].graph.as_default()


@by_mode
def _has_node(variable):
    """Whether what reads a variable is a node of a graph."""
    return True


@eager_version_of(_has_node)
def _has_value(variable):
    return False


_CONVERTED: list[type] = []  # classes of objects that stand for tensors


@public("python.keras.utils.tf_utils.register_symbolic_tensor_type")
def register_symbolic_tensor_type(cls):
    """Lets layers take and return objects of a class as they are, if these can be converted to tensors.

    See tf.register_tensor_conversion_function.
    """
    if cls not in _CONVERTED:
        _CONVERTED.append(cls)


def stands_for_tensor(value):
    """Whether it is of a class that was registered as one that can be converted to tensors."""
    return isinstance(value, tuple(_CONVERTED))


@public("python.keras.utils.tf_utils.is_symbolic_tensor")
def is_symbolic(value):
    """Whether it is of a graph that is being built."""
    if stands_for_tensor(value):
        value = convert_to_tensor(value)
    if isinstance(value, Variable):
        return _has_node(value)
    return all(isinstance(p, Tensor) and not isinstance(p, EagerTensor) for p in nest.components(value))


@public("python.keras.utils.tf_utils.are_all_symbolic_tensors")
def are_all_symbolic_tensors(tensors):
    """Whether all of a list are of a graph that is being built."""
    return all(is_symbolic(tensor) for tensor in tensors)


@public("python.keras.utils.tf_utils.is_tensor_or_tensor_list")
def is_tensor_or_tensor_list(v):
    """Whether the first of the values of a structure is a tensor."""
    values = nest.flatten(v)
    return bool(values) and isinstance(values[0], Tensor)


@public("python.keras.utils.tf_utils.is_tensor_or_variable")
def is_tensor_or_variable(x):
    """Whether it is a tensor of any kind, or a variable."""
    return is_tensor(x) or isinstance(x, Variable)
