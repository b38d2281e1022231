"""Evaluating models once, or each new checkpoint: tf.contrib.slim.evaluation."""

from __future__ import annotations

from stillflow.composites import summaries
from stillflow.contrib.training import evaluations
from stillflow.contrib.training.evaluations import SummaryAtEndHook
from stillflow.names import public_module
from stillflow.saver.checkpoint_state import checkpoints_iterator, wait_for_new_checkpoint  # noqa: F401
from stillflow.saver.saver import Saver
from stillflow.training_loop.evaluation import StopAfterNEvalsHook, evaluate_checkpoint_once
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.training_loop.scaffold import Scaffold

public_module("contrib.slim.evaluation", "contrib.slim.python.slim.evaluation")

# The default of `summary_op`: all summaries, where None means none.
_USE_DEFAULT = 0


def _all_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks):
    if summary_op is _USE_DEFAULT:
        summary_op = summaries.merge_all()
    found: list[SessionRunHook] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        found.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=summary_op_feed_dict))
    return [*found, *(hooks or ())]


def _saver(variables_to_restore):
    return None if variables_to_restore is None else Saver(variables_to_restore)


def evaluate_once(
    master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, eval_op=None,
    eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
    summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks=None,
):  # fmt: skip
    """Evaluates a checkpoint.

    Args:
      master: the session's target.
      checkpoint_path: the checkpoint.
      logdir: the folder for summaries.
      num_evals: how often to run `eval_op`.
      initial_op, initial_op_feed_dict: what to run first, and what to feed to it.
      eval_op, eval_op_feed_dict: what to run again and again.
      final_op, final_op_feed_dict: what to run at the end.
      summary_op, summary_op_feed_dict: the summaries to write at the end, by default all; None for none.
      variables_to_restore: the variables in the checkpoint; by default all.
      session_config: the session's ConfigProto.
      hooks: more SessionRunHooks.

    Returns:
      The value of `final_op`, or None.
    """
    hooks = _all_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    scaffold = Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, saver=_saver(variables_to_restore))
    return evaluate_checkpoint_once(
        checkpoint_path, master, scaffold, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict, hooks,
        session_config,
    )  # fmt: skip


def evaluation_loop(
    master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, init_fn=None,
    eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
    summary_op_feed_dict=None, variables_to_restore=None, eval_interval_secs=60, max_number_of_evaluations=None,
    session_config=None, timeout=None, timeout_fn=None, hooks=None,
):  # fmt: skip
    """Evaluates each new checkpoint of a folder; see evaluate_once.

    Args:
      checkpoint_dir: the folder.
      init_fn: called with scaffold and session after `initial_op`.
      eval_interval_secs: the least time between two evaluations, in seconds.
      max_number_of_evaluations: after how many to return; None for never.
      timeout, timeout_fn: how long to wait for a checkpoint, in seconds, and what to ask then: it returns whether
        to stop.

    Returns:
      The value of `final_op` in the last evaluation, or None.
    """
    hooks = _all_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    scaffold = Scaffold(
        init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn, saver=_saver(variables_to_restore)
    )
    return evaluations.evaluate_repeatedly(
        checkpoint_dir, master, scaffold, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict,
        eval_interval_secs, hooks, session_config, max_number_of_evaluations, timeout, timeout_fn,
    )  # fmt: skip
