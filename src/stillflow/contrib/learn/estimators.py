"""tf.contrib.learn.Estimator: models with fit, evaluate and predict, of arrays or input functions."""

from __future__ import annotations

import copy
import tempfile

import numpy as np

from stillflow import errors
from stillflow.contrib.learn.alternatives import (
    build_all_signature_defs,
    get_input_alternatives,
    get_output_alternatives,
)
from stillflow.contrib.learn.array_feeds import ArrayFeeds
from stillflow.contrib.learn.metric_specs import metric_ops
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps
from stillflow.contrib.learn.old_exports import write_export
from stillflow.contrib.learn.run_settings import RunConfig
from stillflow.contrib.learn.step_monitors.base import as_hooks
from stillflow.contrib.learn.tensor_signatures import (
    create_placeholders_from_signatures,
    create_signatures,
    tensors_compatible,
)
from stillflow.estimator import run_config
from stillflow.estimator.estimator import Estimator as _CoreEstimator
from stillflow.estimator.evaluation import LOSS_METRIC_KEY
from stillflow.estimator.model_function import wanted
from stillflow.estimator.saved_models import copy_extra_assets
from stillflow.files import gfile
from stillflow.graph.collections import GraphKeys
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.random.seeds import set_random_seed
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saved_model.builder import SavedModelBuilder
from stillflow.saver.saved_model.exporting import get_temp_export_dir, get_timestamped_export_dir
from stillflow.saver.saved_model.modes import EstimatorModeKeys
from stillflow.saver.saved_model.names import SERVING
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.training.global_step import create_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.stopping import StopAtStepHook
from stillflow.training_loop.messages import log
from stillflow.training_loop.monitored_session import MonitoredSession
from stillflow.training_loop.scaffold import Scaffold
from stillflow.training_loop.session_creators import ChiefSessionCreator

_MODES = {
    EstimatorModeKeys.TRAIN: ModeKeys.TRAIN,
    EstimatorModeKeys.EVAL: ModeKeys.EVAL,
    EstimatorModeKeys.PREDICT: ModeKeys.INFER,
}


class _Core(_CoreEstimator):
    """A tf.estimator.Estimator whose models may have a metric "loss" of their own: heads' mean over the weights."""

    def _metrics_with_loss(self, spec):
        has_own = LOSS_METRIC_KEY in spec.eval_metric_ops
        return dict(spec.eval_metric_ops) if has_own else super()._metrics_with_loss(spec)


@public("contrib.learn.NotFittedError")
class NotFittedError(ValueError, AttributeError):
    """A model is used that was not trained."""


def check_input(x, y, input_fn, batch_size):
    """Raises ValueError for both arrays and an input function, for neither, and for tensors as arrays."""
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    elif x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    elif batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")


@public("contrib.learn.Evaluable")
class Evaluable:
    """What can be evaluated."""


@public("contrib.learn.Trainable")
class Trainable:
    """What can be trained."""


