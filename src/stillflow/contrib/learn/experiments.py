"""tf.contrib.learn.Experiment: training and evaluation of one estimator, and learn_runner, which runs one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from stillflow.contrib.learn.estimators import Evaluable, Trainable
from stillflow.contrib.learn.run_settings import RunConfig
from stillflow.contrib.learn.step_monitors.base import as_hooks
from stillflow.contrib.learn.step_monitors.validation import ValidationMonitor
from stillflow.contrib.training.hyperparameters import HParams
from stillflow.estimator.estimator import Estimator as CoreEstimator
from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.training_loop.messages import log


class _ExportStrategy(NamedTuple):
    name: str
    export_fn: Callable
    strip_default_attrs: bool | None = None


@public("contrib.learn.ExportStrategy")
class ExportStrategy(_ExportStrategy):
    """A way to export a model: a name, which its folder gets, and a function of an estimator and a folder."""

    __slots__ = ()

    def export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
        """Calls the function with those of the arguments that it takes; returns what it returns.

        Raises ValueError if it takes an evaluation and no checkpoint.
        """
        names = fn_args(self.export_fn)
        if "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        known = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        given = {name: value for name, value in known.items() if name in names}
        return self.export_fn(estimator, export_path, **given)


@public("contrib.learn.Experiment")
class Experiment:
    """An estimator with the input, steps and metrics of its training and evaluation.

    Args:
      estimator: a tf.estimator.Estimator, or tf.contrib.learn.Estimator.
      train_input_fn, eval_input_fn: input functions.
      eval_metrics: {name: MetricSpec}, only for a tf.contrib.learn.Estimator.
      train_steps: the global step to train to; None for as long as there is input.
      eval_steps: how many batches to evaluate.
      train_monitors, eval_hooks: SessionRunHooks.
      local_eval_frequency: how often local_run evaluates, in steps.
      eval_delay_secs: how long evaluations wait at first, in seconds.
      continuous_eval_throttle_secs: the least time between two evaluations of continuous_eval, in seconds.
      min_eval_frequency: how often train_and_evaluate looks for a checkpoint to evaluate, in steps; 0 for never.
      delay_workers_by_global_step: means nothing in one process.
      export_strategies: ExportStrategies, one or several.
      train_steps_per_iteration: how many steps continuous_train_and_eval trains at a time.
      checkpoint_and_export: whether to export after each evaluation of a checkpoint.
      saving_listeners: CheckpointSaverListeners, only for a tf.estimator.Estimator.
      check_interval_secs: the least time between two looks for a checkpoint.

    Raises ValueError for what does not fit the kind of estimator.
    """

    def __init__(
        self, estimator, train_input_fn, eval_input_fn, eval_metrics=None, train_steps=None, eval_steps=100,
        train_monitors=None, eval_hooks=None, local_eval_frequency=None, eval_delay_secs=120,
        continuous_eval_throttle_secs=60, min_eval_frequency=None, delay_workers_by_global_step=False,
        export_strategies=None, train_steps_per_iteration=None, checkpoint_and_export=False, saving_listeners=None,
        check_interval_secs=5,
    ):  # fmt: skip
        self._is_core = isinstance(estimator, CoreEstimator)
        _check_kind(estimator, self._is_core, eval_metrics, saving_listeners)
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._check_interval_secs = check_interval_secs
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._train_monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._train_steps_per_iteration = train_steps_per_iteration
        self._export_strategies = _checked_strategies(export_strategies)

    @property
    def estimator(self):
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self):
        """The metrics, or None."""
        return self._eval_metrics

    @property
    def train_steps(self):
        """The global step to train to, or None."""
        return self._train_steps

    @property
    def eval_steps(self):
        """How many batches are evaluated."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks):
        """Adds hooks to those of the training."""
        self._train_monitors += additional_hooks

    def reset_export_strategies(self, new_export_strategies=None):
        """Takes other ExportStrategies; returns those before."""
        before, self._export_strategies = self._export_strategies, _checked_strategies(new_export_strategies)
        return before

    # ---- What learn_runner calls ----------------------------------------------------------------------------

    def train(self, delay_secs=None):
        """Trains; workers of a cluster begin `delay_secs` later, by default five seconds for each before them."""
        if delay_secs is None:
            delay_secs = min(60, (self._estimator.config.task_id or 0) * 5)
        if delay_secs > 0:
            log().info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._train(max_steps=self._train_steps)

    def evaluate(self, delay_secs=None, name=None):
        """The metrics of the newest checkpoint, after a delay."""
        self._wait(delay_secs)
        return self._evaluate(name=name or "one_pass")

    def local_run(self):
        """The same as train_and_evaluate, with `local_eval_frequency`."""
        return self._train_and_evaluate(self._local_eval_frequency)

    def train_and_evaluate(self):
        """Trains and evaluates checkpoints meanwhile; (the metrics at the end, what exports return)."""
        return self._train_and_evaluate(self._min_eval_frequency)

    def _train_and_evaluate(self, frequency):
        hooks = []
        if frequency:
            export = self._export if self._checkpoint_and_export else None
            hooks.append(
                _CheckpointEvaluation(self._evaluate, export, self._estimator, frequency, self._check_interval_secs)
            )
        self._train(max_steps=self._train_steps, hooks=hooks)
        results = self._evaluate(name=None)
        return results, self._export(results)

    def continuous_eval(
        self, delay_secs=None, throttle_delay_secs=None, evaluate_checkpoint_only_once=True,
        continuous_eval_predicate_fn=None, name="continuous",
    ):  # fmt: skip
        """Evaluates checkpoints as they come, until one is of the last step.

        Args:
          delay_secs, throttle_delay_secs: how long to wait at first, and the least time between two evaluations.
          evaluate_checkpoint_only_once: whether to wait for a new one each time.
          continuous_eval_predicate_fn: a function of the last results, and of `checkpoint_path` if it takes that,
            which says whether to go on.
          name: of the evaluation.
        """
        self._evaluate_continuously(
            self._eval_input_fn, name, delay_secs, throttle_delay_secs, evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn, exports=True,
        )  # fmt: skip

    def continuous_eval_on_train_data(
        self, delay_secs=None, throttle_delay_secs=None, continuous_eval_predicate_fn=None,
        name="continuous_on_train_data",
    ):  # fmt: skip
        """The same with the input of the training."""
        self._evaluate_continuously(
            self._train_input_fn, name, delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn,
            exports=False,
        )  # fmt: skip

    def _evaluate_continuously(
        self, input_fn, name, delay_secs, throttle_delay_secs, only_once, predicate_fn, exports
    ):
        goes_on = _predicate(predicate_fn)
        throttle = self._throttle_secs if throttle_delay_secs is None else throttle_delay_secs
        self._wait(delay_secs)
        before = None
        results: dict | None = None
        while goes_on(results, before) and not self._is_done(results):
            start = time.monotonic()
            path = latest_checkpoint(self._estimator.model_dir)
            results = {}
            if path and not (only_once and path == before):
                results = self._evaluate(name=name, checkpoint_path=path, input_fn=input_fn) or {}
                if exports:
                    self._export(results, path)
                before = path
            rest = throttle - (time.monotonic() - start)
            if rest > 0 and not self._is_done(results):
                time.sleep(rest)

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Trains some steps and evaluates, again and again, to the last step; (the last metrics, exports).

        Args:
          continuous_eval_predicate_fn: says whether to go on; see continuous_eval.
        """
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
        results, exported, path = None, None, None
        while goes_on(results, path) and not self._is_done(results):
            self._train(steps=steps)
            path = latest_checkpoint(self._estimator.model_dir)
            results = self._evaluate(name="one_pass", checkpoint_path=path)
            exported = self._export(results)
        return results, exported

    def test(self):
        """One step of training, and the metrics of one batch."""
        self._train(steps=1)
        results = self._evaluate(name="one_pass", steps=1)
        self._export(results)
        return results

    # ---- Calls of the estimator -----------------------------------------------------------------------------

    def _wait(self, delay_secs):
        delay = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay:
            log().info("Waiting %f secs before starting eval.", delay)
            time.sleep(delay)

    def _is_done(self, results):
        step = (results or {}).get(GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)

    def _train(self, hooks=(), **steps):
        hooks = [*self._train_monitors, *hooks]
        if not self._is_core:
            return self._estimator.fit(input_fn=self._train_input_fn, monitors=hooks, **steps)
        hooks = as_hooks(hooks, self._estimator)
        return self._estimator.train(
            self._train_input_fn, hooks=hooks, saving_listeners=self._saving_listeners, **steps
        )

    def _evaluate(self, name, checkpoint_path=None, input_fn=None, steps=None):
        given = {} if self._is_core else {"metrics": self._eval_metrics}
        return self._estimator.evaluate(
            input_fn=input_fn or self._eval_input_fn,
            steps=steps or self._eval_steps,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=list(self._eval_hooks),
            **given,
        )

    def _export(self, results, checkpoint_path=None):
        folder = Path(self._estimator.model_dir, "export")
        return [
            strategy.export(self._estimator, str(folder / strategy.name), checkpoint_path, results)
            for strategy in self._export_strategies
        ]


class _CheckpointEvaluation(ValidationMonitor):
    """Evaluates checkpoints by an experiment's function, and exports them."""

    def __init__(self, evaluate, export, estimator, every_n_steps, check_interval_secs):
        super().__init__(input_fn=evaluate, every_n_steps=every_n_steps, check_interval_secs=check_interval_secs)
        self._run, self._export = evaluate, export
        self.set_estimator(estimator)

    def _evaluate_estimator(self, checkpoint_path):
        results = self._run(name=None, checkpoint_path=checkpoint_path)
        if self._export is not None:
            self._export(results, checkpoint_path)
        return results


