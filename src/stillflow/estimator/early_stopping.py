"""tf.estimator.experimental.stop_if_higher_hook and its kin: hooks that end training by what evaluations show."""

from __future__ import annotations

import collections
import operator
import os

from stillflow.estimator.estimator import Estimator
from stillflow.estimator.exporters import simple_values
from stillflow.files import gfile
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.summary.event_files import summary_iterator
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.step_timer import SecondOrStepTimer
from stillflow.training_loop.messages import log
from stillflow.variables.assignments import assign
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import AUTO_REUSE, variable_scope


@public("estimator.experimental.make_early_stopping_hook", "contrib.estimator.make_early_stopping_hook")
def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    """A hook that ends training, of all workers of a cluster, when a function says so.

    Args:
      estimator: the Estimator.
      should_stop_fn: a function without arguments that returns whether to stop.
      run_every_secs: how often to ask it, in seconds.
      run_every_steps: how often, in steps, instead.

    Raises:
      TypeError: if it is no Estimator or no function.
      ValueError: if both times are given.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


@public("estimator.experimental.stop_if_higher_hook", "contrib.estimator.stop_if_higher_hook")
def stop_if_higher_hook(
    estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None
):
    """A hook that ends training when a metric of an evaluation is above a threshold.

    Args:
      estimator: the Estimator.
      metric_name: the metric.
      threshold: the threshold.
      eval_dir: the folder of the evaluations, by default `estimator.eval_dir()`.
      min_steps: evaluations before this step do not count.
      run_every_secs, run_every_steps: as for make_early_stopping_hook.
    """
    return _threshold_hook(
        estimator, metric_name, threshold, operator.gt, "greater than", eval_dir, min_steps, run_every_secs,
        run_every_steps,
    )  # fmt: skip


@public("estimator.experimental.stop_if_lower_hook", "contrib.estimator.stop_if_lower_hook")
def stop_if_lower_hook(
    estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None
):
    """Like stop_if_higher_hook, when the metric is below the threshold."""
    return _threshold_hook(
        estimator, metric_name, threshold, operator.lt, "less than", eval_dir, min_steps, run_every_secs,
        run_every_steps,
    )  # fmt: skip


@public("estimator.experimental.stop_if_no_increase_hook", "contrib.estimator.stop_if_no_increase_hook")
def stop_if_no_increase_hook(
    estimator, metric_name, max_steps_without_increase, eval_dir=None, min_steps=0, run_every_secs=60,
    run_every_steps=None,
):  # fmt: skip
    """A hook that ends training when the best value of a metric is that many steps ago.

    Args:
      estimator: the Estimator.
      metric_name: the metric.
      max_steps_without_increase: how many steps.
      eval_dir, min_steps, run_every_secs, run_every_steps: as for stop_if_higher_hook.
    """
    return _improvement_hook(
        estimator, metric_name, max_steps_without_increase, operator.gt, "increase", eval_dir, min_steps,
        run_every_secs, run_every_steps,
    )  # fmt: skip


@public("estimator.experimental.stop_if_no_decrease_hook", "contrib.estimator.stop_if_no_decrease_hook")
def stop_if_no_decrease_hook(
    estimator, metric_name, max_steps_without_decrease, eval_dir=None, min_steps=0, run_every_secs=60,
    run_every_steps=None,
):  # fmt: skip
    """Like stop_if_no_increase_hook, for a metric that is the better the lower it is."""
    return _improvement_hook(
        estimator, metric_name, max_steps_without_decrease, operator.lt, "decrease", eval_dir, min_steps,
        run_every_secs, run_every_steps,
    )  # fmt: skip


def _threshold_hook(
    estimator, metric_name, threshold, is_past, word, eval_dir, min_steps, run_every_secs, run_every_steps
):
    eval_dir = estimator.eval_dir() if eval_dir is None else eval_dir

    def should_stop():
        for step, metrics in read_eval_metrics(eval_dir).items():
            if step >= min_steps and is_past(metrics[metric_name], threshold):
                log().info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early '
                    "stopping.",
                    step, metric_name, metrics[metric_name], word, threshold,
                )  # fmt: skip
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


def _improvement_hook(
    estimator, metric_name, max_steps, is_better, word, eval_dir, min_steps, run_every_secs, run_every_steps
):
    eval_dir = estimator.eval_dir() if eval_dir is None else eval_dir

    def should_stop():
        best, best_step = None, 0
        for step, metrics in read_eval_metrics(eval_dir).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if best is None or is_better(value, best):
                best, best_step = value, step
            if step - best_step >= max_steps:
                log().info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured '
                    "for early stopping.",
                    word, metric_name, step - best_step, max_steps,
                )  # fmt: skip
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


@public("contrib.estimator.read_eval_metrics", "python.estimator.early_stopping.read_eval_metrics")
def read_eval_metrics(eval_dir):
    """{step: {metric: value}} of the evaluations whose event files are in a folder, in the order of the steps."""
    found: dict = collections.defaultdict(dict)
    if gfile.Exists(eval_dir):
        for path in gfile.Glob(os.path.join(eval_dir, "events.out.tfevents.*")):
            for event in summary_iterator(path):
                values = simple_values(event)
                if values:
                    found[event.step].update(values)
    return collections.OrderedDict(sorted(found.items()))


# ---- The hooks ----------------------------------------------------------------------------------------------------


@public("python.estimator.early_stopping._get_or_create_stop_var")
def _stop_variable():
    """The variable by which the chief tells the other workers."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable(
            "STOP",
            shape=[],
            dtype=dtypes.bool_,
            initializer=Constant(False),
            collections=[GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


@public("python.estimator.early_stopping._StopOnPredicateHook")
class _StopOnPredicateHook(SessionRunHook):
    """Asks a function; the chief's hook."""

    def __init__(self, should_stop_fn, run_every_secs=60, run_every_steps=None):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self):
        self._global_step_tensor = get_global_step()
        self._stop_op = assign(_stop_variable(), True)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            log().info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


@public("python.estimator.early_stopping._CheckForStoppingHook")
class _CheckForStoppingHook(SessionRunHook):
    """Looks at what the chief says; the hook of other workers."""

    def begin(self):
        self._stop_var = _stop_variable()

    def before_run(self, run_context):
        return SessionRunArgs(self._stop_var)

    def after_run(self, run_context, run_values):
        if run_values.results:
            log().info("Early stopping requested, suspending run.")
            run_context.request_stop()
