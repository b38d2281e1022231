"""A model made anew in another graph, upon tensors, and compiled as it was."""

from __future__ import annotations

import contextlib

from stillflow.graph import nest
from stillflow.keras.backend.values import placeholder
from stillflow.keras.engine.cloning import clone_model
from stillflow.keras.engine.network import Network
from stillflow.keras.engine.sequential import Sequential
from stillflow.keras.metrics.base import Metric
from stillflow.keras.optimizers.lookup import TFOptimizer
from stillflow.keras.serialization import CustomObjectScope
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.platform import logging
from stillflow.saver import weight_values

_OF_BUILT_MODELS = (
    "inputs", "outputs", "total_loss", "optimizer", "train_function", "test_function", "predict_function",
    "_training_endpoints", "_collected_trainable_weights", "_feed_inputs", "_feed_input_names", "_feed_input_shapes",
    "loss_functions", "_compile_metric_functions", "_per_output_metrics", "_per_output_weighted_metrics",
)  # fmt: skip


@public("python.keras.models.clone_and_build_model")
def clone_and_build_model(
    model, input_tensors=None, target_tensors=None, custom_objects=None, compile_clone=True, in_place_reset=False,
    optimizer_iterations=None, optimizer_config=None,
):  # fmt: skip
    """A model of layers like those of another, with new initial values, compiled as that is.

    Args:
      model: the model.
      input_tensors: a list or a dictionary of tensors that it is built upon, instead of placeholders.
      target_tensors: a list of tensors of true values, instead of placeholders.
      custom_objects: {name: class or function} of the program's own.
      compile_clone: whether it is compiled.
      in_place_reset: whether a subclassed model without `get_config` is itself given new layers; see
        `in_place_subclassed_model_state_restoration`.
      optimizer_iterations: the variable that counts steps.
      optimizer_config: what the optimizer's `get_config` returned, or a list of such, if it cannot be asked here.

    Raises:
      ValueError: for a subclassed model that is not to be reset, or has layers in lists or in others; and if a model
        is to be compiled that is not.
    """
    optimizer = model.optimizer
    if compile_clone and not optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has not been compiled."
        )
    if model._is_graph_network or isinstance(model, Sequential):
        clone = _cloned(model, input_tensors, custom_objects)
    else:
        clone = _subclassed_again(model, in_place_reset)
        if input_tensors is not None:
            is_one = isinstance(input_tensors, (list, tuple)) and len(input_tensors) == 1
            clone._set_inputs(input_tensors[0] if is_one else input_tensors)
    if compile_clone:
        clone.compile(
            _optimizer_again(optimizer, optimizer_config, optimizer_iterations), model.loss,
            metrics=_metrics_again(model._compile_metrics), loss_weights=model.loss_weights,
            sample_weight_mode=model.sample_weight_mode,
            weighted_metrics=_metrics_again(model._compile_weighted_metrics), target_tensors=target_tensors,
        )  # fmt: skip
    return clone


def _cloned(model, input_tensors, custom_objects):
    with CustomObjectScope(custom_objects) if custom_objects else contextlib.nullcontext():
        clone = clone_model(model, input_tensors=input_tensors)
    shape = getattr(model, "_build_input_shape", None)
    if isinstance(clone, Sequential) and not clone._is_graph_network and shape is not None:
        clone._set_inputs(placeholder(shape, dtype=model.inputs[0].dtype))
    return clone


def _subclassed_again(model, in_place_reset):
    try:
        return type(model).from_config(model.get_config())
    except NotImplementedError:
        logging.warning(
            "This model is a subclassed model. Please implement `get_config` and `from_config` to better support "
            "cloning the model."
        )
    if not in_place_reset:
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned, but there is a workaround where the "
            "model is reset in-place. To use this, please set the argument `in_place_reset` to `True`. This will "
            "reset the attributes in the original model. To restore the attributes, call "
            "`in_place_subclassed_model_state_restoration(model)`."
        )
    _give_new_layers(model)
    return model


def _optimizer_again(optimizer, config, iterations):
    if isinstance(optimizer, TFOptimizer):
        weight_values.made_by(optimizer.optimizer)
        return TFOptimizer(optimizer.optimizer, iterations)
    known = optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]
    if config is None:
        configs = [each.get_config() for each in known]
    else:
        configs = [config] if isinstance(config, dict) else config
    again = [type(each).from_config(of_it) for each, of_it in zip(known, configs, strict=False)]
    if iterations is not None:
        for each in again:
            each.iterations = iterations
    return again[0] if len(again) == 1 else again


def _metrics_again(metrics):
    def again(metric):
        return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric

    return nest.map_structure(again, metrics)


# ---- Subclassed models ------------------------------------------------------------------------------------------


def _give_new_layers(model):
    """Replaces the layers among a model's attributes by new ones; what it had is kept beside."""
    kept = {name: value for name, value in vars(model).items() if isinstance(value, Layer)}
    for layer in kept.values():
        if getattr(layer, "layers", None):
            raise ValueError(
                "We do not support the use of nested layers in `model_to_estimator` at this time. Found nested "
                f"layer: {layer}"
            )
    for name, value in vars(model).items():
        if name in ("_layers", "_metrics", "_compile_metric_functions") or not isinstance(value, (list, tuple)):
            continue
        if value and all(isinstance(each, Layer) for each in value):
            raise ValueError(
                "We do not support the use of list-of-layers attributes in subclassed models used with "
                f"`model_to_estimator` at this time. Found list model: {name}"
            )
    names = {id(layer): name for name, layer in kept.items()}
    new = [(names[id(layer)], _new(layer)) for layer in model._layers]
    if model.built and getattr(model, "_original_attributes_cache", None) is None:
        kept.update((name, getattr(model, name)) for name in _OF_BUILT_MODELS if hasattr(model, name))
    _set_layers(model, new)
    model.__dict__["_original_attributes_cache"] = kept
    _forget_building(model)


def _new(layer):
    config = layer.get_config()
    if isinstance(layer, Network) and not layer._is_graph_network:
        raise ValueError(
            "We do not support the use of nested subclassed models in `model_to_estimator` at this time. Found "
            f"nested model: {layer}"
        )
    return type(layer).from_config(config)


def _set_layers(model, layers):
    """Sets attributes to layers, which are then those of the model."""
    model.__dict__.update(layers)
    model.__dict__["_layers"] = [layer for _, layer in layers]


def _forget_building(model):
    model.built = False
    model.inputs = model.outputs = model.optimizer = None
    model._is_compiled = False


@public("python.keras.models.in_place_subclassed_model_state_restoration")
def in_place_subclassed_model_state_restoration(model):
    """Gives a subclassed model the layers and the state back that it had when `clone_and_build_model` reset it."""
    kept = getattr(model, "_original_attributes_cache", None)
    if kept is None:
        _forget_building(model)
        return
    layers = {name: value for name, value in kept.items() if isinstance(value, Layer)}
    model.__dict__.update((name, value) for name, value in kept.items() if name not in layers)
    _set_layers(model, list(layers.items()))
    model.__dict__["_original_attributes_cache"] = None
