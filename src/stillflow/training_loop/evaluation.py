"""Evaluating a model once: running its metrics over an input, and counting how often."""

from __future__ import annotations

import time

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.training_loop.hooks.functions import FinalOpsHook
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.messages import log
from stillflow.training_loop.monitored_session import MonitoredSession
from stillflow.training_loop.session_creators import ChiefSessionCreator
from stillflow.variables.assignments import assign_add
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros

_FEW_EVALUATIONS = 20


@public("contrib.training.get_or_create_eval_step", "python.training.evaluation._get_or_create_eval_step")
def get_or_create_eval_step():
    """The local variable that counts evaluations. Raises ValueError if the graph has several."""
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


@public("contrib.training.StopAfterNEvalsHook", "python.training.evaluation._StopAfterNEvalsHook")
class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after `num_evals` runs, or with its input if that is None; logs how far it has got."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals = num_evals
        self._evals_completed = None
        self._log_progress = log_progress
        is_short = num_evals is None or num_evals < _FEW_EVALUATIONS
        self._log_frequency = 1 if is_short else num_evals // 10

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._evals_completed = updated_eval_step

    def before_run(self, run_context):
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context, run_values):
        completed = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                log().info("Evaluation [%d]", completed)
            elif completed % self._log_frequency == 0 or completed == self._num_evals:
                log().info("Evaluation [%d/%d]", completed, self._num_evals)
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


@public("contrib.training.evaluate_once", "python.training.evaluation._evaluate_once")
def evaluate_checkpoint_once(
    checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
    final_ops_feed_dict=None, hooks=None, config=None,
):  # fmt: skip
    """Evaluates a checkpoint: runs operations until the input ends or a hook wants to stop.

    Args:
      checkpoint_path: the checkpoint.
      master: the session's target.
      scaffold: a Scaffold, which says how variables get their values.
      eval_ops, feed_dict: what to run again and again: an operation, a list or a dict; and what to feed.
      final_ops, final_ops_feed_dict: what to run at the end, and what to feed then.
      hooks: SessionRunHooks. A StopAfterNEvalsHook says how often to run.
      config: the session's ConfigProto.

    Returns:
      The values of `final_ops`, or None.
    """
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint_path)
    return evaluate_once(creator, eval_ops, feed_dict, final_ops, hooks, final_ops_feed_dict)


def evaluate_once(session_creator, eval_ops=None, feed_dict=None, final_ops=None, hooks=None, final_feed_dict=None):
    """Runs operations until the input ends or a hook wants to stop, then something else, whose values it returns.

    Args:
      session_creator: makes the session.
      eval_ops: what to run: an operation, a list or a dict; None for nothing.
      feed_dict: what to feed.
      final_ops: what to run at the end.
      hooks: SessionRunHooks.
      final_feed_dict: what to feed at the end.
    """
    eval_step = get_or_create_eval_step()
    hooks = list(hooks or ())
    if eval_ops is not None:
        eval_ops, counted = _with_count(eval_ops, eval_step)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(counted)
    log().info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    final = FinalOpsHook(final_ops, final_feed_dict)
    hooks.append(final)
    with MonitoredSession(session_creator, hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    log().info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values


def _with_count(eval_ops, eval_step):
    """The operations, with one that counts; and the count after them."""
    count = assign_add(eval_step, 1, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops = {**eval_ops, "update_eval_step": count}
    elif isinstance(eval_ops, (tuple, list)):
        eval_ops = [*eval_ops, count]
    else:
        eval_ops = [eval_ops, count]
    waits_for = list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops
    with get_default_graph().control_dependencies(waits_for):
        return eval_ops, ops.identity(get_or_create_eval_step().read_value())