def _check_kind(estimator, is_core, eval_metrics, saving_listeners):
    if is_core:
        if eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                "`tf.estimator.EstimatorSpec` instead."
            )
        return
    if not isinstance(estimator, Evaluable):
        raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
    if not isinstance(estimator, Trainable):
        raise ValueError("`estimator` must implement `tf.contrib.learn.Trainable`or `tf.estimator.`Estimator`.")
    if saving_listeners is not None:
        raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")


def _checked_strategies(values):
    found = [values] if isinstance(values, ExportStrategy) else list(values or ())
    for value in found:
        if not isinstance(value, ExportStrategy):
            raise ValueError(
                "`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, found "
                f"{value}."
            )
    return tuple(found)


def _predicate(predicate_fn):
    """A function of results and checkpoint that says whether to go on."""
    if predicate_fn is None:
        return lambda results, checkpoint_path: True
    if not callable(predicate_fn):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in fn_args(predicate_fn):
        return lambda results, checkpoint_path: predicate_fn(results, checkpoint_path=checkpoint_path)
    return lambda results, checkpoint_path: predicate_fn(results)


# ---- learn_runner -------------------------------------------------------------------------------------------


@public("contrib.learn.learn_runner.run")
def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Makes an Experiment and calls one of its methods, whose result it returns.

    Args:
      experiment_fn: a function of `run_config` and `hparams`, or of `output_dir`, that returns the Experiment.
      output_dir: the folder; only without `run_config`.
      schedule: the method, "train_and_evaluate" by default.
      run_config: a tf.contrib.learn.RunConfig with a folder, which the Experiment's estimator has to use.
      hparams: HParams; only with `run_config`.

    Raises:
      ValueError: for both folder and config or none, a config without folder, and a method that there is not.
      TypeError: for no function, another result, and what is no method.
      RuntimeError: if the estimator uses another config.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _experiment_of(experiment_fn, run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = _checked_experiment(experiment_fn(output_dir=output_dir))
    return _call(experiment, schedule or "train_and_evaluate")


def _checked_experiment(experiment):
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    return experiment


def _experiment_of(experiment_fn, run_config, hparams):
    if not isinstance(run_config, RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    experiment = _checked_experiment(experiment_fn(run_config, hparams))
    config = experiment.estimator.config
    if not hasattr(config, "uid"):
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. It is likely a "
            "different `RunConfig` is passed to `Estimator` or the `config` constructor argument in `Estimator` is "
            "not set."
        )
    if config.uid() != run_config.uid():
        raise RuntimeError(
            "`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. expected "
            f"{run_config.uid()}, but got {config.uid()}"
        )
    return experiment


def _call(experiment, schedule):
    method = getattr(experiment, schedule, None)
    if method is None:
        raise ValueError(f"Schedule references non-existent task {schedule}")
    if not callable(method):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return method()


@public("contrib.learn.learn_runner.tune")
def tune(experiment_fn, tuner):
    """Runs experiments as long as a tuner has trials: an object with `next_trial` and `run_experiment`."""

    def build(run_config, hparams):
        if hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        return _experiment_of(experiment_fn, run_config, hparams)

    while tuner.next_trial():
        tuner.run_experiment(build)
