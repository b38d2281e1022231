"""tf.keras.estimator.model_to_estimator: a compiled model of Keras as an Estimator."""

from __future__ import annotations

from typing import Any

from stillflow.estimator.estimator import Estimator
from stillflow.estimator.run_config import settled_config
from stillflow.estimator.spec import EstimatorSpec
from stillflow.files import gfile
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import set_learning_phase, set_session
from stillflow.keras.backend.values import track_variable
from stillflow.keras.engine import data
from stillflow.keras.engine.rebuilding import clone_and_build_model, in_place_subclassed_model_state_restoration
from stillflow.keras.engine.sequential import Sequential
from stillflow.keras.saving.models import load_model
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from stillflow.platform import logging
from stillflow.random.seeds import set_random_seed
from stillflow.saver import weight_values
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.objects.object_graph import frozen_saveables
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.training.global_step import create_global_step, get_global_step, get_or_create_global_step
from stillflow.training_loop.scaffold import Scaffold


@public("keras.estimator.model_to_estimator")
def model_to_estimator(
    keras_model=None, keras_model_path=None, custom_objects=None, model_dir=None, config=None,
    checkpoint_format="saver",
):  # fmt: skip
    """A compiled model as an Estimator, which begins with the model's weights.

    The input function's features are a tensor, a list in the order of the model's inputs, or a dictionary by their
    names; {"features": those, "sample_weights": weights} also weighs samples.

    Args:
      keras_model: the model.
      keras_model_path: the HDF5 file of a compiled model, instead.
      custom_objects: {name: class or function} of the program's own.
      model_dir: the Estimator's folder; see tf.estimator.Estimator.
      config: a tf.estimator.RunConfig.
      checkpoint_format: "saver" for checkpoints by names of variables, "checkpoint" for those of objects, as
        `load_weights` reads; the latter not of subclassed models.

    Raises:
      ValueError: without a model or with two, for one that is not compiled, and for another format.
    """
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    config = settled_config(config, model_dir)
    if keras_model:
        logging.info("Using the Keras model provided.")
    else:
        logging.info("Loading models from %s", keras_model_path)
        keras_model = load_model(keras_model_path, custom_objects)
    saves_objects = _saves_objects(checkpoint_format, keras_model)
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with `model.compile()` before "
            "calling `model_to_estimator()`."
        )
    model_fn = _model_function(keras_model, custom_objects, saves_objects)
    has_values = _has_values(keras_model)
    if not has_values:
        set_session(Session(config=config.session_config))
    elif config.session_config.HasField("gpu_options"):
        logging.warning(
            "The Keras backend session has already been set. The _session_config passed to model_to_estimator will "
            "not be used."
        )
    first = None
    if keras_model._is_graph_network:
        first = _first_checkpoint(keras_model, custom_objects, config, saves_objects, has_values)
    elif keras_model.built:
        logging.warning(
            "You are creating an Estimator from a Keras model manually subclassed from `Model`, that was already "
            "called on some inputs (and thus already had weights). We are currently unable to preserve the model's "
            "state (its weights) as part of the estimator in this case. Be warned that the estimator has been "
            "created using a freshly initialized version of your model.\nNote that this doesn't affect the state of "
            "the model instance you passed as `keras_model` argument."
        )
    return Estimator(model_fn, config=config, warm_start_from=first)


def _saves_objects(checkpoint_format, model):
    if checkpoint_format == "saver":
        return False
    if checkpoint_format not in (None, "checkpoint"):
        raise ValueError(f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}')
    if not (model._is_graph_network or isinstance(model, Sequential)):
        raise ValueError("Object-based checkpoints are currently not supported with subclassed models.")
    return True


@by_mode
def _has_values(model):
    """Whether some weight of the model has a value in a session."""
    waiting = {id(each) for each in get_default_graph().__dict__.get("_variables_of_layers", ())}
    return any(id(weight) not in waiting for layer in model.layers for weight in layer.weights)


@eager_version_of(_has_values)
def _always_has_values(model):
    return True


# ---- The model function -----------------------------------------------------------------------------------------


def _model_function(keras_model, custom_objects, saves_objects):
    optimizer_config = _config_of(keras_model.optimizer)

    def model_fn(features, labels, mode):
        model = _model_in_graph(mode, keras_model, custom_objects, features, labels, optimizer_config)
        predictions = dict(zip(model.output_names, model.outputs, strict=True))
        loss = train_op = metrics = None
        if mode == ModeKeys.TRAIN:
            model._make_train_function()
            train_op = model.train_function.updates_op
        elif mode == ModeKeys.EVAL:
            model._make_test_function()
        if mode != ModeKeys.PREDICT:
            loss = model.total_loss
            if getattr(model, "_compile_metrics", None):
                metrics = {metric.name: metric for metric in model._compile_metric_functions}
        if not model._is_graph_network and getattr(keras_model, "_original_attributes_cache", None) is not None:
            in_place_subclassed_model_state_restoration(keras_model)
        return EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics,
            export_outputs={DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)},
            scaffold=_scaffold_of(model) if saves_objects else None,
        )  # fmt: skip

    return model_fn


