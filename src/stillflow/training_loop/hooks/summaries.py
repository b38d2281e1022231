"""tf.train.SummarySaverHook and ProfilerHook: what is written to event files and timelines as training goes on.

Both count on from the step before a run. They read it before, since what a run fetches of a variable that it changes
depends on the order of its operations.
"""

from __future__ import annotations

import os

from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.summary.writer import FileWriterCache
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.step_reading import step_tensor
from stillflow.training_loop.hooks.step_timer import SecondOrStepTimer
from stillflow.training_loop.messages import log


@public("train.SummarySaverHook", "estimator.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries, of the first run and every so many steps or seconds.

    Args:
      save_steps: how often, in steps.
      save_secs: how often, in seconds; one of the two.
      output_dir: the folder of the event file.
      summary_writer: a FileWriter instead.
      scaffold: a Scaffold whose summary_op to run.
      summary_op: a tensor with a Summary message, or a list of them, instead.

    Raises ValueError unless one of the times, and either a scaffold or a summary is given.
    """

    def __init__(
        self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step = None
        self._global_step_tensor = step_tensor("SummarySaverHook")

    def before_run(self, run_context):
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        self._stale_step = run_context.session.run(self._global_step_tensor)
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summaries = self._get_summary_op()
            if summaries is not None:
                requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context, run_values):
        if not self._summary_writer:
            return
        global_step = self._stale_step + 1
        if self._request_summary:
            global_step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            session_log = protobuf.message("SessionLog")
            self._summary_writer.add_session_log(session_log(status=session_log.START), global_step)
        if self._request_summary:
            self._timer.update_last_triggered_step(global_step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, global_step)
        self._next_step = global_step + 1

    def end(self, session=None):
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self):
        """The tensors to run, as a list, or None."""
        found = self._scaffold.summary_op if self._summary_op is None else self._summary_op
        return found if found is None or isinstance(found, list) else [found]


@public("train.ProfilerHook", "estimator.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """Times the operations of a run every so many steps or seconds, for chrome://tracing and for TensorBoard.

    The times are written to timeline-<step>.json and to the event file.

    Args:
      save_steps: how often, in steps.
      save_secs: how often, in seconds; one of the two.
      output_dir: the folder.
      show_dataflow: whether the timeline has arrows from operations to those that read them.
      show_memory: whether it counts the bytes of tensors.

    Raises ValueError unless one of the times is given.
    """

    def __init__(self, save_steps=None, save_secs=None, output_dir="", show_dataflow=True, show_memory=False):
        self._output_file = os.path.join(output_dir, "timeline-{}.json")  # noqa: PTH118  it may be a URL
        self._file_writer = FileWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        self._next_step = None
        self._global_step_tensor = step_tensor("ProfilerHook")

    def before_run(self, run_context):
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        self._stale_step = run_context.session.run(self._global_step_tensor)
        options = None
        if self._request_summary:
            run_options = protobuf.message("RunOptions")
            options = run_options(trace_level=run_options.FULL_TRACE)
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context, run_values):
        if self._next_step is None:
            # The first time is after so many steps or seconds.
            self._timer.update_last_triggered_step(self._stale_step)
        global_step = self._stale_step + 1
        if self._request_summary:
            global_step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(global_step)
            self._save(global_step, self._output_file.format(global_step), run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{global_step}")
        self._next_step = global_step + 1

    def _save(self, step, save_path, step_stats):
        from stillflow.files import filesystem
        from stillflow.session.timeline import Timeline

        log().info("Saving timeline for %d into '%s'.", step, save_path)
        text = Timeline(step_stats).generate_chrome_trace_format(self._show_dataflow, self._show_memory)
        with filesystem.typed_errors(save_path):
            filesystem.write_atomically(save_path, text.encode())
