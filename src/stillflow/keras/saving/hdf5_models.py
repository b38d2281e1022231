"""Whole models in HDF5 files: what they are made of, their weights, and how they are trained."""

from __future__ import annotations

import contextlib
import json

from stillflow.keras.engine.compiled import make_training_state
from stillflow.keras.engine.model_configs import model_from_config
from stillflow.keras.engine.training_config import compile_args_from_training_config, model_metadata
from stillflow.keras.optimizers.lookup import TFOptimizer
from stillflow.keras.saving import hdf5
from stillflow.keras.saving.tracing import should_overwrite
from stillflow.layers.core.saved import plain_json
from stillflow.names import public
from stillflow.platform import logging


def _opened(filepath, mode):
    """A context with the h5py.File of a path; one that is given stays open."""
    h5py = hdf5.require(f"`{'load' if mode == 'r' else 'save'}_model` requires h5py.")
    return contextlib.nullcontext(filepath) if isinstance(filepath, h5py.File) else h5py.File(filepath, mode)


@public("python.keras.saving.hdf5_format.save_model_to_hdf5")
def save_model_to_hdf5(model, filepath, overwrite=True, include_optimizer=True):
    """Writes a model to a file.

    Args:
      model: a model that is not subclassed, with its variables made.
      filepath: the path, or an h5py.File.
      overwrite: whether a file may be there; otherwise the user is asked.
      include_optimizer: whether the state of the training is written, too.

    Raises ImportError without h5py.
    """
    hdf5.require("`save_model` requires h5py.")
    if isinstance(filepath, str) and not should_overwrite(filepath, overwrite):
        return
    with _opened(filepath, "w") as file:
        for key, value in model_metadata(model, include_optimizer).items():
            text = value if isinstance(value, str) else json.dumps(value, default=plain_json)
            file.attrs[key] = text.encode()
        hdf5.save_weights(file.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer and not isinstance(model.optimizer, TFOptimizer):
            hdf5.save_optimizer_weights(file, model.optimizer)


@public("python.keras.saving.hdf5_format.load_model_from_hdf5")
def load_model_from_hdf5(filepath, custom_objects=None, compile=True):
    """The model of a file.

    Args:
      filepath: the path, or an h5py.File.
      custom_objects: {name: class or function} of the program's own.
      compile: whether the model is compiled as it was.

    Raises:
      ImportError: without h5py.
      OSError: if there is no such file.
      ValueError: if there is no model in it.
    """
    with _opened(filepath, "r") as file:
        described = file.attrs.get("model_config")
        if described is None:
            raise ValueError("No model found in config file.")
        model = model_from_config(json.loads(described), custom_objects=custom_objects)
        hdf5.load_weights(file["model_weights"], model.layers)
        if compile:
            _compile(model, file, custom_objects)
    return model


def _compile(model, file, custom_objects):
    training = file.attrs.get("training_config")
    if training is None:
        logging.warning(
            "No training configuration found in save file: the model was *not* compiled. Compile it manually."
        )
        return
    model.compile(**compile_args_from_training_config(json.loads(training), custom_objects))
    if "optimizer_weights" not in file:
        return
    make_training_state(model)
    try:
        model.optimizer.set_weights(hdf5.load_optimizer_weights(file))
    except ValueError:
        logging.warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with a freshly "
            "initialized optimizer."
        )
