"""What operators are made of: tensors, or variables and modules that are read when they are used."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.module import Module
from stillflow.variables.variable import Variable


def is_reference(value):
    """Whether a value may change: a variable, or a module that stands for a tensor."""
    if isinstance(value, Variable):
        return True
    return isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape")


def tensor_or_reference(value, name):
    """`value` as a tensor, unless it is a reference."""
    return value if is_reference(value) else convert_to_tensor(value, name=name)


def check_not_reference(value, name):
    if is_reference(value):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}")


def shape_tensor(shape, name=None):
    """A tensor of sizes; no sizes are int32 too."""
    is_empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtypes.int32 if is_empty else None, name=name)


def count_and_value(value, name):
    """An argument of integers as a tensor, and its value if that is known."""
    check_not_reference(value, name)
    tensor = shape_tensor(value, name=name)
    return tensor, constant_value(tensor)


def combined_hint(operator, hint, given, message):
    """What `operator` says of itself, or else what is given. Raises ValueError where these contradict each other."""
    known = getattr(operator, hint)
    if (known is False and given) or (known and given is False):
        raise ValueError(message)
    if known or given:
        return True
    return False if known is False or given is False else None
