"""tf.estimator.Estimator: a model that a function builds, which trains, evaluates, predicts and exports itself."""

from __future__ import annotations

import copy
import os

from stillflow.distribute.context import get_strategy, scope_of
from stillflow.distribute.values import InputContext
from stillflow.estimator import evaluation, input_functions, saved_models
from stillflow.estimator.cluster_environment import TaskType
from stillflow.estimator.model_function import check_model_fn, wanted
from stillflow.estimator.run_config import replica_devices, settled_config
from stillflow.estimator.spec import EstimatorSpec
from stillflow.estimator.train_call import TrainCall, step_of
from stillflow.estimator.warm_starting import settings_of
from stillflow.graph import replica_modes as modes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.random.seeds import set_random_seed
from stillflow.saver import session_state
from stillflow.saver.checkpoint_reader import list_variables, load_variable
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.saver.warm_start import warm_start
from stillflow.training.global_step import create_global_step, get_global_step, get_or_create_global_step_read
from stillflow.training_loop.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverListener
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.training_loop.hooks.stopping import StopAtStepHook
from stillflow.training_loop.messages import log
from stillflow.training_loop.monitored_session import MonitoredSession
from stillflow.training_loop.scaffold import Scaffold
from stillflow.training_loop.session_creators import ChiefSessionCreator

_MAY_OVERRIDE = {"model_fn", "_create_and_assert_global_step", "_export_all_saved_models", "_metrics_with_loss"}


