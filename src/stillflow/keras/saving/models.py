"""Whole models in HDF5 files: what they are made of, their weights, and how they are trained."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from stillflow.keras.engine.compiled import make_training_state
from stillflow.keras.engine.model import plain_json
from stillflow.keras.engine.model_configs import model_from_config
from stillflow.keras.engine.weight_files import ask_to_overwrite
from stillflow.keras.optimizers.lookup import TFOptimizer
from stillflow.keras.optimizers.lookup import deserialize as deserialize_optimizer
from stillflow.keras.saving import hdf5
from stillflow.names import public


@public("keras.models.save_model")
def save_model(model, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
    """Writes a model to an HDF5 file, from which `load_model` makes it again.

    Args:
      model: a model that is not subclassed, with its variables made.
      filepath: the path.
      overwrite: whether a file may be there; otherwise the user is asked.
      include_optimizer: whether the state of the training is written, too.
      save_format: "h5", or None.
      signatures: None; they are of SavedModels.

    Raises:
      ImportError: without h5py.
      NotImplementedError: for a subclassed model, or another format.
    """
    if save_format not in (None, "h5", "hdf5", "keras"):
        raise NotImplementedError(f"Models are saved in HDF5 files, not in the format {save_format!r}.")
    h5py = hdf5.require("`save_model` requires h5py.")
    if not model._is_graph_network and type(model).__name__ != "Sequential":
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It "
            "does "
            "not work for subclassed models, because such models are defined via the body of a Python method, which "
            "isn't safely serializable. Consider saving to the Tensorflow SavedModel format (by setting "
            'save_format="tf") or using `save_weights`.'
        )
    if not overwrite and Path(filepath).is_file() and not ask_to_overwrite(filepath):
        return
    with h5py.File(filepath, "w") as file:
        file.attrs["keras_version"] = hdf5.KERAS_VERSION.encode()
        file.attrs["backend"] = b"tensorflow"
        described = {"class_name": type(model).__name__, "config": model.get_config()}
        file.attrs["model_config"] = json.dumps(described, default=plain_json).encode()
        hdf5.save_weights(file.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer:
            _save_training(file, model)


def _save_training(file, model):
    if isinstance(model.optimizer, TFOptimizer):
        logging.getLogger("tensorflow").warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state after "
            "instantiation. As a result, we cannot save the optimizer as part of the model save file. You will "
            "have to "
            "compile your model again after loading it. Prefer using a Keras optimizer instead (see "
            "keras.io/optimizers)."
        )
        return
    training = {
        "loss": model.loss, "metrics": model._compile_metrics,
        "weighted_metrics": model._compile_weighted_metrics, "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": {"class_name": type(model.optimizer).__name__, "config": model.optimizer.get_config()},
    }  # fmt: skip
    file.attrs["training_config"] = json.dumps(training, default=plain_json).encode()
    hdf5.save_optimizer_weights(file, model.optimizer)


@public("keras.models.load_model")
def load_model(filepath, custom_objects=None, compile=True):
    """The model of an HDF5 file that `save_model` has written.

    Args:
      filepath: the path.
      custom_objects: {name: class or function} of the program's own.
      compile: whether the model is compiled as it was.

    Raises:
      ImportError: without h5py.
      OSError: if there is no such file.
      ValueError: if there is no model in it.
    """
    h5py = hdf5.require("`load_model` requires h5py.")
    with h5py.File(filepath, "r") as file:
        described = file.attrs.get("model_config")
        if described is None:
            raise ValueError("No model found in config file.")
        model = model_from_config(json.loads(described), custom_objects=custom_objects)
        hdf5.load_weights(file["model_weights"], model.layers)
        training = file.attrs.get("training_config")
        if not compile:
            return model
        if training is None:
            logging.getLogger("tensorflow").warning(
                "No training configuration found in save file: the model was *not* compiled. Compile it manually."
            )
            return model
        training = json.loads(training)
        optimizer = deserialize_optimizer(training.pop("optimizer_config"), custom_objects=custom_objects)
        model.compile(optimizer=optimizer, **training)
        if "optimizer_weights" in file:
            make_training_state(model)
            try:
                model.optimizer.set_weights(hdf5.load_optimizer_weights(file))
            except ValueError:
                logging.getLogger("tensorflow").warning(
                    "Error in loading the saved optimizer state. As a result, your model is starting with a freshly "
                    "initialized optimizer."
                )
    return model
