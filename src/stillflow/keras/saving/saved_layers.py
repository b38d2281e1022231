"""What SavedModels have of layers besides what they are: functions of their calls, and lists."""

from __future__ import annotations

import contextlib
import os

from stillflow.keras.backend.phases import learning_phase_scope
from stillflow.keras.engine.model import Model
from stillflow.keras.engine.weight_files import ask_to_overwrite
from stillflow.keras.saving import layer_calls
from stillflow.keras.saving.layer_calls import LayerCallCollection, inner_layers, without_losses
from stillflow.keras.saving.revived import RevivedLayer, RevivedSequential
from stillflow.keras.saving.tracing import raise_model_input_error, trace_model_call
from stillflow.keras.saving.training_argument import call_and_add_losses
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.call_context import call_context
from stillflow.names import public
from stillflow.platform import logging
from stillflow.saved_objects import save as saved_objects
from stillflow.tracking.structures import AutoTrackable, ListWrapper

_CACHE = "keras_serialized_attributes"  # what the layers' SavedAttributes are under in the cache of a SavedModel
_LOSSES = "keras_losses"
_KERAS_API = "keras_api"

# What is an attribute of a loaded layer that Keras has not made; all else is below `keras_api`.
COMMON_OBJECTS = ("variables", "trainable_variables", "regularization_losses")
COMMON_FUNCTIONS = ("__call__", "call_and_return_all_conditional_losses", "_default_save_signature")


@public("python.keras.saving.saved_model.save.save")
def save(model, filepath, overwrite, include_optimizer, signatures=None):
    """Writes a model as a SavedModel. What it computes is saved with the learning phase 0.

    Args:
      model: the model.
      filepath: the folder.
      overwrite: whether it may be there; otherwise the user is asked.
      include_optimizer: whether the optimizer is saved, too.
      signatures: see tf.saved_model.save.

    Raises ValueError if the model does not know its inputs.
    """
    if not overwrite and os.path.exists(filepath) and not ask_to_overwrite(filepath):
        return
    if _must_skip(model):
        raise_model_input_error(model)
    optimizer = model.optimizer
    if not include_optimizer:
        model.optimizer = None
    try:
        with learning_phase_scope(0):
            saved_objects.save(model, filepath, signatures)
    finally:
        if not include_optimizer:
            model.optimizer = optimizer


class SavedAttributes:
    """What a SavedModel has of one layer. It is empty until the functions have been traced."""

    def __init__(self):
        self._objects: dict = {}
        self.functions: dict = {}
        self._keras_api = AutoTrackable()

    def fill(self, objects, functions):
        """Sets {name: Trackable} and {name: tf.function or None}."""
        self._objects = objects
        self.functions = {name: function for name, function in functions.items() if function is not None}
        for name, value in [*objects.items(), *functions.items()]:
            setattr(self._keras_api, name, value)

    @property
    def functions_to_serialize(self):
        """The functions that are the layer's own attributes in the SavedModel."""
        return {name: self.functions[name] for name in COMMON_FUNCTIONS if name in self.functions}

    @property
    def objects_to_serialize(self):
        """The objects that are the layer's own attributes in the SavedModel."""
        found = {name: self._objects[name] for name in COMMON_OBJECTS if name in self._objects}
        return {**found, _KERAS_API: self._keras_api}


@public("python.keras.saving.saved_model.save.serialize_all_attributes")
def serialize_all_attributes(layer, serialization_cache):
    """The SavedAttributes of a layer, made once for each SavedModel.

    Args:
      layer: the layer.
      serialization_cache: the dictionary that the objects of a SavedModel share.
    """
    is_root = _CACHE not in serialization_cache
    known = serialization_cache.setdefault(_CACHE, {})
    if layer in known:
        return known[layer]
    attributes = known[layer] = SavedAttributes()
    if _must_skip(layer):
        return attributes
    functions = {"_default_save_signature": None}
    if is_root and isinstance(layer, Model):
        with without_losses(layer):
            signature = functions["_default_save_signature"] = trace_model_call(layer)
            signature.get_concrete_function()
    objects = _objects_of(layer, serialization_cache)
    try:
        functions.update(_functions_of(layer, serialization_cache))
    except (ValueError, TypeError) as error:
        logging.warning(
            f"Skipping full serialization of object {layer}, because an error occurred while tracing layer "
            f"functions. Error message: {error}"
        )
        return attributes
    attributes.fill(objects, functions)
    return attributes