def _config_of(optimizer):
    """What `get_config` says of an optimizer, or of each in a list; None for those of tf.train."""
    try:
        if isinstance(optimizer, (list, tuple)):
            return [each.get_config() for each in optimizer]
        return optimizer.get_config()
    except (NotImplementedError, AttributeError):
        return None


def _scaffold_of(model):
    """A Scaffold whose Saver writes what `save_weights` would, and the global step."""
    model._track_trackable(get_global_step(), "estimator_global_step")
    saver = Saver(var_list=frozen_saveables(model), sharded=True)
    frozen_saveables(model)  # TensorFlow makes another Saver to restore by names, of which this node is left
    return Scaffold(saver=saver)


def _model_in_graph(mode, keras_model, custom_objects, features=None, labels=None, optimizer_config=None):
    """The model, built anew in the default graph, upon tensors of features and labels."""
    set_learning_phase(mode == ModeKeys.TRAIN)
    features, weights = _split_weights(features)
    is_network = keras_model._is_graph_network
    takes_dictionary = getattr(keras_model, "_takes_dictionary", False)
    names = keras_model.input_names if is_network or takes_dictionary else None
    inputs: Any = _in_order(features, names, "features", "inputs", "input_{}")
    if takes_dictionary and inputs is not None:
        inputs = dict(zip(keras_model.input_names, inputs, strict=True))
    targets = _in_order(labels, keras_model.output_names if is_network else None, "labels", "outputs", "output_{}")
    global_step = None
    if mode != ModeKeys.PREDICT:
        global_step = get_or_create_global_step()
        track_variable(global_step)
    model = clone_and_build_model(
        keras_model, inputs, targets, custom_objects, compile_clone=mode != ModeKeys.PREDICT,
        in_place_reset=not is_network, optimizer_iterations=global_step, optimizer_config=optimizer_config,
    )  # fmt: skip
    if weights is not None:
        model._compile_weights_loss_and_weighted_metrics(
            data.weights_of_outputs(weights, model.output_names, "sample_weight")
        )
    return model


def _split_weights(features):
    """(features, weights of the samples or None)."""
    if isinstance(features, dict) and features.keys() == {"features", "sample_weights"}:
        return features["features"], features["sample_weights"]
    return features, None


def _in_order(values, names, kind, order, pattern):
    """A list of tensors, those of a dictionary in the order of names; None for None. Raises KeyError for others."""
    if values is None:
        return None
    if isinstance(values, (list, tuple)):
        return [_tensor(each) for each in values]
    if not isinstance(values, dict):
        return [_tensor(values)]
    if names is None:
        names = [pattern.format(number) for number in range(1, len(values) + 1)]
    different = set(values) ^ set(names)
    if different:
        raise KeyError(
            f"The dictionary passed into {kind} does not have the expected {order} keys defined in the keras model."
            f"\n\tExpected keys: {set(names)}\n\t{kind} keys: {set(values)}\n\tDifference: {different}"
        )
    return [_tensor(values[name]) for name in names]


def _tensor(value):
    return value if isinstance(value, (Tensor, SparseTensor)) else convert_to_tensor_or_sparse_tensor(value)


# ---- The first checkpoint ---------------------------------------------------------------------------------------


def _first_checkpoint(keras_model, custom_objects, config, saves_objects, has_values):
    """The path of a checkpoint with the model's weights, in the folder "keras" of the Estimator's."""
    folder = f"{config.model_dir}/keras"
    path = latest_checkpoint(folder)
    if path:
        return path
    values = keras_model.get_weights() if has_values else None
    gfile.MakeDirs(folder)
    path = f"{folder}/keras_model.ckpt"
    with Graph().as_default():
        set_random_seed(config.tf_random_seed)
        create_global_step()
        model = _model_in_graph(ModeKeys.TRAIN, keras_model, custom_objects)
        model._make_train_function()
        with Session(config=config.session_config) as session:
            if values:
                model.set_weights(values)
            weight_values.give_initial_values(session)
            if saves_objects:
                model._track_trackable(get_global_step(), "estimator_global_step")
                model.save_weights(path)
            else:
                Saver().save(session, path)
    return path
