"""Losses by name."""

from __future__ import annotations

from stillflow.keras.losses import classes, functions
from stillflow.keras.serialization import Known, deserialize_keras_object
from stillflow.layers.core import serialization
from stillflow.names import public

_LOSSES = Known("keras.losses", huber_loss="python.keras.losses.huber_loss")


@public("keras.losses.serialize")
def serialize(loss):
    """A loss as plain values, or its name; see `deserialize`."""
    return serialization.serialize(loss)


@public("keras.losses.deserialize")
def deserialize(name, custom_objects=None):
    """The loss of a name, or of what `serialize` returned. Raises ValueError for an unknown one."""
    return deserialize_keras_object(name, _LOSSES, custom_objects, "loss function")


@public("keras.losses.get")
def get(identifier):
    """The loss that an argument means: None, a name, a config, or a function itself. Raises ValueError for others."""
    if identifier is None or (callable(identifier) and not isinstance(identifier, (str, dict))):
        return identifier
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    raise ValueError("Could not interpret loss function identifier:", identifier)


def computes(loss, function, kind=None):
    """Whether a loss is that function, or an object with it."""
    return (kind is not None and isinstance(loss, kind)) or (
        isinstance(loss, classes.LossFunctionWrapper) and loss.fn is function
    )


def is_categorical_crossentropy(loss):
    """Whether a loss wants probabilities of classes for the truth."""
    return (
        computes(loss, functions.categorical_crossentropy, classes.CategoricalCrossentropy)
        or getattr(loss, "__name__", None) == "categorical_crossentropy"
        or loss == "categorical_crossentropy"
    )
