"""What operators are made of: tensors, or variables and modules that are read when they are used."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.module import Module
from stillflow.variables.variable import Variable


@public("python.ops.linalg.linear_operator_util.is_ref")
def is_reference(value):
    """Whether a value may change: a variable, or a module that stands for a tensor."""
    if isinstance(value, Variable):
        return True
    return isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape")


def tensor_or_reference(value, name):
    """`value` as a tensor, unless it is a reference."""
    return value if is_reference(value) else convert_to_tensor(value, name=name)


@public("python.ops.linalg.linear_operator_util.convert_nonref_to_tensor")
def convert_nonref_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """`value` as a tensor, unless it is None or a reference. Raises TypeError for a reference of another type."""
    if value is None or not is_reference(value):
        return None if value is None else convert_to_tensor(value, dtype, name, dtype_hint)
    if dtype is not None:
        asked, given = dtypes.as_dtype(dtype).base_dtype, dtypes.as_dtype(value.dtype).base_dtype
        if asked != given:
            raise TypeError(f'Mutable type must be of dtype "{asked.name}" but is "{given.name}".')
    return value


@public("python.ops.linalg.linear_operator_util.assert_not_ref_type")
def check_not_reference(x, arg_name):
    """Raises TypeError for a reference, with the name of the argument."""
    if is_reference(x):
        raise TypeError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}")


@public("python.ops.linalg.linear_operator_util.shape_tensor")
def shape_tensor(shape, name=None):
    """A tensor of sizes; no sizes are int32 too."""
    is_empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtypes.int32 if is_empty else None, name=name)


def count_and_value(value, name):
    """An argument of integers as a tensor, and its value if that is known."""
    check_not_reference(value, name)
    tensor = shape_tensor(value, name=name)
    return tensor, constant_value(tensor)


@public("python.ops.linalg.linear_operator_util.use_operator_or_provided_hint_unless_contradicting")
def combined_hint(operator, hint_attr_name, provided_hint_value, message):
    """What `operator` says of itself, or else what is given. Raises ValueError where these contradict each other."""
    known, given = getattr(operator, hint_attr_name), provided_hint_value
    if (known is False and given) or (known and given is False):
        raise ValueError(message)
    if known or given:
        return True
    return False if known is False or given is False else None
