"""Variables without a value, as values; and the attributes of objects among them."""

from __future__ import annotations

from stillflow.graph.operation import Tensor
from stillflow.names import public


@public("python.autograph.operators.special_values.Undefined")
class Undefined:
    """Stands for a variable that has no value."""

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name


@public("python.autograph.operators.special_values.UndefinedReturnValue")
class UndefinedReturnValue:
    """Stands for the result of a function that has not returned."""


def retval(value):
    """What a function returns: None if it has not come to a return statement."""
    return None if isinstance(value, UndefinedReturnValue) else value


def is_undefined(value):
    return isinstance(value, Undefined)


def is_undefined_return(value):
    return isinstance(value, UndefinedReturnValue)


def ldu(load, name):
    """The value of a variable or an attribute; Undefined if it has none."""
    try:
        return load()
    except (UnboundLocalError, NameError, AttributeError):
        return Undefined(name)


def set_attribute(owner, name, value):
    """Sets an attribute of an object; one without a value is taken away."""
    if not is_undefined(value):
        setattr(owner, name, value)
    elif hasattr(owner, name):
        delattr(owner, name)


def is_tensor(value):
    """Whether it is a tensor, or a variable."""
    return isinstance(value, Tensor) or hasattr(type(value), "_as_graph_element")


def is_dense_tensor(value):
    """Whether its truth is known only when the graph runs."""
    return is_tensor(value)
