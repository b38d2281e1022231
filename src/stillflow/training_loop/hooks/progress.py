"""tf.train.LoggingTensorHook and StepCounterHook: what is logged as training goes on."""

from __future__ import annotations

import numpy as np

from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.summary.writer import FileWriterCache
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.step_reading import step_tensor
from stillflow.training_loop.hooks.step_timer import NeverTriggerTimer, SecondOrStepTimer
from stillflow.training_loop.messages import log

_MOST_WARNINGS = 5


@public("train.LoggingTensorHook", "estimator.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors.

    Args:
      tensors: {tag: tensor, or its name}, or a list of tensors or names.
      every_n_iter: how often, in runs of this session.
      every_n_secs: how often, in seconds; one of the two.
      at_end: whether to log at the end of the session; alone, or besides.
      formatter: makes the message from {tag: value}.

    Raises ValueError unless the times are as said, and `every_n_iter` is positive.
    """

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        is_only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not is_only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order = sorted(tensors) if isinstance(tensors, dict) else tensors
        self._tensors = tensors if isinstance(tensors, dict) else {tensor: tensor for tensor in tensors}
        self._formatter = formatter
        self._timer = NeverTriggerTimer() if is_only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._log_at_end = at_end

    def begin(self):
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: element_of_graph(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context):
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values):
        elapsed_secs, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                log().info(self._formatter(values))
                return
            text = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tag_order)
        if elapsed_secs is None:
            log().info("%s", text)
        else:
            log().info("%s (%.3f sec)", text, elapsed_secs)


def element_of_graph(tensor):
    """What of the default graph a tensor or a name means. Raises ValueError for an operation of several outputs."""
    graph = get_default_graph()
    if not isinstance(tensor, str):
        if getattr(tensor, "graph", None) is not graph:
            raise ValueError(f"Passed {tensor} should have graph attribute that is equal to current graph {graph}.")
        return tensor
    if ":" in tensor:
        return graph.as_graph_element(tensor)
    found = graph.as_graph_element(f"{tensor}:0")
    if len(found.op.outputs) > 1:
        raise ValueError(f"Name {tensor} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return found


@public("train.StepCounterHook", "estimator.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Logs how many steps a second takes, and writes it to the event file.

    Args:
      every_n_steps: how often, in steps.
      every_n_secs: how often, in seconds; one of the two.
      output_dir: the folder of the event file.
      summary_writer: a FileWriter instead.

    Raises ValueError unless one of the times is given.
    """

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step = None
        self._warnings_left = _MOST_WARNINGS
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = step_tensor("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        stale_step = run_values.results
        if self._timer.should_trigger_for_step(stale_step + self._steps_per_run):
            global_step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(global_step):
                elapsed_time, elapsed_steps = self._timer.update_last_triggered_step(global_step)
                if elapsed_time is not None:
                    self._log_and_record(elapsed_steps, elapsed_time, global_step)
        if stale_step == self._last_global_step and self._warnings_left:
            self._warnings_left -= 1
            log().warning(
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could "
                "be stable): %s vs previous value: %s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                stale_step,
                self._last_global_step,
            )
        self._last_global_step = stale_step

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        steps_per_sec = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            summary = protobuf.message("Summary")()
            summary.value.add(tag=self._summary_tag, simple_value=steps_per_sec)
            self._summary_writer.add_summary(summary, global_step)
        log().info("%s: %g", self._summary_tag, steps_per_sec)
