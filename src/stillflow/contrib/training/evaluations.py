"""Evaluating checkpoints as training writes them."""

from __future__ import annotations

import time

from stillflow import ops
from stillflow.composites import summaries
from stillflow.names import public
from stillflow.saver.checkpoint_state import checkpoints_iterator
from stillflow.summary.writer import FileWriterCache
from stillflow.training.global_step import get_or_create_global_step, global_step
from stillflow.training_loop.evaluation import StopAfterNEvalsHook, get_or_create_eval_step
from stillflow.training_loop.hooks.functions import FinalOpsHook
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.training_loop.messages import log
from stillflow.training_loop.monitored_session import MonitoredSession
from stillflow.training_loop.session_creators import ChiefSessionCreator


@public("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes summaries at the end of a session.

    Args:
      log_dir: the folder of the event file.
      summary_writer: a FileWriter instead.
      summary_op: the summaries; by default all that are collected.
      feed_dict: what to feed to them.

    Raises ValueError for neither folder nor writer.
    """

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._merges = summary_op is None
        self._summary_op = summary_op
        self._feed_dict = feed_dict
        self._summary_writer = summary_writer
        self._log_dir = log_dir

    def begin(self):
        if self._merges:
            self._summary_op = summaries.merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session, coord):
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session):
        if self._summary_op is not None:
            step = global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()


@public("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None, final_ops_feed_dict=None,
    eval_interval_secs=60, hooks=None, config=None, max_number_of_evaluations=None, timeout=None, timeout_fn=None,
):  # fmt: skip
    """Evaluates each new checkpoint of a folder.

    Args:
      checkpoint_dir: the folder.
      master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config: as evaluate_once has them.
      eval_interval_secs: the least time between two evaluations, in seconds.
      max_number_of_evaluations: after how many to return; None for never.
      timeout, timeout_fn: how long to wait for a checkpoint, and what to ask then; see checkpoints_iterator.

    Returns:
      The values of `final_ops` in the last evaluation, or None.
    """
    eval_step = get_or_create_eval_step()
    hooks = [] if hooks is None else hooks
    if eval_ops is not None:
        eval_ops = _with_count(eval_ops, ops.assign_add(eval_step, 1), hooks)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final)
    found = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, checkpoint in enumerate(found, start=1):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint)
        with MonitoredSession(creator, hooks) as session:
            log().info("Starting evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, feed_dict)
            log().info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final.final_ops_values


def _with_count(eval_ops, counted, hooks):
    """The operations to run, with one that counts, which the hooks look at."""
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(counted)
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": counted}
    return [*(eval_ops if isinstance(eval_ops, (list, tuple)) else [eval_ops]), counted]
