"""Metrics by name."""

from __future__ import annotations

from stillflow.keras.serialization import Known, deserialize_keras_object
from stillflow.layers.core import serialization
from stillflow.names import public

_METRICS = Known(
    "keras.metrics", accuracy="python.keras.metrics.accuracy", cosine_similarity="keras.losses.cosine_similarity"
)


@public("keras.metrics.serialize")
def serialize(metric):
    """A metric as plain values, or its name; see `deserialize`."""
    return serialization.serialize(metric)


@public("keras.metrics.deserialize")
def deserialize(config, custom_objects=None):
    """The metric of a name, or of what `serialize` returned. Raises ValueError for an unknown one."""
    return deserialize_keras_object(config, _METRICS, custom_objects, "metric function")


@public("keras.metrics.get")
def get(identifier):
    """The metric that an argument means: a name, a config, or a function itself. Raises ValueError for others."""
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
