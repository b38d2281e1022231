"""tf.contrib.learn.train: trains a graph under a Supervisor, with monitors."""

from __future__ import annotations

import time

import numpy as np

from stillflow import errors
from stillflow.composites.summaries import merge_all
from stillflow.contrib.framework.model_variables import assert_or_get_global_step
from stillflow.contrib.learn.step_monitors.reports import get_default_monitors
from stillflow.graph.collections import GraphKeys
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.saver.checkpoint_reader import load_variable
from stillflow.saver.saver import Saver
from stillflow.summary.writer import FileWriterCache
from stillflow.training_loop.hooks.stopping import NanLossDuringTrainingError
from stillflow.training_loop.messages import log
from stillflow.training_loop.supervisor import USE_DEFAULT, Supervisor, found_or_made


@public("contrib.learn.graph_actions.clear_summary_writers")
def clear_summary_writers():
    """Closes and forgets the writers of all folders."""
    FileWriterCache.clear()


@public("contrib.learn.graph_actions.get_summary_writer")
def get_summary_writer(logdir):
    """The writer of a folder."""
    return FileWriterCache.get(logdir)


def saver_of(graph, keep_checkpoint_max=5):
    """A Saver of the variables of a graph, None if there are none."""
    saved = [*graph.get_collection(GraphKeys.GLOBAL_VARIABLES), *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)]
    return Saver(saved, sharded=True, max_to_keep=keep_checkpoint_max) if saved else None