@public("estimator.Estimator", "python.estimator.estimator.EstimatorV2")
class Estimator:
    """A model that a function builds: for training, evaluation and prediction each time a graph of its own.

    Everything that it learns is in checkpoints in its folder: it goes on from the newest one, and saves as it trains.
    Killed at any instant and started again, a call of `train` with `max_steps` ends with the same bits as one that
    was not: also the position in a tf.data.Dataset and the random numbers go on.

    Args:
      model_fn: a function of `features`, and of those that it takes of `labels`, `mode`, `params` and `config`. It
        returns a tf.estimator.EstimatorSpec.
      model_dir: the folder, by default that of the config, else a temporary one.
      config: a tf.estimator.RunConfig.
      params: hyperparameters for the function.
      warm_start_from: where the first values of variables come from: a checkpoint, a folder of them, a SavedModel, or
        tf.estimator.WarmStartSettings.

    Raises ValueError if the function takes something else, the folders differ, or a subclass overrides methods.
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        self._assert_members_are_not_overridden()
        self._config = settled_config(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        log().info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or replica_devices(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = settings_of(warm_start_from)

    def _assert_members_are_not_overridden(self):  # TensorFlow's name: libraries replace it, to override members
        cls = type(self)
        if cls.__name__ == "TPUEstimator":
            return
        own = {name for name in dir(Estimator) if not name.startswith("__")} - _MAY_OVERRIDE
        overridden = [name for name in vars(cls) if name in own and getattr(Estimator, name) != getattr(cls, name)]
        if overridden:
            raise ValueError(
                f"Subclasses of Estimator cannot override members of Estimator. {cls} does override {overridden}"
            )

    @property
    def model_dir(self):
        """The folder."""
        return self._model_dir

    @property
    def config(self):
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def params(self):
        """A copy of the hyperparameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self):
        """The model function, bound to the hyperparameters: a function of features, labels, mode and config."""

        def public_model_fn(features, labels, mode, config):
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    # ---- What it has learned --------------------------------------------------------------------------------

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint, an array. Raises ValueError if there is none."""
        self._check_trained()
        return load_variable(self.model_dir, name)

    def get_variable_names(self):
        """The names of the variables in the newest checkpoint. Raises ValueError if there is none."""
        self._check_trained()
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self):
        """The path of the newest checkpoint, or None."""
        return latest_checkpoint(self.model_dir)

    def _check_trained(self):
        if not latest_checkpoint(self.model_dir):
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")

    # ---- Training -------------------------------------------------------------------------------------------

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains, from the newest checkpoint if there is one.

        Args:
          input_fn: a function that returns (features, labels), or a tf.data.Dataset of such; it may take `mode`,
            `params` and `config`.
          hooks: SessionRunHooks.
          steps: how many steps to do; by default until the input ends.
          max_steps: the global step to stop at, instead.
          saving_listeners: CheckpointSaverListeners.

        Returns:
          Itself.

        Raises:
          ValueError: if both or no positive numbers are given, labels that the model does not take, or the model
            function returns no EstimatorSpec.
          TypeError: for hooks and listeners that are none.
        """
        if self.config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate which calls "
                f"proper API according to given configuration. Current configuration: {self.config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        if max_steps is not None and max_steps <= step_of(self._model_dir):
            log().info("Skipping training since max_steps has already saved.")
            return self
        hooks = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        listeners = _checked_listeners(saving_listeners)
        loss = self._train_model(input_fn, TrainCall(self, hooks, listeners, steps, max_steps))
        log().info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn, call):
        with Graph().as_default() as graph, graph.device(self._device_fn):
            set_random_seed(self._config.tf_random_seed)
            with scope_of(self._config.train_distribute):
                if self._create_and_assert_global_step(graph) is not None:
                    get_or_create_global_step_read(graph)
                features, labels, input_hooks = self._features_and_labels(input_fn, ModeKeys.TRAIN)
                spec = self._call_model_fn_in_replica(features, labels, ModeKeys.TRAIN)
            return call.run(spec, input_hooks, get_global_step(graph))

    # ---- Evaluation -----------------------------------------------------------------------------------------

    def eval_dir(self, name=None):
        """The folder that evaluations of a name write to."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """Evaluates the model of a checkpoint.

        Args:
          input_fn: as for `train`.
          steps: how many batches; by default until the input ends.
          hooks: SessionRunHooks.
          checkpoint_path: the checkpoint; by default the newest one, and without any the model as it is initialized.
          name: of the evaluation, if there are several: its summaries go to a folder of their own.

        Returns:
          {name of a metric: value}, with "loss", its mean over the batches, and "global_step".

        Raises:
          ValueError: for a number that is not positive, and metrics called "loss" or "global_step".
          TypeError: for hooks that are none.
        """
        hooks = checked_hooks(hooks) + self._convert_eval_steps_to_hooks(steps)
        if not checkpoint_path:
            checkpoint_path = latest_checkpoint(self._model_dir)
            if not checkpoint_path:
                log().info(
                    "Could not find trained model in model_dir: %s, running initialization to evaluate.",
                    self._model_dir,
                )
        with Graph().as_default():
            scaffold, update_op, eval_dict, all_hooks = self._evaluate_build_graph(input_fn, hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, scaffold, update_op, eval_dict, all_hooks, self.eval_dir(name))

    def _convert_eval_steps_to_hooks(self, steps):
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        return [StopAfterNEvalsHook(num_evals=steps)]

    def _metrics_with_loss(self, spec):
        """The metrics of an evaluation, with the mean of the loss."""
        return evaluation.add_loss(spec.eval_metric_ops, spec.loss)

    def _evaluate_build_graph(self, input_fn, hooks=None, checkpoint_path=None):
        """Builds the model in the default graph. Its Scaffold, what updates metrics, their values, and all hooks."""
        graph = get_default_graph()
        session_state.set_policy(graph, session_state.NEVER)
        set_random_seed(self._config.tf_random_seed)
        with scope_of(self._config.eval_distribute):
            self._create_and_assert_global_step(graph)
            features, labels, input_hooks = self._features_and_labels(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn_in_replica(features, labels, ModeKeys.EVAL)
        metrics = self._metrics_with_loss(spec)
        update_op, eval_dict = evaluation.updates_and_values(metrics)
        step = get_global_step(graph)
        self._maybe_warm_start(checkpoint_path)
        if GraphKeys.GLOBAL_STEP in eval_dict:
            raise ValueError(
                "Metric with name `global_step` is not allowed, because Estimator already defines a default metric "
                "with the same name."
            )
        eval_dict[GraphKeys.GLOBAL_STEP] = step
        all_hooks = [*input_hooks, *(hooks or ()), *spec.evaluation_hooks]
        scaffold = spec.scaffold
        if scaffold.local_init_op is not None:
            # It does not know of the variable that counts evaluations, nor of the one that averages the loss.
            get_or_create_eval_step()
            local_init_op = group(scaffold.local_init_op, Scaffold.default_local_init_op())
            scaffold = Scaffold(local_init_op=local_init_op, copy_from_scaffold=scaffold)
        return scaffold, update_op, eval_dict, all_hooks

    def _evaluate_run(self, checkpoint_path, scaffold, update_op, eval_dict, all_hooks, output_dir):
        """Evaluates the model of the default graph, and writes the results."""
        creator = ChiefSessionCreator(
            scaffold, self._config.evaluation_master, self._session_config, None, checkpoint_path
        )
        results = evaluate_once(creator, update_op, final_ops=eval_dict, hooks=all_hooks)
        step = results[GraphKeys.GLOBAL_STEP]
        evaluation.write_results(output_dir, results, step)
        if checkpoint_path:
            evaluation.write_checkpoint_path(output_dir, checkpoint_path, step)
        return results

    def _maybe_warm_start(self, checkpoint_path):
        if not checkpoint_path and self._warm_start_settings:
            log().info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_start(*self._warm_start_settings)

    # ---- Prediction -----------------------------------------------------------------------------------------

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """Yields predictions: arrays, or {name: array}.

        Args:
          input_fn: as for `train`; labels are left out.
          predict_keys: the names of the predictions wanted; all by default.
          hooks: SessionRunHooks.
          checkpoint_path: as for `evaluate`.
          yield_single_examples: whether to yield the predictions one by one, and not in batches.

        Raises:
          ValueError: for names that there are not, and batches of different lengths.
          TypeError: for hooks that are none.
        """
        hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or latest_checkpoint(self._model_dir)
        if not checkpoint_path:
            log().info(
                "Could not find trained model in model_dir: %s, running initialization to predict.", self._model_dir
            )
        with Graph().as_default() as graph:
            session_state.set_policy(graph, session_state.NEVER)
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, _, input_hooks = input_functions.parse(self._call_input_fn(input_fn, ModeKeys.PREDICT))
            if not input_functions.ends_some_time(features):
                log().warning(
                    "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields "
                    "forever. This is probably a mistake."
                )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(checkpoint_path)
            predictions = _those_wanted(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                spec.scaffold, self._config.master, self._session_config, None, checkpoint_path
            )
            with MonitoredSession(creator, [*input_hooks, *hooks, *spec.prediction_hooks]) as session:
                while not session.should_stop():
                    values = session.run(predictions)
                    if not yield_single_examples:
                        yield values
                    elif isinstance(values, dict):
                        for i in range(_batch_length(values)):
                            yield {key: value[i] for key, value in values.items()}
                    else:
                        yield from values

    # ---- Export ---------------------------------------------------------------------------------------------

    def export_saved_model(
        self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None,
        experimental_mode=ModeKeys.PREDICT,
    ):  # fmt: skip
        """Writes the model of a checkpoint as a SavedModel, into a new folder that is called after the time.

        Args:
          export_dir_base: where to make the folder.
          serving_input_receiver_fn: a function that returns a tf.estimator.export.ServingInputReceiver.
          assets_extra: {path in the folder "assets.extra": path of a file to copy}.
          as_text: whether to write text.
          checkpoint_path: the checkpoint; by default the newest one.
          experimental_mode: the mode of the model.

        Returns:
          The folder's path, as bytes.

        Raises ValueError if there is no function, no checkpoint, or no output that could be exported.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def experimental_export_all_saved_models(
        self, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, checkpoint_path=None
    ):
        """Writes one SavedModel with graphs for several modes.

        Args:
          export_dir_base, assets_extra, as_text, checkpoint_path: as for export_saved_model.
          input_receiver_fn_map: {mode: function that returns a receiver}.

        Returns:
          The folder's path, as bytes.

        Raises ValueError if there are no modes, or no checkpoint.
        """
        return self._export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )

    def export_savedmodel(
        self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None,
        strip_default_attrs=False,
    ):  # fmt: skip
        """The older export_saved_model; `strip_default_attrs`: whether to leave out attributes with defaults."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            assets_extra,
            as_text,
            checkpoint_path,
            strip_default_attrs,
        )

    def _export_all_saved_models(
        self, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, checkpoint_path=None,
        strip_default_attrs=True,
    ):  # fmt: skip
        return saved_models.export(
            self, export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path, strip_default_attrs
        )

    def _add_meta_graph_for_mode(
        self, builder, input_receiver_fn_map, checkpoint_path, save_variables=True, mode=ModeKeys.PREDICT,
        export_tags=None, check_variables=True, strip_default_attrs=True,
    ):  # fmt: skip
        saved_models.add_graph(
            self, builder, input_receiver_fn_map, checkpoint_path, save_variables, mode, export_tags,
            check_variables, strip_default_attrs,
        )  # fmt: skip

    # ---- The program's functions ----------------------------------------------------------------------------

    def _create_global_step(self, graph):
        """Makes the global step, a scalar of integers in the graph's collection."""
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph):
        step = self._create_global_step(graph)
        assert step is get_global_step()
        assert step.dtype.is_integer
        return step

    def _features_and_labels(self, input_fn, mode):
        return input_functions.parse(self._call_input_fn(input_fn, mode))

    def _call_input_fn(self, input_fn, mode):
        with get_default_graph().device("/cpu:0"):
            context = {"input_context": InputContext()} if modes.is_distributed() else {}
            return input_fn(**wanted(input_fn, mode=mode, params=self.params, config=self.config, **context))

    def _call_model_fn_in_replica(self, features, labels, mode):
        """The model's EstimatorSpec, as the replica of the strategy in force sees it."""
        arguments = (features, labels, mode, self.config)
        strategy = get_strategy()
        if not modes.is_distributed():
            return self._call_model_fn(*arguments)
        return strategy.extended.call_for_each_replica(self._call_model_fn, args=arguments)

    def _call_model_fn(self, features, labels, mode, config):
        arguments = wanted(self._model_fn, labels=labels, mode=mode, params=self.params, config=config)
        if labels is not None and "labels" not in arguments:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        log().info("Calling model_fn.")
        spec = self._model_fn(features=features, **arguments)
        log().info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec


def checked_hooks(hooks):
    hooks = list(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def _checked_listeners(listeners):
    listeners = list(listeners or ())
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return listeners


def _those_wanted(predictions, keys):
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {keys}.")
    return found


def _batch_length(values):
    length = None
    for key, value in values.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length than others."
            )
    return length
