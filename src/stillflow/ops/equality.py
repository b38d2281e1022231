"""== and != of tensors and variables: by identity, as in TensorFlow 1, or by their elements, as in TensorFlow 2."""

from __future__ import annotations

from stillflow.graph.mode import by_outermost_mode
from stillflow.graph.operation import Tensor
from stillflow.names import public


@public("enable_tensor_equality")
def enable_tensor_equality():
    """Makes == and != of tensors and variables compare their elements where eager execution is enabled.

    They give a tensor of bools, also in functions that are traced, and raise what tf.equal does. Tensors of graphs
    still compare by identity. All remain hashable, by identity, where TensorFlow raises TypeError.
    """
    Tensor._USE_EQUALITY = True


@public("disable_tensor_equality")
def disable_tensor_equality():
    """Makes == and != of tensors and variables compare identities."""
    Tensor._USE_EQUALITY = False


def equals(x, y):
    """x == y, of which `x` is a tensor or variable."""
    return elements_equal(x, y) if Tensor._USE_EQUALITY else x is y


def differs(x, y):
    """x != y, of which `x` is a tensor or variable."""
    return elements_differ(x, y) if Tensor._USE_EQUALITY else x is not y


@by_outermost_mode
def elements_equal(x, y):
    """x == y where it compares elements: not in graphs."""
    return x is y


@by_outermost_mode
def elements_differ(x, y):
    """x != y where it compares elements: not in graphs."""
    return x is not y
