"""tf.contrib.learn.monitors.ValidationMonitor: evaluates while an estimator trains."""

from __future__ import annotations

import copy
import time
from typing import Any

from stillflow.contrib.learn import estimators
from stillflow.contrib.learn.step_monitors.base import EveryN
from stillflow.names import public
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.training_loop.messages import log


@public("contrib.learn.monitors.ValidationMonitor")
class ValidationMonitor(EveryN):
    """Evaluates each new checkpoint while an estimator trains, and stops it when that does not get better.

    Args:
      x, y, input_fn, batch_size, eval_steps, metrics, hooks, name: as the estimator's evaluate has them.
      every_n_steps: how often to look for a checkpoint, in steps.
      early_stopping_rounds: after how many steps without a better value to stop; None for never.
      early_stopping_metric: the metric whose value is meant.
      early_stopping_metric_minimize: whether less is better.
      check_interval_secs: the least time between two looks, in seconds.

    Raises ValueError for no input.
    """

    def __init__(
        self, x=None, y=None, input_fn=None, batch_size=None, eval_steps=None, every_n_steps=100, metrics=None,
        hooks=None, early_stopping_rounds=None, early_stopping_metric="loss", early_stopping_metric_minimize=True,
        name=None, check_interval_secs=5,
    ):  # fmt: skip
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        self._input = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size}
        self._given = {"steps": eval_steps, "metrics": metrics, "name": name, "hooks": hooks}
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._is_better = (lambda a, b: a < b) if early_stopping_metric_minimize else (lambda a, b: a > b)
        self._check_interval_secs = check_interval_secs
        self._latest_path = None
        self._last_look: Any = None
        self._early_stopped = False
        self._best_step: Any = None
        self._best_value = self._best_metrics = None

    @property
    def early_stopped(self):
        """Whether it has stopped the training."""
        return self._early_stopped

    @property
    def best_step(self):
        """The step of the best value."""
        return self._best_step

    @property
    def best_value(self):
        """The best value."""
        return self._best_value

    @property
    def best_metrics(self):
        """All metrics at the step of the best value."""
        return self._best_metrics

    def every_n_step_end(self, step, outputs):
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now, interval = time.monotonic(), self._check_interval_secs
        if interval is not None and self._last_look is not None and now - self._last_look <= interval:
            return False
        self._last_look = now
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        results = self._evaluate_estimator(path)
        log().info("Validation (step %d): %s", step, ", ".join(f"{k} = {v}" for k, v in results.items()))
        return self._rounds is not None and self._stops(results, step)

    def _evaluate_estimator(self, checkpoint_path):
        given = {**self._given, "hooks": list(self._given["hooks"] or ()), "checkpoint_path": checkpoint_path}
        if isinstance(self._estimator, estimators.BaseEstimator):
            return self._estimator.evaluate(**self._input, **given)
        given_others = [self._input["x"], self._input["y"], self._input["batch_size"], given.pop("metrics")]
        if any(value is not None for value in given_others):
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, batch_size, metrics. Should set "
                "as `None` in ValidationMonitor"
            )
        return self._estimator.evaluate(self._input["input_fn"], **given)

    def _stops(self, results, step):
        """Whether there was no better value for too long."""
        if self._metric not in results:
            raise ValueError(f"Metric {self._metric} missing from outputs {set(results)}.")
        value = results[self._metric]
        if self._best_value is None or self._is_better(value, self._best_value):
            self._best_value, self._best_step, self._best_metrics = value, step, copy.deepcopy(results)
        if step - self._best_step < self._rounds:
            return False
        log().info("Stopping. Best step: %s with %s = %s.", self._best_step, self._metric, self._best_value)
        self._early_stopped = True
        return True