@public("contrib.learn.train")
def train(
    graph, output_dir, train_op, loss_op, global_step_tensor=None, init_op=None, init_feed_dict=None, init_fn=None,
    log_every_steps=10, supervisor_is_chief=True, supervisor_master="", supervisor_save_model_secs=600,
    keep_checkpoint_max=5, supervisor_save_summaries_steps=100, feed_fn=None, steps=None, fail_on_nan_loss=True,
    monitors=None, max_steps=None,
):  # fmt: skip
    """Trains a graph until its input ends, and saves it. Returns the last loss.

    Args:
      graph: the graph, which is finalized.
      output_dir: the folder of checkpoints and summaries.
      train_op: the operation of a step, which increments the global step.
      loss_op: the loss, a scalar.
      global_step_tensor: the global step; the graph's by default.
      init_op, init_feed_dict, init_fn: see tf.train.Supervisor.
      log_every_steps: every how many steps the loss is logged.
      supervisor_is_chief: whether this is the process that initializes and saves.
      supervisor_master: the target of the session.
      supervisor_save_model_secs: every how many seconds a checkpoint is written.
      keep_checkpoint_max: how many checkpoints are kept.
      supervisor_save_summaries_steps: every how many steps summaries are written.
      feed_fn: a function that returns what to feed to a step.
      steps: how many steps to do; by default until the input ends.
      fail_on_nan_loss: whether to stop if the loss is NaN.
      monitors: monitors of tf.contrib.learn.monitors; by default a PrintTensor and a SummarySaver.
      max_steps: the global step to stop at, instead of `steps`.

    Raises:
      ValueError: without a folder, step, loss or global step, and for both kinds of steps.
      NanLossDuringTrainingError: if the loss is NaN.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    for name, value in (("train_op", train_op), ("loss_op", loss_op)):
        if value is None:
            raise ValueError(f"Missing {name}.")
    while True:
        run = _Run(train_op, loss_op, feed_fn, log_every_steps, fail_on_nan_loss)
        with graph.as_default():
            run.prepare(
                output_dir, global_step_tensor, supervisor_is_chief, supervisor_save_summaries_steps, monitors
            )
            run.begin(steps, max_steps)
        supervisor = Supervisor(
            graph,
            init_op=init_op or USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=output_dir,
            saver=saver_of(graph, keep_checkpoint_max),
            global_step=run.global_step,
            summary_op=None,
            summary_writer=run.writer,
            save_model_secs=supervisor_save_model_secs,
            init_fn=init_fn,
        )
        try:
            return run.train(supervisor, supervisor_master)
        except errors.AbortedError:
            log().warning("Training got Aborted error. Keep training.")


class _Run:
    """A training: what a step runs, and what is known of the last one."""

    def __init__(self, train_op, loss_op, feed_fn, log_every_steps, fail_on_nan_loss):
        self._wanted = [train_op, loss_op]
        self._loss_name = loss_op.name if isinstance(loss_op, Tensor) else loss_op
        self._feed_fn = feed_fn
        self._log_every_steps = log_every_steps
        self._fails_on_nan = fail_on_nan_loss
        self._max_steps = None
        self._loss = None

    def prepare(self, output_dir, global_step_tensor, is_chief, save_summaries_steps, monitors):
        """Finds the global step, the first step, and the monitors. Raises ValueError without a global step."""
        self.global_step = assert_or_get_global_step(global_step_tensor=global_step_tensor)
        if self.global_step is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        try:
            self._first = load_variable(output_dir, self.global_step.name)
        except (errors.NotFoundError, ValueError):
            self._first = 0
        self.writer = get_summary_writer(output_dir) if is_chief else None
        if is_chief and not monitors:
            monitors = get_default_monitors(
                loss_op=self._wanted[1],
                summary_op=found_or_made(USE_DEFAULT, GraphKeys.SUMMARY_OP, merge_all),
                save_summary_steps=save_summaries_steps,
                summary_writer=self.writer,
            )
        self._monitors = [each for each in monitors or () if is_chief or each.run_on_all_workers]

    def begin(self, steps, max_steps):
        """Says to the monitors that it begins."""
        self._max_steps = int(self._first + steps) if max_steps is None and steps else max_steps
        for monitor in self._monitors:
            monitor.begin(max_steps=self._max_steps)

    def train(self, supervisor, master):
        """Does the steps, and saves. Returns the last loss."""
        session = supervisor.prepare_or_wait_for_session(master=master, start_standard_services=True)
        supervisor.start_queue_runners(session)
        with session:
            failure = None
            try:
                self._loop(supervisor, session)
            except errors.OutOfRangeError as error:
                log().warning("Training ends, as its input has probably ended: %s.", error)
            except StopIteration:
                log().info("The iterator of the input has ended.")
            except BaseException as error:
                failure = error
            self._end(supervisor, session, failure)
        return self._loss

    def _loop(self, supervisor, session):
        step = logged = session.run(self.global_step)
        log().info("Training steps [%d,%s)", step, "inf" if self._max_steps is None else self._max_steps)
        while not supervisor.should_stop() and (self._max_steps is None or step < self._max_steps):
            started = time.time()
            if self._step(session, step + 1):
                return
            now = session.run(self.global_step)
            if now <= step:
                log().error("Global step was not incremented by train op at step %s: new step %d", step, now)
            step = now
            if step == self._max_steps or step - logged >= self._log_every_steps:
                log().info("training step %d, loss = %.5f (%.3f sec/batch).", step, self._loss, time.time() - started)
                logged = step

    def _step(self, session, step):
        """Does a step. Returns whether a monitor wants to stop. Raises NanLossDuringTrainingError."""
        feeds = None if self._feed_fn is None else self._feed_fn()
        wanted = list(self._wanted)
        for monitor in self._monitors:
            wanted += monitor.step_begin(step)
        wanted = list(dict.fromkeys(wanted))
        values = session.run(wanted, feed_dict=feeds)
        names = [each.name if isinstance(each, Tensor) else each for each in wanted]
        outputs = dict(zip(names, values, strict=True))
        should_stop = False
        for monitor in self._monitors:
            should_stop = bool(monitor.step_end(step, outputs)) or should_stop
        self._loss = outputs[self._loss_name]
        if np.isnan(self._loss):
            message = "Model diverged with loss = NaN."
            if self._fails_on_nan:
                log().error(message)
                raise NanLossDuringTrainingError
            log().warning(message)
        return should_stop

    def _end(self, supervisor, session, failure):
        """Saves the model. What failed before is raised rather than what fails here."""
        try:
            supervisor.stop(close_summary_writer=False)
            step = session.run(self.global_step)
            if supervisor.is_chief:
                log().info("Saving checkpoint for step %d to checkpoint: %s.", step, supervisor.save_path)
                supervisor.saver.save(session, supervisor.save_path, global_step=step)
                for monitor in self._monitors:
                    monitor.end()
        except errors.OutOfRangeError as error:
            log().warning("The input has ended while the model was saved: %s.", error)
        except BaseException as error:
            if failure is None:
                raise
            log().error("Got exception during tf.learn final checkpoint %s.", error)
        if failure is not None:
            raise failure
