"""tf.contrib.learn.evaluate: evaluates a graph with the variables of a checkpoint."""

from __future__ import annotations

import time

import numpy as np

from stillflow import errors
from stillflow.contrib.framework.model_variables import assert_or_get_global_step
from stillflow.contrib.learn.graph_training import get_summary_writer, saver_of
from stillflow.formats import protobuf
from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.saver.saver import Saver
from stillflow.training.coordinator import Coordinator
from stillflow.training.queue_runner import start_queue_runners
from stillflow.training_loop.messages import log
from stillflow.training_loop.session_manager import SessionManager
from stillflow.training_loop.supervisor import USE_DEFAULT, found_or_made, local_initializer
from stillflow.variables.listing import global_variables, global_variables_initializer
from stillflow.variables.readiness import report_uninitialized_variables

_GRACE_SECONDS = 120


@public("contrib.learn.evaluate")
def evaluate(
    graph, output_dir, checkpoint_path, eval_dict, update_op=None, global_step_tensor=None, supervisor_master="",
    log_every_steps=10, feed_fn=None, max_steps=None,
):  # fmt: skip
    """({name: value of the last step}, the global step) of a graph, whose results are also written as summaries.

    Args:
      graph: the graph.
      output_dir: the folder of the summaries.
      checkpoint_path: the checkpoint, or a folder of them; without one the variables are initialized.
      eval_dict: {name: tensor}, which is computed in each step, if there is no `update_op`.
      update_op: what is run in each step.
      global_step_tensor: the global step; the graph's by default.
      supervisor_master: the target of the session.
      log_every_steps: every how many steps the results are logged.
      feed_fn: a function that returns what to feed to a step.
      max_steps: how many steps to do; by default until the input ends.

    Raises ValueError without a folder.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        global_step = assert_or_get_global_step(graph, global_step_tensor)
        saver = found_or_made(USE_DEFAULT, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
        initializer = found_or_made(USE_DEFAULT, GraphKeys.LOCAL_INIT_OP, local_initializer)
        ready_for_local = found_or_made(USE_DEFAULT, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None)
        ready = found_or_made(USE_DEFAULT, GraphKeys.READY_OP, report_uninitialized_variables)
        manager = SessionManager(local_init_op=initializer, ready_op=ready, ready_for_local_init_op=ready_for_local)
        session, is_ready = manager.recover_session(
            master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path
        )
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
        with session:
            if not is_ready:
                log().warning("Failed to initialize from %s.", checkpoint_path)
                session.run(global_variables_initializer())
                if checkpoint_path:
                    (saver or saver_of(graph)).restore(session, checkpoint_path)
            step = session.run(global_step)
            end = "inf" if max_steps is None else max_steps
            log().info("Eval steps [0,%s) for training step %d.", end, step)
            loop = _Loop(session, eval_dict, update_op, feed_fn, log_every_steps)
            _run(loop, max_steps, coordinator, threads)
    _write(output_dir, loop.results, step)
    return loop.results, step


class _Loop:
    """The steps of an evaluation, with the results of the last one that was asked for."""

    def __init__(self, session, eval_dict, update_op, feed_fn, log_every_steps):
        self._session = session
        self._eval_dict = eval_dict
        self._update_op = update_op
        self._feed_fn = feed_fn
        self._log_every_steps = log_every_steps
        self._step = 0
        self._feeds = None
        self._known_step = None
        self.results = None

    def run(self, max_steps):
        """Does the steps; whatever ends them, the results are those of the last one."""
        try:
            while max_steps is None or self._step < max_steps:
                self._step += 1
                self._do_step(time.time())
        finally:
            self._know()

    def _do_step(self, started):
        self._feeds = None if self._feed_fn is None else self._feed_fn()
        if self._update_op is None:
            self._know()
        else:
            self._session.run(self._update_op, feed_dict=self._feeds)
        if self._step % self._log_every_steps == 0:
            self._know()
            log().info(
                "Results after %d steps (%.3f sec/batch): %s.", self._step, time.time() - started, _text(self.results)
            )

    def _know(self):
        if self._known_step is None or self._known_step != self._step:
            self.results = self._session.run(self._eval_dict, feed_dict=self._feeds)
            self._known_step = self._step


def _run(loop, max_steps, coordinator, threads):
    """Runs a loop until its input ends, and stops the queues."""
    say = log().info if max_steps is None else log().warning
    try:
        try:
            loop.run(max_steps)
        finally:
            loop._session.close()
            try:
                coordinator.request_stop()
                coordinator.join(threads, stop_grace_period_secs=_GRACE_SECONDS)
            except (RuntimeError, errors.CancelledError) as error:
                log().warning("Coordinator didn't stop cleanly: %s", error)
    except errors.OutOfRangeError as error:
        say("Input queue is exhausted: %s.", error)
    except StopIteration as error:
        say("Input iterator is exhausted: %s.", error)


def _text(results):
    return ", ".join(f"{name} = {value}" for name, value in sorted(results.items()))


def _write(output_dir, results, step):
    """Writes results as summaries, those that are floats."""
    log().info("Saving evaluation summary for step %d: %s", step, _text(results))
    writer = get_summary_writer(output_dir)
    summary = protobuf.message("Summary")()
    for name, value in results.items():
        if value is None:
            continue
        added = summary.value.add(tag=name)
        if isinstance(value, (np.float32, float)):
            added.simple_value = float(value)
        else:
            log().warning("Skipping summary for %s, must be a float or np.float32.", name)
    writer.add_summary(summary, step)
    writer.flush()
