"""tf.bitwise: elementwise functions of integers' bits."""

from __future__ import annotations

from stillflow import ops

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


def bitwise_and(x, y, name=None):
    """The bits that both have."""
    return ops.bitwise_and(x, y, name=name)


def bitwise_or(x, y, name=None):
    """The bits that one or both have."""
    return ops.bitwise_or(x, y, name=name)


def bitwise_xor(x, y, name=None):
    """The bits that exactly one has."""
    return ops.bitwise_xor(x, y, name=name)


def invert(x, name=None):
    """The bits that x does not have."""
    return ops.invert(x, name=name)


def left_shift(x, y, name=None):
    """x << y, with y taken to the nearest number of bits from 0 to the type's width - 1."""
    return ops.left_shift(x, y, name=name)


def right_shift(x, y, name=None):
    """x >> y, with y taken to the nearest number of bits from 0 to the type's width - 1."""
    return ops.right_shift(x, y, name=name)