@public("contrib.learn.BaseEstimator")
class BaseEstimator(Evaluable, Trainable):
    """A model that is trained, evaluated and used. Each call makes a graph of its own.

    Args:
      model_dir: the folder of checkpoints, by default that of the config, else a temporary one.
      config: a tf.contrib.learn.RunConfig.
    """

    def __init__(self, model_dir=None, config=None):
        config = RunConfig() if config is None else config
        if model_dir is not None and config.model_dir is not None and model_dir != config.model_dir:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values. In constructor: "
                f"'{model_dir}', in RunConfig: '{config.model_dir}' "
            )
        self._model_dir = model_dir or config.model_dir
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            log().warning("Using temporary folder as model directory: %s", self._model_dir)
        self._config = copy.deepcopy(config)
        self._config._model_dir = self._model_dir
        if self._config.session_config is None:
            self._config._session_config = getattr(config, "tf_config", None) or run_config.default_session_config()
        self._features_info = self._labels_info = None
        self._eval_metrics = None
        self._core = _Core(model_fn=self._model_fn_of_core, model_dir=self._model_dir, config=self._config)

    def model_ops(self, features, labels, mode, metrics=None):
        """The ModelFnOps of a mode, one of ModeKeys."""
        raise NotImplementedError

    def predict_ops(self, features):
        """The ModelFnOps of predictions; labels are placeholders like those of training."""
        return self.model_ops(features, create_placeholders_from_signatures(self._labels_info), ModeKeys.INFER)

    @property
    def features_info(self):
        """The TensorSignatures of the features of training, one or a dict; None before it."""
        return self._features_info

    def _model_fn_of_core(self, features, labels, mode):
        mode = _MODES[mode]
        self._features_info = _checked("Features", features, self._features_info)
        if labels is not None:
            self._labels_info = _checked("Labels", labels, self._labels_info)
        ops = self.model_ops(features, labels, mode, self._eval_metrics)
        return ops.estimator_spec()

    @property
    def model_dir(self):
        """The folder."""
        return self._model_dir

    @property
    def config(self):
        """The RunConfig."""
        return copy.deepcopy(self._config)

    # ---- Training -------------------------------------------------------------------------------------------

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Trains, from the newest checkpoint if there is one. Returns itself.

        Args:
          x, y: features and labels, arrays or dicts of them, which come in random order, again and again.
          input_fn: a function that returns (features, labels), tensors, instead.
          steps: how many steps to do, at least one; by default until the input ends.
          batch_size: how many rows of arrays a step has; all by default.
          monitors: SessionRunHooks, or monitors of tf.contrib.learn.monitors.
          max_steps: the global step to stop at, instead of `steps`.

        Raises:
          ValueError: for both kinds of input or none, and both kinds of steps.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_input(x, y, input_fn, batch_size)
        hooks = as_hooks(monitors, self)
        if x is not None:
            feeds = ArrayFeeds(x, y, batch_size, shuffle=True, epochs=None)
            input_fn, hooks = feeds.input_fn, [feeds, *hooks]
        if steps is not None:
            hooks.append(StopAtStepHook(steps))
        self._core.train(_as_input_fn(input_fn), hooks=hooks, max_steps=max_steps)
        return self

    def partial_fit(self, x=None, y=None, input_fn=None, steps=1, batch_size=None, monitors=None):
        """Trains for a step; see fit."""
        return self.fit(x=x, y=y, input_fn=input_fn, steps=steps, batch_size=batch_size, monitors=monitors)

    # ---- Evaluation -----------------------------------------------------------------------------------------

    def evaluate(
        self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None, name=None,
        checkpoint_path=None, hooks=None, log_progress=True,
    ):  # fmt: skip
        """{name of a metric: value}, with "loss", its mean over the batches, and "global_step".

        Args:
          x, y, input_fn, batch_size: as fit has them; arrays come once.
          feed_fn: a function that returns what to feed to a step.
          steps: how many batches; by default until the input ends.
          metrics: {name: a MetricSpec, or a function of predictions and labels}.
          name: of the evaluation, if there are several.
          checkpoint_path: the checkpoint; by default the newest one.
          hooks: SessionRunHooks.
          log_progress: whether to log how far it has got.

        Raises:
          ValueError: for both kinds of input or none, and metrics that are no dict.
          NotFittedError: if there is no checkpoint.
        """
        check_input(x, y, input_fn, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        self._check_fitted(checkpoint_path)
        hooks = list(hooks or ())
        if x is not None:
            feeds = ArrayFeeds(x, y, batch_size, shuffle=False, epochs=1)
            input_fn, hooks = feeds.input_fn, [feeds, *hooks]
        if feed_fn is not None:
            hooks.insert(0, _FeedHook(feed_fn))
        self._eval_metrics = metrics
        try:
            return self._core.evaluate(_as_input_fn(input_fn), steps or None, hooks, checkpoint_path, name)
        finally:
            self._eval_metrics = None

    def _check_fitted(self, checkpoint_path=None):
        if not checkpoint_path and not latest_checkpoint(self._model_dir):
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")

    # ---- Prediction -----------------------------------------------------------------------------------------

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True, iterate_batches=False):
        """Predictions of the newest checkpoint: an iterator of those of each row, or an array.

        Args:
          x: features, an array or a dict of them.
          input_fn: a function that returns features, or (features, labels), instead.
          batch_size: how many rows of arrays a batch has; all by default.
          outputs: the names of the predictions wanted; all by default.
          as_iterable: whether to yield them; of an input function one batch is returned otherwise.
          iterate_batches: whether to yield batches.

        Raises:
          ValueError: for both kinds of input or none, and names that there are not.
          NotFittedError: if there is no checkpoint.
        """
        check_input(x, None, input_fn, batch_size)
        self._check_fitted()
        feeds = None
        if x is not None:
            feeds = ArrayFeeds(x, None, batch_size, shuffle=False, epochs=1)
            input_fn = feeds.input_fn
        batches = self._prediction_batches(input_fn, feeds, outputs)
        if not as_iterable:
            return next(batches) if feeds is None else _concatenated(list(batches))
        return batches if iterate_batches else _rows_of(batches)

    def _prediction_batches(self, input_fn, feeds, outputs):
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            create_global_step(graph)
            features = input_fn()
            if isinstance(features, (list, tuple)):
                features = features[0]
            ops = self.predict_ops(features)
            predictions = _those_wanted(ops.predictions, outputs)
            is_constant = feeds is None and not graph.get_collection(GraphKeys.QUEUE_RUNNERS)
            creator = ChiefSessionCreator(
                ops.scaffold,
                config=self._config.session_config,
                checkpoint_filename_with_path=latest_checkpoint(self._model_dir),
            )
            with MonitoredSession(creator, [] if feeds is None else [feeds]) as session:
                while not session.should_stop():
                    yield session.run(predictions)
                    if is_constant:
                        return

    def export_savedmodel(
        self, export_dir_base, serving_input_fn, default_output_alternative_key=None, assets_extra=None,
        as_text=False, checkpoint_path=None, strip_default_attrs=False,
    ):  # fmt: skip
        """Writes a SavedModel with a signature for each head, into a new folder that is called after the time.

        Args:
          export_dir_base: where to make the folder.
          serving_input_fn: a function that returns InputFnOps.
          default_output_alternative_key: the head that is served when none is asked for, if there are several.
          assets_extra: {path in the folder "assets.extra": path of a file to copy}.
          as_text: whether to write text.
          checkpoint_path: the checkpoint; by default the newest one.
          strip_default_attrs: whether to leave out attributes with defaults.

        Returns:
          The folder's path, as bytes.

        Raises:
          ValueError: without a function.
          NotFittedError: if there is no checkpoint.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        self._check_fitted(checkpoint_path)
        export_dir = get_timestamped_export_dir(export_dir_base)
        temporary_dir = get_temp_export_dir(export_dir)
        builder = SavedModelBuilder(temporary_dir)
        with Graph().as_default() as graph:
            create_global_step(graph)
            inputs, features = get_input_alternatives(serving_input_fn())
            found = self.model_ops(features, None, ModeKeys.INFER)
            outputs, default = get_output_alternatives(found, default_output_alternative_key)
            signatures = build_all_signature_defs(inputs, outputs, default)
            with Session() as session:
                saver = getattr(found.scaffold, "saver", None) or Saver(sharded=True)
                saver.restore(session, checkpoint_path or latest_checkpoint(self._model_dir))
                builder.add_meta_graph_and_variables(
                    session,
                    [SERVING],
                    signature_def_map=signatures,
                    assets_collection=graph.get_collection(GraphKeys.ASSET_FILEPATHS),
                    main_op=Scaffold.default_local_init_op(),
                    strip_default_attrs=strip_default_attrs,
                )
        builder.save(as_text)
        copy_extra_assets(temporary_dir, assets_extra)
        gfile.Rename(temporary_dir, export_dir)
        return export_dir

    def export(
        self, export_dir, input_fn=None, input_feature_key=None, use_deprecated_input_fn=True, signature_fn=None,
        prediction_key=None, default_batch_size=1, exports_to_keep=None, checkpoint_path=None,
    ):  # fmt: skip
        """Writes a MetaGraph that makes predictions, with a checkpoint, as it was done before SavedModels.

        Args:
          export_dir: where to make the folder, which is called after the step.
          input_fn: a function of the estimator and serialized Examples to features, by default those of training; or,
            if not `use_deprecated_input_fn`, one that returns (features, labels).
          input_feature_key: the feature of these that is the Examples, or None.
          signature_fn: a function of examples, features and predictions to (a Signature, {name: Signature}).
          prediction_key: the prediction that is exported; all by default.
          default_batch_size: how many Examples there are; None for any number.
          exports_to_keep: how many exports stay; None for all.
          checkpoint_path: the checkpoint; by default the newest one.

        Returns:
          The folder's path, as bytes.

        Raises:
          ValueError: without a function where one is needed, and before training if Examples are parsed.
          RuntimeError: if there is an export of that step.
        """
        return write_export(
            self, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep, input_feature_key,
            use_deprecated_input_fn, prediction_key, checkpoint_path,
        )  # fmt: skip

    # ---- What it has learned --------------------------------------------------------------------------------

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint, an array."""
        return self._core.get_variable_value(name)

    def get_variable_names(self):
        """The names of the variables in the newest checkpoint."""
        return self._core.get_variable_names()


