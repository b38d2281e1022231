"""Training loops under a Supervisor: tf.contrib.slim.learning."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from stillflow import errors, ops
from stillflow.composites import summaries
from stillflow.contrib.training import train_ops
from stillflow.contrib.training.train_ops import clip_gradient_norms, multiply_gradients
from stillflow.formats.protobuf import RunMetadata, RunOptions
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public_module
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saver import Saver
from stillflow.session.timeline import Timeline
from stillflow.training import global_step as global_steps
from stillflow.training.optimizer import Optimizer
from stillflow.training_loop.messages import log
from stillflow.training_loop.supervisor import Supervisor
from stillflow.training_loop.sync_replicas import SyncReplicasOptimizer
from stillflow.variables.listing import global_variables_initializer, local_variables_initializer
from stillflow.variables.readiness import report_uninitialized_variables, tables_initializer

public_module("contrib.slim.learning", "contrib.slim.python.slim.learning")

# The default of what is made if it is not given, where None means that there is none.
_USE_DEFAULT = 0


def _given_or(value, make):
    return make() if value is _USE_DEFAULT else value


def add_gradients_summaries(grads_and_vars):
    """A list of summaries of the gradients: a histogram and the norm of each."""
    return train_ops.gradient_summaries(grads_and_vars, "/")


def create_train_op(
    total_loss, optimizer, global_step=train_ops.USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
    clip_gradient_norm=0, summarize_gradients=False, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
    colocate_gradients_with_ops=False, gradient_multipliers=None, check_numerics=True,
):  # fmt: skip
    """A tensor: the loss, for which the variables are updated. See tf.contrib.training.create_train_op.

    Args:
      total_loss, optimizer, global_step, update_ops, variables_to_train, summarize_gradients, gate_gradients,
        aggregation_method, colocate_gradients_with_ops, check_numerics: as there.
      clip_gradient_norm: the norm that gradients are scaled down to, one by one, if it is more than 0.
      gradient_multipliers: {variable or name of its operation: factor}.
    """

    def transform(grads):
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                grads = multiply_gradients(grads, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                grads = clip_gradient_norms(grads, clip_gradient_norm)
        return grads

    return train_ops.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transform, summarize_gradients,
        gate_gradients, aggregation_method, colocate_gradients_with_ops, check_numerics,
    )  # fmt: skip


# ---- Steps --------------------------------------------------------------------------------------------------


def train_step(sess, train_op, global_step, train_step_kwargs):
    """One step of training: (its loss, whether to stop).

    Args:
      sess: a session.
      train_op: what to run.
      global_step: the tensor of the step's number.
      train_step_kwargs: a dict with tensors "should_stop", "should_log", "should_trace" that say what to do, the
        folder "logdir" for traces, and a "summary_writer".

    Raises:
      ValueError: if a trace has no folder.
    """
    start = time.perf_counter()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options, metadata = RunOptions(trace_level=RunOptions.FULL_TRACE), RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.perf_counter() - start
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        log().info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, seconds)
    return loss, sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False


def _write_trace(metadata, step, train_step_kwargs):
    path = Path(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    log().info("Writing trace to %s", path)
    path.write_text(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if "summary_writer" in train_step_kwargs:
        train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def _default_step_arguments(global_step, number_of_steps, log_every_n_steps, trace_every_n_steps, logdir):
    """What train_step is told by default: when to stop, to log, and to trace."""
    with name_scope("train_step"):
        stop = ops.greater_equal(global_step, number_of_steps) if number_of_steps else constant(False)
        arguments = {"should_stop": stop}
        if log_every_n_steps > 0:
            arguments["should_log"] = ops.equal(ops.mod(global_step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            arguments["should_trace"] = ops.equal(ops.mod(global_step, trace_every_n_steps), 0)
            arguments["logdir"] = logdir
    return arguments


# ---- The loop -----------------------------------------------------------------------------------------------


def train(
    train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
    master="", is_chief=True, global_step=None, number_of_steps=None, init_op=_USE_DEFAULT, init_feed_dict=None,
    local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT,
    save_summaries_secs=600, summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None, save_interval_secs=600,
    sync_optimizer=None, session_config=None, session_wrapper=None, trace_every_n_steps=None,
    ignore_live_threads=False,
):  # fmt: skip
    """Trains until a step says to stop, the input ends, or `number_of_steps` is reached; returns the last loss.

    Args:
      train_op: what to run at each step; its value is the loss.
      logdir: the folder for checkpoints and summaries; None for none.
      train_step_fn, train_step_kwargs: what makes a step; see train_step.
      log_every_n_steps: how often to log.
      graph: the graph, by default the default graph.
      master, is_chief: the session's target, and whether this is the process that saves.
      global_step: the variable of the step's number, by default the graph's.
      number_of_steps: the step at which to stop; None for never.
      init_op, init_feed_dict, local_init_op, init_fn, ready_op: how variables get their values; see Supervisor.
      summary_op, save_summaries_secs, summary_writer: the summaries, how often to write them, and with what.
      startup_delay_steps: the step to wait for before training, for processes that do not save; 0 with a
        `sync_optimizer`.
      saver, save_interval_secs: what saves checkpoints, and how often.
      sync_optimizer: the SyncReplicasOptimizer of `train_op`, or a list of such; None for others.
      session_config: the session's ConfigProto.
      session_wrapper: makes the session to use of the session.
      trace_every_n_steps: how often to write a trace; None for never.
      ignore_live_threads: whether threads that do not end are no error.

    Raises:
      ValueError: for no train_op, a number of steps that is not positive, what needs a folder, without one, or
        another `sync_optimizer`.
    """
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps)
    synchronous = _sync_optimizers(sync_optimizer, startup_delay_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = global_steps.get_or_create_global_step()
        saver = saver or Saver()
        with name_scope("init_ops"):
            init_ops = {
                "init_op": _given_or(init_op, global_variables_initializer),
                "ready_op": _given_or(ready_op, report_uninitialized_variables),
                **_local_init_ops(local_init_op, synchronous, is_chief),
            }
        summary_op = _given_or(summary_op, summaries.merge_all)
        first_tokens = [optimizer.get_init_tokens_op() for optimizer in synchronous] if is_chief else []
        if train_step_kwargs is _USE_DEFAULT:
            trace_steps = trace_every_n_steps if is_chief else None
            train_step_kwargs = _default_step_arguments(
                global_step, number_of_steps, log_every_n_steps, trace_steps, logdir
            )
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_feed_dict=init_feed_dict,
        summary_op=summary_op,
        summary_writer=_given_or(summary_writer, lambda: Supervisor.USE_DEFAULT),
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
        **init_ops,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer

    def start(session):
        session = _wrapped(session, session_wrapper)
        if is_chief and logdir:
            supervisor.start_standard_services(session)
        elif not is_chief and startup_delay_steps > 0:
            _wait_for_step(session, global_step, min(startup_delay_steps, number_of_steps or sys.maxsize))
        threads = supervisor.start_queue_runners(session)
        log().info("Starting Queues.")
        if first_tokens:
            supervisor.start_queue_runners(session, [opt.get_chief_queue_runner() for opt in synchronous])
            session.run(first_tokens)
        return session, threads

    def step(session):
        return train_step_fn(session, train_op, global_step, train_step_kwargs)

    return _train_supervised(supervisor, master, session_config, start, step, logdir, ignore_live_threads)


def _check(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps):
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if summary_op is not _USE_DEFAULT:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
        if trace_every_n_steps is not None:
            raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _sync_optimizers(given, startup_delay_steps):
    """A list of the SyncReplicasOptimizers."""
    if given is None:
        return []
    if startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    optimizers = [given] if isinstance(given, SyncReplicasOptimizer) else given
    if not all(isinstance(optimizer, SyncReplicasOptimizer) for optimizer in optimizers):
        raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return optimizers


def _local_init_ops(given, synchronous, is_chief):
    """Those of a Supervisor's arguments that are about what each process initializes."""
    local_init_op = _given_or(given, _local_initializer)
    if not synchronous:
        return {"local_init_op": local_init_op, "ready_for_local_init_op": None}
    with control_dependencies([] if local_init_op is None else [local_init_op]):
        local_init_op = group(
            *[optimizer.chief_init_op if is_chief else optimizer.local_step_init_op for optimizer in synchronous]
        )
    ready = group(*[optimizer.ready_for_local_init_op for optimizer in synchronous])
    return {"local_init_op": local_init_op, "ready_for_local_init_op": ready}


def _local_initializer():
    return group(local_variables_initializer(), tables_initializer())


def _wrapped(session, session_wrapper):
    log().info("Starting Session.")
    if session_wrapper is None:
        return session
    log().info("Wrapping session with wrapper function: %s", session_wrapper)
    return session_wrapper(session)


def _wait_for_step(session, global_step, step):
    while global_steps.global_step(session, global_step) < step:
        time.sleep(1.0)


def _train_supervised(supervisor, master, config, start, step, logdir, ignore_live_threads):
    """Steps in a managed session, begun again after AbortedError, until they are to stop; returns the last loss."""
    loss = None
    while True:
        try:
            with supervisor.managed_session(master, start_standard_services=False, config=config) as session:
                session, threads = start(session)
                try:
                    while not supervisor.should_stop():
                        loss, should_stop = step(session)
                        if should_stop:
                            log().info("Stopping Training.")
                            supervisor.request_stop()
                            break
                except errors.OutOfRangeError as error:
                    log().info("Caught OutOfRangeError. Stopping Training. %s", error)
                if logdir and supervisor.is_chief:
                    log().info("Finished training! Saving model to disk.")
                    supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
                    supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)
            return loss
        except errors.AbortedError:
            log().info("Retrying training!")
