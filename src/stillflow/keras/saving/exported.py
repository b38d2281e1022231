"""tf.keras.experimental.export_saved_model: a SavedModel with a graph for each of training, test and prediction."""

from __future__ import annotations

import os

from stillflow.files import filesystem, gfile
from stillflow.graph import nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.keras.backend.phases import learning_phase_scope
from stillflow.keras.backend.values import placeholder
from stillflow.keras.engine.model_configs import model_from_json
from stillflow.keras.engine.rebuilding import clone_and_build_model
from stillflow.keras.engine.sequential import Sequential
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.keras.optimizers.lookup import TFOptimizer
from stillflow.names import public
from stillflow.platform import logging
from stillflow.platform.deprecation import deprecated
from stillflow.saver.objects.object_graph import ObjectGraph
from stillflow.saver.saved_model import names
from stillflow.saver.saved_model.builder import SavedModelBuilder
from stillflow.saver.saved_model.exporting import build_all_signature_defs, export_outputs_for_mode, tags_of
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.variables.listing import local_variables_initializer

_JSON_FILENAME = "saved_model.json"


@public("keras.experimental.export_saved_model", "contrib.saved_model.save_keras_model")
@deprecated(
    None,
    'Please use `model.save(..., save_format="tf")` or `tf.keras.models.save_model(..., save_format="tf")`.',
)
def export_saved_model(
    model, saved_model_path, custom_objects=None, as_text=False, input_signature=None, serving_only=False
):
    """Writes a model as a SavedModel, whose graphs train it, test it and predict, and what it is made of as JSON.

    Args:
      model: the model; without an optimizer, only the graph that predicts is written.
      saved_model_path: the folder, empty or not there.
      custom_objects: {name: class or function} of the program's own.
      as_text: whether the graphs are written as text.
      input_signature: tf.TensorSpecs of the inputs, if they are not to be those of the model.
      serving_only: whether only the graph that predicts is written.

    Raises:
      NotImplementedError: for a subclassed model, unless `serving_only`, which needs a `get_config`.
      ValueError: for a Sequential model without variables.
      AssertionError: if the folder is not empty.
    """
    _write_graphs(model, saved_model_path, custom_objects, as_text, input_signature, serving_only)
    try:
        _write_json(model, saved_model_path)
    except NotImplementedError:
        logging.warning("Skipped saving model JSON, subclassed model does not have get_config() defined.")


@public("keras.experimental.load_from_saved_model", "contrib.saved_model.load_keras_model")
@deprecated(
    None,
    "The experimental save and load functions have been  deprecated. Please switch to `tf.keras.models.load_model`.",
)
def load_from_saved_model(saved_model_path, custom_objects=None):
    """A model, not compiled, like the one that `export_saved_model` has written, with its weights.

    Args:
      saved_model_path: the folder.
      custom_objects: {name: class or function} of the program's own.

    Raises tf.errors.OpError if the folder is not there, or its files are damaged.
    """
    folder = filesystem.path_text(saved_model_path)
    with gfile.GFile(names.asset_path(folder, _JSON_FILENAME)) as file:
        model = model_from_json(file.read(), custom_objects=custom_objects)
    model.load_weights(names.variables_path(folder))
    return model


def _write_json(model, folder):
    assets = names.assets_dir(filesystem.path_text(folder))
    described = model.to_json()
    gfile.MakeDirs(assets)
    with gfile.GFile(os.path.join(assets, _JSON_FILENAME), "w") as file:
        file.write(described)


