"""Constraints that layers know by name: functions that optimizers apply to a variable after each update of it."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.layers.core import serialization
from stillflow.layers.core.settings import epsilon, floatx
from stillflow.names import public


def _clipped(x, low, high):
    low, high = (ops.constant(bound, x.dtype.base_dtype) for bound in (low, max(low, high)))
    return clip_by_value(x, low, high)


def _norms(w, axis):
    return ops.sqrt(_clipped(ops.reduce_sum(ops.square(w), axis=axis, keepdims=True), 0.0, np.inf))


@public("keras.constraints.Constraint")
class Constraint:
    """A function from the value after an update to the value to keep."""

    def __call__(self, w):
        return w

    def get_config(self):
        return {}


@public("keras.constraints.MaxNorm", "keras.constraints.max_norm")
class MaxNorm(Constraint):
    """Scales what a unit is given by to a norm of at most `max_value`; `axis` is what the norm sums over."""

    def __init__(self, max_value=2, axis=0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w):
        norms = _norms(w, self.axis)
        wanted = _clipped(norms, 0, self.max_value)
        return w * (wanted / (epsilon() + norms))

    def get_config(self):
        return {"max_value": self.max_value, "axis": self.axis}


@public("keras.constraints.NonNeg", "keras.constraints.non_neg")
class NonNeg(Constraint):
    """Makes negative weights 0."""

    def __call__(self, w):
        return w * ops.cast(ops.greater_equal(w, 0.0), floatx())


@public("keras.constraints.UnitNorm", "keras.constraints.unit_norm")
class UnitNorm(Constraint):
    """Scales what a unit is given by to a norm of 1; `axis` is what the norm sums over."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (epsilon() + _norms(w, self.axis))

    def get_config(self):
        return {"axis": self.axis}


@public("keras.constraints.MinMaxNorm", "keras.constraints.min_max_norm")
class MinMaxNorm(Constraint):
    """Scales what a unit is given by towards a norm between two bounds; with `rate` 1 all the way."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w):
        norms = _norms(w, self.axis)
        wanted = self.rate * _clipped(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))

    def get_config(self):
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


@public("keras.constraints.RadialConstraint", "keras.constraints.radial_constraint")
class RadialConstraint(Constraint):
    """Makes kernels of two-dimensional convolutions the same in all directions: rings of one value each.

    The value of a ring is one of the diagonal's, as TensorFlow chooses it: the innermost ring has the last one before
    the middle, each further ring the next but, in kernels of even size, the one after that. Raises ValueError for
    anything but kernels of shape [size, size, inputs, outputs].
    """

    def __call__(self, w):
        if w.shape.rank != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        height, width, inputs, outputs = w.shape.as_list()
        places = np.arange(height)
        distances = np.maximum(*np.meshgrid(*[np.maximum(places - height // 2, (height - 1) // 2 - places)] * 2))
        first = height // 2 - 1
        of_diagonal = np.where(distances == 0, first, first + distances + (height + 1) % 2)
        rows = ops.reshape(w, (height * width, inputs, outputs))
        rings = ops.gather(rows, (of_diagonal * (width + 1)).reshape(-1), axis=0)
        return ops.reshape(rings, (height, width, inputs, outputs))


_CLASSES = {
    MaxNorm: "max_norm maxnorm",
    NonNeg: "non_neg nonneg",
    UnitNorm: "unit_norm unitnorm",
    MinMaxNorm: "min_max_norm",
    RadialConstraint: "radial_constraint",
}
KNOWN = {name: kind for kind, names in _CLASSES.items() for name in (kind.__name__, *names.split())}


@public("keras.constraints.get")
def get(identifier):
    """The constraint that an argument of a layer means. Raises ValueError for what means none."""
    if isinstance(identifier, str):
        identifier = {"class_name": identifier, "config": {}}
    return serialization.lookup(identifier, KNOWN, "constraint")


@public("keras.constraints.serialize")
def serialize(constraint):
    """A constraint as plain values, or its name; see `deserialize`."""
    return serialization.serialize(constraint)


@public("keras.constraints.deserialize")
def deserialize(config, custom_objects=None):
    """What `serialize` was given. Raises ValueError for what it did not return."""
    return serialization.deserialize(config, KNOWN, "constraint", custom_objects)
