"""How a model is made and trained, as plain values for files."""

from __future__ import annotations

from stillflow.graph import nest
from stillflow.keras.losses.lookup import get as get_loss
from stillflow.keras.optimizers.lookup import TFOptimizer
from stillflow.keras.optimizers.lookup import deserialize as deserialize_optimizer
from stillflow.keras.optimizers.restored import RestoredOptimizer
from stillflow.names import public
from stillflow.platform import logging

KERAS_VERSION = "2.2.4-tf"


@public("python.keras.saving.saving_utils.model_metadata")
def model_metadata(model, include_optimizer=True, require_config=True):
    """A dictionary of what a model is made of, `model_config`, and how it is trained, `training_config`.

    Args:
      model: the model.
      include_optimizer: whether `training_config` is there, if the model has an optimizer of Keras.
      require_config: whether a model without `get_config` is an error.

    Raises:
      NotImplementedError: for such a model, and for an optimizer of a SavedModel.
    """
    config = {"class_name": type(model).__name__}
    try:
        config["config"] = model.get_config()
    except NotImplementedError:
        if require_config:
            raise
    found = {"keras_version": KERAS_VERSION, "backend": "tensorflow", "model_config": config}
    if not model.optimizer or not include_optimizer:
        return found
    if isinstance(model.optimizer, TFOptimizer):
        logging.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state after "
            "instantiation. As a result, we cannot save the optimizer as part of the model save file. You will have "
            "to compile your model again after loading it. Prefer using a Keras optimizer instead (see "
            "keras.io/optimizers)."
        )
        return found
    if isinstance(model.optimizer, RestoredOptimizer):
        raise NotImplementedError(
            "As of now, Optimizers loaded from SavedModel cannot be saved. If you're calling `model.save` or "
            "`tf.keras.models.save_model`, please set the `include_optimizer` option to `False`. For "
            "`tf.saved_model.save`, delete the optimizer from the model."
        )
    found["training_config"] = {
        "loss": model.loss, "metrics": model._compile_metrics,
        "weighted_metrics": model._compile_weighted_metrics, "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": {"class_name": type(model.optimizer).__name__, "config": model.optimizer.get_config()},
    }  # fmt: skip
    return found


@public("python.keras.saving.saving_utils.compile_args_from_training_config")
def compile_args_from_training_config(training_config, custom_objects=None):
    """The arguments of `Model.compile` of a `training_config`.

    Args:
      training_config: the dictionary.
      custom_objects: {name: class or function} of the program's own.
    """
    objects = custom_objects or {}

    def known(structure):
        return nest.map_structure(lambda name: objects.get(name, name), structure)

    loss = training_config["loss"]
    if isinstance(loss, dict) and "class_name" in loss:
        loss = get_loss(loss)
    return {
        "optimizer": deserialize_optimizer(training_config["optimizer_config"], custom_objects=custom_objects),
        "loss": known(loss), "metrics": known(training_config["metrics"]),
        "weighted_metrics": known(training_config.get("weighted_metrics")),
        "loss_weights": training_config["loss_weights"],
        "sample_weight_mode": training_config["sample_weight_mode"],
    }  # fmt: skip
