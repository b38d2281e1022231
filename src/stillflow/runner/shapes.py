"""Functions of tensorflow.python.framework.tensor_shape."""

from __future__ import annotations

from stillflow.graph.shape import TensorShape

__all__ = ["matrix", "scalar", "unknown_shape", "vector"]


def scalar():
    """The shape of one value."""
    return TensorShape([])


def vector(length):
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows, cols):
    """The shape of a matrix."""
    return TensorShape([rows, cols])


def unknown_shape(rank=None):
    """A shape of which at most the rank is known."""
    return TensorShape(None if rank is None else [None] * rank)
