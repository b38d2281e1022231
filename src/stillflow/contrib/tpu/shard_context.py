"""How many shards the computation that is being built has: `tpu_function` of TensorFlow's inner modules.

A program that is written for TPUs asks for it to see whether it is built for one; on the processor it has no shards.
"""

from __future__ import annotations

import contextlib
import threading

from stillflow.names import public


@public("python.tpu.tpu_function.TpuContext", "contrib.tpu.python.tpu.tpu_function.TpuContext")
class TpuContext(threading.local):
    """The number of shards of the computation that a thread builds, None outside of one."""

    def __init__(self):
        self._number_of_shards = None

    @property
    def number_of_shards(self):
        """The number of shards, or None."""
        return self._number_of_shards

    def set_number_of_shards(self, number_of_shards):
        """Sets the number of shards; None for no computation."""
        self._number_of_shards = number_of_shards


_current = TpuContext()


@public("python.tpu.tpu_function.get_tpu_context", "contrib.tpu.python.tpu.tpu_function.get_tpu_context")
def get_tpu_context():
    """The context of this thread."""
    return _current


@public("python.tpu.tpu_function.tpu_shard_context", "contrib.tpu.python.tpu.tpu_function.tpu_shard_context")
@contextlib.contextmanager
def tpu_shard_context(number_of_shards):
    """A scope in which the context tells that number of shards. Raises NotImplementedError inside another one."""
    if _current.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    try:
        _current.set_number_of_shards(number_of_shards)
        yield
    finally:
        _current.set_number_of_shards(None)


@public(
    "python.tpu.tpu_function.on_device_training_loop", "contrib.tpu.python.tpu.tpu_function.on_device_training_loop"
)
def on_device_training_loop(func):
    """The function, marked as one whose outermost loop makes the steps that a trace shows."""
    func.step_marker_location = "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"
    return func