def _write_graphs(model, folder, custom_objects, as_text, input_signature, serving_only):
    if not model._is_graph_network and not (serving_only and _has_config(model)):
        if not isinstance(model, Sequential):
            raise NotImplementedError(
                "Subclassed models can only be exported for serving. Please set argument serving_only=True."
            )
        if not model.built:
            raise ValueError(
                "Weights for sequential model have not yet been created. Weights are created when the Model is first "
                "called on inputs or `build()` is called with an `input_shape`, or the first layer in the model has "
                "`input_shape` during construction."
            )
    builder = SavedModelBuilder(folder)
    checkpoint = names.variables_path(filesystem.path_text(folder))
    gfile.MakeDirs(os.path.dirname(checkpoint))
    model.save_weights(checkpoint, save_format="tf")
    exported = _Exported(model, builder, checkpoint, custom_objects, input_signature)
    if isinstance(model.optimizer, (TFOptimizer, OptimizerV2)) and not serving_only:
        exported.add(ModeKeys.TRAIN)
        exported.add(ModeKeys.EVAL)
    elif model.optimizer and not serving_only:
        logging.warning(
            "Model was compiled with an optimizer, but the optimizer is not from `tf.train` (e.g. "
            "`tf.train.AdagradOptimizer`). Only the serving graph was exported. The train and evaluate graphs were "
            "not added to the SavedModel."
        )
    exported.add(ModeKeys.PREDICT)
    builder.save(as_text)


def _has_config(model):
    try:
        model.get_config()
    except NotImplementedError:
        return False
    return True


class _Exported:
    """A model that is written mode by mode: in each it is built anew, over the same checkpoint."""

    def __init__(self, model, builder, checkpoint, custom_objects, input_signature):
        self._model = model
        self._builder = builder
        self._checkpoint = checkpoint
        self._custom_objects = custom_objects
        self._input_signature = input_signature
        self._has_all_variables = False

    def add(self, mode):
        """Adds the graph for a mode; the first one's optimizer has variables that join the checkpoint."""
        with Graph().as_default(), learning_phase_scope(int(mode == ModeKeys.TRAIN)):
            clone = self._clone(mode)
            train_op = _make_function(clone, mode)
            updates = get_default_graph().get_collection_ref(GraphKeys.UPDATE_OPS)
            updates.extend(clone.state_updates)
            with Session().as_default():
                saveables, _ = ObjectGraph(clone).serialized()
                status = clone.load_weights(self._checkpoint)
                if self._has_all_variables:
                    status.assert_existing_objects_matched()
                else:
                    clone.save_weights(self._checkpoint, save_format="tf")
                    self._has_all_variables = True
                self._builder._add_meta_graph_with_ops(
                    tags_of(mode), _signatures(clone, mode), Saver(saveables, allow_empty=True),
                    init_op=local_variables_initializer(), train_op=train_op,
                )  # fmt: skip

    def _clone(self, mode):
        inputs = None
        if self._input_signature is not None:
            inputs = nest.map_structure(
                lambda spec: placeholder(shape=spec.shape, dtype=spec.dtype, name=spec.name), self._input_signature
            )
        is_compiled = mode != ModeKeys.PREDICT
        clone = clone_and_build_model(
            self._model, input_tensors=inputs, custom_objects=self._custom_objects, compile_clone=is_compiled
        )
        if is_compiled:  # what tf.train.get_global_step finds where the graph is loaded
            get_default_graph().add_to_collection(GraphKeys.GLOBAL_STEP, clone.optimizer.iterations)
        return clone


def _make_function(model, mode):
    """Adds what runs in a mode to the graph. Returns the operation that trains, or None."""
    if mode == ModeKeys.TRAIN:
        model._make_train_function()
        return model.train_function.updates_op
    if mode == ModeKeys.EVAL:
        model._make_test_function()
    else:
        model._make_predict_function()
    return None


def _signatures(model, mode):
    inputs = dict(zip(model.input_names, model.inputs, strict=True))
    if model.optimizer:
        inputs.update({target.op.name: target for target in model._targets if target is not None})
    metrics = None
    if getattr(model, "_compile_metrics", None):
        metrics = {metric.name: metric for metric in model._compile_metric_functions}
    graph = get_default_graph()
    locals_ = graph.get_collection_ref(GraphKeys.LOCAL_VARIABLES)
    for metric in (metrics or {}).values():
        locals_.extend(variable for variable in metric.variables if all(variable is not each for each in locals_))
    outputs = export_outputs_for_mode(
        mode, predictions=dict(zip(model.output_names, model.outputs, strict=True)),
        loss=model.total_loss if model.optimizer else None, metrics=metrics,
    )  # fmt: skip
    return build_all_signature_defs(inputs, outputs, serving_only=mode == ModeKeys.PREDICT)
