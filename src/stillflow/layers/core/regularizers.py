"""Regularizers that layers know by name."""

from __future__ import annotations

from stillflow import ops
from stillflow.layers.core import serialization
from stillflow.layers.core.settings import cast_to_floatx, floatx
from stillflow.names import public


@public("keras.regularizers.Regularizer")
class Regularizer:
    """A function from a variable to a loss."""

    def __call__(self, x):
        return 0.0

    @classmethod
    def from_config(cls, config):
        return cls(**config)


@public("keras.regularizers.L1L2")
class L1L2(Regularizer):
    """l1 times the sum of absolute values plus l2 times the sum of squares."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = cast_to_floatx(l1)
        self.l2 = cast_to_floatx(l2)

    def __call__(self, x):
        if not self.l1 and not self.l2:
            return ops.constant(0.0, floatx())
        loss = 0.0
        if self.l1:
            loss += self.l1 * ops.reduce_sum(ops.abs(x))
        if self.l2:
            loss += self.l2 * ops.reduce_sum(ops.square(x))
        return loss

    def get_config(self):
        return {"l1": float(self.l1), "l2": float(self.l2)}


@public("keras.regularizers.l1")
def l1(l=0.01):  # noqa: E741
    """`l` times the sum of absolute values."""
    return L1L2(l1=l)


@public("keras.regularizers.l2")
def l2(l=0.01):  # noqa: E741
    """`l` times the sum of squares."""
    return L1L2(l2=l)


@public("keras.regularizers.l1_l2")
def l1_l2(l1=0.01, l2=0.01):
    """The sum of both."""
    return L1L2(l1=l1, l2=l2)


KNOWN = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}


@public("keras.regularizers.get")
def get(identifier):
    """The regularizer that an argument of a layer means. Raises ValueError for what means none."""
    return serialization.lookup(identifier, KNOWN, "regularizer", ("l1", "l2", "l1_l2"))


@public("keras.regularizers.serialize")
def serialize(regularizer):
    """A regularizer as plain values, or its name; see `deserialize`."""
    return serialization.serialize(regularizer)


@public("keras.regularizers.deserialize")
def deserialize(config, custom_objects=None):
    """What `serialize` was given. Raises ValueError for what it did not return."""
    return serialization.deserialize(config, KNOWN, "regularizer", custom_objects)