def _must_skip(layer):
    """Whether there are no functions for a layer, as its inputs are not known."""
    if isinstance(layer, Model):
        if hasattr(layer, "inputs") and hasattr(layer, "input_names"):
            return False
        logging.warning(f"Skipping full serialization of Keras model {layer}, because its inputs are not defined.")
    elif layer.built:
        return False
    else:
        logging.warning(f"Skipping full serialization of Keras layer {layer}, because it is not built.")
    return True


def _objects_of(layer, serialization_cache):
    wrapped = serialization_cache.setdefault(_LOSSES, {})
    every_loss = [loss for each in [layer, *inner_layers(layer)] for loss in each._callable_losses]
    for loss in every_loss:
        if loss not in wrapped:
            wrapped[loss] = layer_calls.unconditional_loss(loss, len(wrapped))
    lists = {
        "variables": layer.variables,
        "trainable_variables": layer.trainable_variables,
        "non_trainable_variables": layer.non_trainable_variables,
        "layers": inner_layers(layer),
        "metrics": layer.metrics,
        "regularization_losses": [wrapped[loss] for loss in every_loss],
        "layer_regularization_losses": [wrapped[loss] for loss in layer._callable_losses],
    }
    return {name: ListWrapper(values) for name, values in lists.items()}


_LAYER_FUNCTIONS = (
    "__call__", "call_and_return_all_conditional_losses", "_default_save_signature",
    "call_and_return_conditional_losses", "activity_regularizer_fn",
)  # fmt: skip


def _functions_of(layer, serialization_cache):
    if isinstance(layer, RevivedLayer) and not isinstance(layer, RevivedSequential):
        # Layers may have been added to a Sequential model, or removed from it; others are as they were.
        return {name: getattr(layer.keras_api, name, None) for name in _LAYER_FUNCTIONS}
    with _calls_of_inner_layers_replaced(layer, serialization_cache), without_losses(layer):
        calls = LayerCallCollection(layer)
        with_losses = calls.add_function(
            layer_calls.outputs_and_losses(layer), f"{layer.name}_layer_call_and_return_conditional_losses"
        )
        functions = {
            "call_and_return_conditional_losses": with_losses,
            "__call__": calls.add_function(layer_calls.outputs_of(layer, with_losses), f"{layer.name}_layer_call_fn"),
            "activity_regularizer_fn": None,
            "call_and_return_all_conditional_losses": with_losses,
        }
        if layer.activity_regularizer is not None:
            regularizer = layer_calls.activity_regularizer_function(layer)
            functions["activity_regularizer_fn"] = regularizer
            functions["call_and_return_all_conditional_losses"] = calls.add_function(
                layer_calls.outputs_and_all_losses(layer, with_losses, regularizer),
                f"{layer.name}_layer_call_and_return_all_conditional_losses",
            )
        # Within a call, losses that the layer adds are those of a graph.
        with call_context.enter(layer, None, None):
            for function in functions.values():
                if function is not None and function.input_signature is not None:
                    function.get_concrete_function()
    return functions


@contextlib.contextmanager
def _calls_of_inner_layers_replaced(layer, serialization_cache):
    """A context in which the layers that a layer calls are their tf.functions, so that these are not traced anew."""
    originals = []
    for inner in inner_layers(layer):
        # There are none of a layer without inputs, and of one that this layer is a part of.
        functions = serialize_all_attributes(inner, serialization_cache).functions
        if functions:
            call = call_and_add_losses(inner, functions["call_and_return_conditional_losses"], default=False)
            originals.append((inner, inner.__dict__.get("call"), inner.activity_regularizer))
            _replace(inner, call, functions.get("activity_regularizer_fn"))
    try:
        yield
    finally:
        for original in originals:
            _replace(*original)


@untracked
def _replace(layer, call, activity_regularizer):
    layer._call_signature()  # which stays that of its own `call`
    layer.__dict__.pop("call", None)
    if call is not None:
        layer.call = call
    with contextlib.suppress(AttributeError):  # some layers do not let it be set
        layer.activity_regularizer = activity_regularizer
