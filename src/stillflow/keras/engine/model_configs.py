"""Models of their plain values."""

from __future__ import annotations

import json

from stillflow.keras.serialization import deserialize_layer
from stillflow.names import public


@public("keras.models.model_from_config")
def model_from_config(config, custom_objects=None):
    """The model of {"class_name": ..., "config": ...}. Raises TypeError for a list."""
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    return deserialize_layer(config, custom_objects=custom_objects)


@public("keras.models.model_from_json")
def model_from_json(json_string, custom_objects=None):
    """The model of what `Model.to_json` returned."""
    return deserialize_layer(json.loads(json_string), custom_objects=custom_objects)


@public("keras.models.model_from_yaml")
def model_from_yaml(yaml_string, custom_objects=None):
    """The model of what `Model.to_yaml` returned. Raises ImportError without PyYAML."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("Requires yaml module installed (`pip install pyyaml`).") from None
    return deserialize_layer(yaml.safe_load(yaml_string), custom_objects=custom_objects)
