"""Saved: what SavedModels of objects say of layers."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np

from stillflow.graph import nest
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.layers.core import serialization
from stillflow.layers.core.measured import Measured
from stillflow.names import namespace, public


class Saved(Measured):
    """What is saved as a layer of Keras, with functions of its call and lists of its variables."""

    dtype: Any
    input_spec: Any
    activity_regularizer: Any
    get_config: Any

    @property
    def _object_identifier(self):
        return "_tf_keras_layer"

    @property
    def _tracking_metadata(self):
        return json.dumps(self._metadata(), default=plain_json)

    def _metadata(self):
        """What a layer like this is made of when it is loaded, besides its functions and variables."""
        found = {
            "class_name": type(self).__name__, "name": self.name, "trainable": self.trainable,
            "expects_training_arg": self._expects_training_arg, "dtype": self.dtype,
            "batch_input_shape": getattr(self, "_batch_input_shape", None),
        }  # fmt: skip
        with contextlib.suppress(NotImplementedError):
            found["config"] = self.get_config()
        found["input_spec"] = nest.map_structure(
            lambda spec: None if spec is None else serialization.serialize(spec), self.input_spec
        )
        if hasattr(self.activity_regularizer, "get_config"):
            found["activity_regularizer"] = serialization.serialize(self.activity_regularizer)
        return found

    def _saved_attributes(self, serialization_cache):
        find = namespace.find("python.keras.saving.saved_model.save.serialize_all_attributes")
        return find(self, serialization_cache)

    def _list_extra_dependencies_for_serialization(self, serialization_cache):
        return self._saved_attributes(serialization_cache).objects_to_serialize

    def _list_functions_for_serialization(self, serialization_cache):
        functions = self._saved_attributes(serialization_cache).functions_to_serialize
        return {**functions, **super()._list_functions_for_serialization(serialization_cache)}


@public("python.util.serialization.get_json_type")
def plain_json(value):
    """What json.dumps writes for objects of configs. Raises TypeError for others."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, np.ndarray) or type(value).__module__ == np.__name__:
        return value.tolist() if isinstance(value, np.ndarray) else value.item()
    if isinstance(value, TensorShape):
        return value.as_list()
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    if callable(value):
        return value.__name__
    if isinstance(value, Dimension):
        return value.value
    raise TypeError("Not JSON Serializable:", value)
