"""Models and layers of SavedModels: their calls are the functions that were saved."""

from __future__ import annotations

import json
import types
from typing import Any

from stillflow.graph import nest
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.keras.engine.model import Model
from stillflow.keras.engine.network import Network
from stillflow.keras.engine.sequential import Sequential
from stillflow.keras.engine.training_config import compile_args_from_training_config
from stillflow.keras.saving.training_argument import call_and_add_losses
from stillflow.keras.serialization import deserialize_keras_object
from stillflow.layers.core import regularizers
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.saved_objects.load import Loader, load_internal
from stillflow.tracking.base import Trackable

_KERAS_API = "keras_api"
_PUBLIC_ATTRIBUTES = {
    "__call__", "call_and_return_all_conditional_losses", "_default_save_signature", "variables",
    "trainable_variables", "regularization_losses", _KERAS_API,
}  # fmt: skip


@public("python.keras.saving.saved_model.load.load")
def load(path, compile=True):
    """The object of a SavedModel; what was a model or layer of Keras is one again.

    Models have their variables' values, and the functions that compute their outputs and losses. A Sequential model
    has its layers.

    Args:
      path: the folder.
      compile: whether a model is compiled as it was, with a new optimizer.

    Raises:
      OSError: if there is no SavedModel, or its file is damaged.
    """
    model = load_internal(path, loader_cls=KerasObjectLoader)
    if compile and isinstance(model, RevivedModel) and model._training_config is not None:
        model.compile(**compile_args_from_training_config(model._training_config))
    return model


@public("python.keras.saving.saved_model.load.RevivedLayer")
class RevivedLayer(Layer):
    """A layer that was loaded: its call is the function that was saved."""

    _config: Any = None
    _expects_training: bool
    _serialized_attributes: dict

    @classmethod
    def _init_from_metadata(cls, metadata):
        given = {key: metadata[key] for key in ("dtype", "batch_input_shape") if metadata.get(key) is not None}
        layer = cls(name=metadata["name"], trainable=metadata["trainable"], **given)
        layer._revive(metadata)
        layer._revive_checks(metadata)
        return layer

    @untracked
    def _revive_checks(self, metadata):
        if metadata.get("input_spec") is not None:
            self.input_spec = _deserialized(metadata["input_spec"])
        if metadata.get("_is_feature_layer") is not None:
            self._is_feature_layer = metadata["_is_feature_layer"]

    @untracked
    def _revive(self, metadata):
        """Sets what the SavedModel says of the object."""
        self.trainable = metadata["trainable"]
        self._expects_training = metadata["expects_training_arg"]
        self._config = metadata.get("config")
        if metadata.get("activity_regularizer") is not None:
            self.activity_regularizer = regularizers.deserialize(metadata["activity_regularizer"])
        self._serialized_attributes = {}

    def _set_dependency(self, name, value):
        """Takes what the object depended on in the SavedModel."""
        if name not in _PUBLIC_ATTRIBUTES:
            setattr(self, name, value)
            return
        if isinstance(value, Trackable):
            self._track_trackable(value, name)
        self._serialized_attributes[name] = value

    @property
    def keras_api(self):
        """The functions and lists that Keras has saved."""
        return self._serialized_attributes.get(_KERAS_API)

    @untracked
    def _take_call(self):
        """Makes the function that was saved the layer's call."""
        function = getattr(self.keras_api, "call_and_return_conditional_losses", None)
        if function is not None:
            self.call = types.MethodType(call_and_add_losses(self, function, is_method=True), self)
            self.__dict__.pop("_call_arguments", None)

    def _take_losses(self):
        """Takes the losses of regularizers that were saved."""
        without_name = self._serialized_attributes.get("regularization_losses", ())  # of older SavedModels
        for loss in getattr(self.keras_api, "layer_regularization_losses", without_name):
            self.add_loss(loss)
        if self.activity_regularizer is None:
            self.activity_regularizer = getattr(self.keras_api, "activity_regularizer_fn", None)
        # What was only there to be saved with the object is no part of its checkpoints.
        for name in _PUBLIC_ATTRIBUTES:
            self._tracking.children.pop(name, None)

    def _expects(self, argument):
        return self._expects_training if argument == "training" else super()._expects(argument)

    def get_config(self):
        if self._config is None:
            raise NotImplementedError
        return self._config


def _deserialized(config):
    """The InputSpecs of a structure of plain values."""
    if isinstance(config, dict) and "class_name" in config:
        return deserialize_keras_object(config, module_objects={"InputSpec": InputSpec})
    if isinstance(config, dict):
        return {key: _deserialized(value) for key, value in config.items()}
    if isinstance(config, (tuple, list)):
        return [_deserialized(value) for value in config]
    raise ValueError(f"Unable to decode config: {config}")


@public("python.keras.saving.saved_model.load.RevivedNetwork")
class RevivedNetwork(RevivedLayer, Network):
    """A network of layers that was loaded."""

    @classmethod
    def _init_from_metadata(cls, metadata):
        network = cls(name=metadata["name"])
        if metadata.get("dtype") is not None:
            network._dtype = metadata["dtype"]
        network._revive(metadata)
        return network


@public("python.keras.saving.saved_model.load.RevivedModel")
class RevivedModel(RevivedNetwork, Model):
    """A model that was loaded."""

    _training_config: Any

    @untracked
    def _revive(self, metadata):
        super()._revive(metadata)
        self._training_config = metadata.get("training_config")

    def _find_inputs(self):
        """Says what the inputs of the model are: the first argument of its call."""
        function = getattr(self.keras_api, "call_and_return_conditional_losses", None)
        if function is not None and not self.inputs:
            self._set_inputs(_first_argument(function))


@public("python.keras.saving.saved_model.load.RevivedSequential")
class RevivedSequential(RevivedModel, Sequential):
    """A Sequential model that was loaded: it calls its layers, which may be changed."""

    def _take_call(self):
        """Its call is that of a Sequential model."""

    def _find_inputs(self):
        self.__dict__["_layers"] = []
        for layer in getattr(self.keras_api, "layers", ()):
            self.add(layer)
        super()._find_inputs()


def _first_argument(function):
    """The structure of tf.TensorSpecs of the first argument of a restored tf.function, with what all traces share."""
    if function.input_signature is not None:
        return function.input_signature[0]

    def common(x, y):
        return TensorSpec(x.shape.most_specific_compatible_shape(y.shape), x.dtype, x.name)

    first, *others = (trace.structured_input_signature[0][0] for trace in function.concrete_functions)
    for spec in others:
        first = nest.map_structure(common, first, spec)
    return first


_CLASSES = {
    "_tf_keras_layer": RevivedLayer,
    "_tf_keras_network": RevivedNetwork,
    "_tf_keras_model": RevivedModel,
    "_tf_keras_sequential": RevivedSequential,
}


@public("python.keras.saving.saved_model.load.KerasObjectLoader")
class KerasObjectLoader(Loader):
    """A Loader that makes objects of Keras."""

    def __init__(self, *args):
        super().__init__(*args)
        revived = [node for node in self._nodes if isinstance(node, RevivedLayer)]
        for node in revived:
            node._take_call()
        for node in revived:
            if isinstance(node, RevivedModel):
                node._find_inputs()
        for node in revived:
            node._take_losses()

    def _recreate_base_user_object(self, proto):
        base = _CLASSES.get(proto.identifier)
        if base is None:
            return super()._recreate_base_user_object(proto)
        metadata = json.loads(proto.metadata)
        kind: Any = type(metadata["class_name"], (base,), {})
        return kind._init_from_metadata(metadata), kind._set_dependency