class _FeedHook(SessionRunHook):
    """Feeds what a function returns."""

    def __init__(self, feed_fn):
        self._feed_fn = feed_fn

    def before_run(self, run_context):
        try:
            return SessionRunArgs(None, feed_dict=self._feed_fn())
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "There is nothing more to feed.") from None


@public("contrib.learn.Estimator")
class Estimator(BaseEstimator):
    """A model that a function builds.

    Args:
      model_fn: a function of features and labels, and of those that it takes of `mode`, `params`, `config` and
        `model_dir`. It returns ModelFnOps, or (predictions, loss, train_op).
      model_dir, config: as BaseEstimator has them.
      params: hyperparameters for the function.
      feature_engineering_fn: makes (features, labels) of features and labels before.

    Raises ValueError for hyperparameters that the function does not take.
    """

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, feature_engineering_fn=None):
        if model_fn is not None:
            names = fn_args(model_fn)
            if params is not None and "params" not in names:
                raise ValueError(
                    f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) were "
                    "passed to the Estimator's constructor."
                )
            if params is None and "params" in names:
                log().warning(
                    "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.",
                    model_fn,
                )
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(model_dir=model_dir, config=config)

    def model_ops(self, features, labels, mode, metrics=None):
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        arguments = wanted(
            self._model_fn, mode=mode, params=self.params, config=self.config, model_dir=self.model_dir
        )
        found = self._model_fn(features, labels, **arguments)
        if not isinstance(found, ModelFnOps):
            if len(found) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
            predictions, loss, train_op = found
            found = ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op)
        if metrics:
            made = metric_ops(metrics, features, labels, found.predictions)
            found = found._replace(eval_metric_ops={**found.eval_metric_ops, **made})
        return found


# ---- Inputs and predictions ---------------------------------------------------------------------------------


def _as_input_fn(input_fn):
    """An input function that takes nothing, as these do."""
    return lambda: input_fn()


def _checked(what, tensors, signatures):
    """The signatures, made if there are none. Raises ValueError for tensors that do not have them."""
    if signatures is None:
        return create_signatures(tensors)
    if not tensors_compatible(tensors, signatures):
        raise ValueError(
            f"{what} are incompatible with given information. Given {what.lower()}: {tensors}, required signatures: "
            f"{signatures}."
        )
    return signatures


def _those_wanted(predictions, outputs):
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("outputs argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in outputs}
    if not found:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {outputs}.")
    return found


def _rows_of(batches):
    for batch in batches:
        if isinstance(batch, dict):
            count = len(next(iter(batch.values())))
            for i in range(count):
                yield {key: value[i] for key, value in batch.items()}
        else:
            yield from batch


def _concatenated(batches):
    if isinstance(batches[0], dict):
        return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
    return np.concatenate(batches)
