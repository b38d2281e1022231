"""tf.estimator.train_and_evaluate: trains, evaluates each checkpoint, and exports."""

from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple

from stillflow.estimator.cluster_environment import TaskType
from stillflow.estimator.estimator import Estimator
from stillflow.estimator.train_and_eval_specs import EvalSpec, TrainSpec, checked_hooks
from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.platform.compat import as_str_any
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverListener
from stillflow.training_loop.hooks.step_timer import SecondOrStepTimer
from stillflow.training_loop.messages import log

_MOST_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
_SECS_BETWEEN_WARNINGS = 600


@public("estimator.train_and_evaluate")
def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains, evaluates after checkpoints, and exports.

    In a cluster that TF_CONFIG tells of, this task does its part of it. Here it trains to the end, and evaluates
    checkpoints as they are written, but for those that come sooner than `eval_spec.throttle_secs` after the last
    evaluation; and at the end.

    Args:
      estimator: the Estimator.
      train_spec: a TrainSpec.
      eval_spec: an EvalSpec.

    Returns:
      The results of the last evaluation, and the list of what exporters returned; None in a cluster.

    Raises:
      TypeError: for other types.
      ValueError: for a place in the cluster that makes no sense.
    """
    _check_eval_spec(eval_spec)
    executor = Executor(estimator, train_spec, eval_spec)
    config = estimator.config
    log().info("Not using Distribute Coordinator.")
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id "
            f"{config.task_id}"
        )
    return executor.run()


@public("python.estimator.training._assert_eval_spec")
def _check_eval_spec(eval_spec):
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")


@public("python.distribute.estimator_training.should_run_distribute_coordinator")
def should_run_distribute_coordinator(config):
    """Whether tf.distribute's coordinator trains: where a RunConfig names its mode, which none of stillflow's does.

    Args:
      config: a RunConfig.
    """
    return getattr(config, "_distribute_coordinator_mode", None) is not None and bool(config.cluster_spec)


# ---- Evaluating checkpoints ---------------------------------------------------------------------------------------


@public("python.estimator.training._EvalStatus")
class EvalStatus:
    """What came of an evaluation."""

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


@public("python.estimator.training._EvalResult")
class EvalResult(NamedTuple):
    """What came of an evaluation, the metrics, and the checkpoint."""

    status: str
    metrics: Any = None
    checkpoint_path: Any = None


@public("python.estimator.training._ContinuousEvalListener")
class ContinuousEvalListener:
    """Something that is asked around evaluations whether to go on. Subclasses override what they need."""

    def before_eval(self):
        """Whether to evaluate."""
        return True

    def after_eval(self, eval_result):
        """Whether to go on, after an EvalResult."""
        return True


class Evaluator:
    """Evaluates the newest checkpoint, unless it has done so already, and calls the exporters."""

    def __init__(self, estimator, eval_spec, max_training_steps):
        self._estimator = estimator
        _check_eval_spec(eval_spec)
        self._eval_spec = eval_spec
        self._previous_path = None
        self._last_warning_time = 0.0
        self._max_training_steps = max_training_steps

    def evaluate_and_export(self):
        """An EvalResult, and the list of what the exporters returned."""
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return EvalResult(EvalStatus.MISSING_CHECKPOINT), []
        if path == self._previous_path:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are "
                "expected to be same for the same checkpoint."
            )
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT), []
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            input_fn=spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=path, hooks=spec.hooks
        )
        _check_metrics(metrics)
        last_step = self._max_training_steps
        is_final = bool(last_step) and metrics[GraphKeys.GLOBAL_STEP] >= last_step
        exports = self._export(path, metrics, is_final)
        if is_final:
            log().debug("Calling exporter with the `is_the_final_export=True`.")
        self._last_warning_time = 0.0
        self._previous_path = path
        return EvalResult(EvalStatus.EVALUATED, metrics, path), exports

    def _export(self, path, metrics, is_final):
        folder = os.path.join(as_str_any(self._estimator.model_dir), "export")
        return [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(folder, as_str_any(exporter.name)),
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=is_final,
            )
            for exporter in self._eval_spec.exporters
        ]

    def _warn(self, message):
        """Logs a warning, and not the same over and over."""
        if time.time() - self._last_warning_time > _SECS_BETWEEN_WARNINGS:
            log().warning(message)
            self._last_warning_time = time.time()


def _check_metrics(metrics):
    if not metrics:
        raise ValueError("Internal error: `Estimator.evaluate` should never return empty metrics.")
    if not isinstance(metrics, dict):
        raise TypeError(f"`Estimator.evaluate` should return dict. Given {type(metrics)}.")
    if GraphKeys.GLOBAL_STEP not in metrics:
        raise ValueError(
            f"Internal error: `Estimator.evaluate` result should have `global_step` in result. Given {metrics}"
        )


class _EvaluatingListener(CheckpointSaverListener):
    """Evaluates checkpoints as they are written, but for those that follow too soon; and the last one."""

    def __init__(self, evaluator, throttle_secs, continuous_eval_listener):
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self._listener = continuous_eval_listener
        self.eval_result, self.export_results = None, None

    def begin(self):
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_run = True

    def after_save(self, session, global_step_value):
        if self._is_first_run:  # the checkpoint that training starts with
            self._is_first_run = False
            return None
        if not self._listener.before_eval():
            log().info("Exiting training and evaluation loop, as requested by _ContinuousEvalListener.before_eval.")
            return True
        if not self._timer.should_trigger_for_step(global_step_value):
            log().info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)
            return None
        self._evaluate(global_step_value)
        if not self._listener.after_eval(self.eval_result):
            log().info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
            return True
        return None

    def end(self, session, global_step_value):
        if global_step_value != self._timer.last_triggered_step() and self._listener.before_eval():
            self._evaluate(global_step_value)
            self._listener.after_eval(self.eval_result)

    def _evaluate(self, step):
        self._timer.update_last_triggered_step(step)
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != EvalStatus.EVALUATED:
            raise RuntimeError(
                f"There was no new checkpoint after the training. Eval status: {self.eval_result.status}"
            )


# ---- What each task of a cluster does -----------------------------------------------------------------------------


@public("python.estimator.training._TrainingExecutor")
class Executor:
    """Does what a task has to do, here or in a cluster.

    Args:
      estimator, train_spec, eval_spec: as for train_and_evaluate.
      train_hooks: more SessionRunHooks for training.
      continuous_eval_listener: a ContinuousEvalListener.

    Raises TypeError for other types.
    """

    def __init__(self, estimator, train_spec, eval_spec, train_hooks=None, continuous_eval_listener=None):
        if not isinstance(estimator, Estimator):
            raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError(
                f"`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}"
            )
        if continuous_eval_listener and not isinstance(continuous_eval_listener, ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._estimator = estimator
        self._train_spec = train_spec
        self._eval_spec = eval_spec
        self._train_hooks = checked_hooks(train_hooks)
        self._listener = continuous_eval_listener or ContinuousEvalListener()

    def run(self):
        """Does the part of the task that the RunConfig says this is. Raises ValueError if it is none."""
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            log().info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means TF_CONFIG environment is not set "
                "correctly."
            )
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties in TF_CONFIG "
                "absent triggers train and evaluate `Estimator` locally (non-distributed)."
            )
        tasks = {name[4:] for name in dir(self) if name.startswith("run_")} - {"local"}
        if config.task_type not in tasks:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types are {sorted(tasks)}"
            )
        return getattr(self, f"run_{config.task_type}")()

    def run_local(self):
        """Trains and evaluates here. The last metrics, and what the exporters returned."""
        _check_eval_spec(self._eval_spec)
        config = self._estimator.config
        log().info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
            "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        listener = _EvaluatingListener(self._new_evaluator(), self._eval_spec.throttle_secs, self._listener)
        self._train([listener])
        result = listener.eval_result or EvalResult(EvalStatus.MISSING_CHECKPOINT)
        return result.metrics, listener.export_results

    def run_chief(self):
        """Trains, and saves."""
        self._train_in_cluster()

    def run_worker(self):
        """Trains."""
        self._train_in_cluster()

    def run_master(self):
        """Trains, saves and evaluates."""
        _check_eval_spec(self._eval_spec)
        throttle_secs = self._eval_spec.throttle_secs
        self._train_in_cluster([_EvaluatingListener(self._new_evaluator(), throttle_secs, ContinuousEvalListener())])

    def run_ps(self):
        """Serves variables."""
        self._start_server().join()

    def run_evaluator(self):
        """Evaluates checkpoints as others write them, until training has come to its end."""
        _check_eval_spec(self._eval_spec)
        delay_secs = self._eval_spec.start_delay_secs
        if delay_secs:
            log().info("Waiting %f secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        evaluator = self._new_evaluator()
        result, should_stop = None, False
        while not should_stop:
            if result and result.status == EvalStatus.EVALUATED:
                step, last_step = result.metrics.get(GraphKeys.GLOBAL_STEP), self._train_spec.max_steps
                if step and last_step and step >= last_step:
                    log().info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, last_step)
                    return
            result, should_stop = self._evaluate_once(evaluator)

    def _evaluate_once(self, evaluator):
        """An EvalResult, and whether to stop."""
        start = time.time()
        if not self._listener.before_eval():
            log().info("Exiting evaluation, as requested by _ContinuousEvalListener.before_eval.")
            return None, True
        result, _ = evaluator.evaluate_and_export()
        if not self._listener.after_eval(result):
            log().info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
            return result, True
        throttle_secs = self._eval_spec.throttle_secs
        rest_secs = throttle_secs - (time.time() - start)
        if rest_secs > 0:
            log().info("Waiting %f secs before starting next eval run.", rest_secs)
            time.sleep(rest_secs)
        elif throttle_secs == 0 and result.status != EvalStatus.EVALUATED:
            log().warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new "
                "checkpoint. Please consider to increase it."
            )
        return result, False

    def _new_evaluator(self):
        return Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)

    def _train(self, saving_listeners=None):
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=saving_listeners,
        )

    def _train_in_cluster(self, saving_listeners=None):
        config = self._estimator.config
        if not _is_served():
            self._start_server()
        if config.task_type == TaskType.WORKER:
            most_secs = config.experimental_max_worker_delay_secs
            most_secs = _MOST_DELAY_SECS if most_secs is None else int(most_secs)
            delay_secs = min(most_secs, (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
            if delay_secs > 0:
                log().info("Waiting %d secs before starting training.", delay_secs)
                time.sleep(delay_secs)
        self._train(saving_listeners)

    def _start_server(self):
        """Starts this task's server; there is none for a cluster of one."""
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError(
                "Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig or set "
                "the TF_CONFIG environment variable."
            )
        if config.master:
            raise RuntimeError("Could not start server; stillflow's sessions run in one process.")
        jobs = config.cluster_spec.jobs
        is_alone = len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1
        if is_alone and config.task_type in (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER):
            log().info("Skip starting Tensorflow server as there is only one node in the cluster.")
            return
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG environment "
            "variable."
        )


def _is_served():
    """Whether whoever started this process has started a server as well."""
    environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if not environment:
        log().warning("TF_CONFIG should not be empty in distributed environment.")
    return environment.get("environment") == "google"
