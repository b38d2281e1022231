"""Conjugates, real and imaginary parts, of the real numbers that operators hold."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.ops.convert import convert_to_tensor


def conjugate(value):
    """`value` itself, as a tensor."""
    if isinstance(value, Tensor):
        return value
    with name_scope(None, "Conj", [value]):
        return convert_to_tensor(value, name="x")


def real_part(value):
    """`value` itself; TensorFlow takes a name for asking."""
    with name_scope(None, "Real", [value]):
        return value


def imaginary_part(value):
    """Zeros."""
    with name_scope(None, "Imag", [value]):
        return ops.zeros_like(convert_to_tensor(value, name="input"))
