"""Whether the summaries of tf.contrib.summary and of TensorFlow 2 are written, and with which step."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.eager.modes import context
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import device
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.global_step import get_or_create_global_step


def _resolved(condition):
    return condition() if callable(condition) else condition


def _is_recording(default):
    of_replica = _resolved(context().summary_recording_distribution_strategy)
    condition = _resolved(context().summary_recording)
    return ops.logical_and(of_replica, default if condition is None else condition)


@public("contrib.summary.should_record_summaries")
def should_record_summaries():
    """A bool tensor: whether summaries of tf.contrib.summary are written. They are not unless something says so."""
    return _is_recording(False)


def should_write():
    """The same of TensorFlow 2's summaries, which are written unless something says no."""
    return _is_recording(True)


@public("compat.v2.summary.record_if", "python.ops.summary_ops_v2.record_if")
@contextlib.contextmanager
def record_if(condition):
    """A context in which summaries are written if `condition` says so: a bool, a bool tensor, or a function of it."""
    state = context()
    before, state.summary_recording = state.summary_recording, condition
    try:
        yield
    finally:
        state.summary_recording = before


@public("contrib.summary.always_record_summaries")
def always_record_summaries():
    """A context in which summaries are written."""
    return record_if(True)


@public("contrib.summary.never_record_summaries")
def never_record_summaries():
    """A context in which no summaries are written."""
    return record_if(False)


@by_mode
def _condition_of(is_due):
    return is_due()


@eager_version_of(_condition_of)
def _function_of(is_due):
    return is_due


@public("contrib.summary.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(n, global_step=None):
    """A context in which summaries are written where the global step is a multiple of `n`."""
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return record_if(_condition_of(lambda: ops.equal(step % n, 0)))


# ---- Steps --------------------------------------------------------------------------------------------------------


@public("compat.v2.summary.experimental.get_step", "python.ops.summary_ops_v2.get_step")
def get_step():
    """The step of this thread's summaries that have none of their own, or None."""
    return context().summary_step


@public("compat.v2.summary.experimental.set_step", "python.ops.summary_ops_v2.set_step")
def set_step(step):
    """Sets that step: what converts to int64, a variable too; None for none."""
    context().summary_step = step


def chosen_step(step):
    """A step as a tensor: by default the global step."""
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


# ---- What was written ---------------------------------------------------------------------------------------------


@by_mode
def collect_written(op):
    """Notes an operation that writes a summary in its graph."""
    get_default_graph().add_to_collection(GraphKeys._SUMMARY_COLLECTION, op)


@eager_version_of(collect_written)
def _collect_nothing(op):
    pass


@public("summary.all_v2_summary_ops", "contrib.summary.all_summary_ops")
@by_mode
def all_v2_summary_ops():
    """The operations of the default graph that write summaries to a tf.contrib.summary.SummaryWriter.

    None in eager execution.
    """
    return get_default_graph().get_collection(GraphKeys._SUMMARY_COLLECTION)


@eager_version_of(all_v2_summary_ops)
def _no_summary_ops():
    return None
