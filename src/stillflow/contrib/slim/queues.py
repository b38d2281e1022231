"""Queue runners of a session that is no Supervisor's: tf.contrib.slim.queues."""

from __future__ import annotations

import contextlib
import threading

from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public_module
from stillflow.training.coordinator import Coordinator

public_module("contrib.slim.queues", "contrib.slim.python.slim.queues")

_GRACE_SECONDS = 120
_running = threading.Lock()


class NestedQueueRunnerError(Exception):
    """QueueRunners was entered while it was open."""


@contextlib.contextmanager
def QueueRunners(session):  # noqa: N802 (TensorFlow's name)
    """A context in which the graph's queue runners run in a session.

    The session is closed if they do not end in two minutes.

    Raises:
      NestedQueueRunnerError: inside of itself.
    """
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator = Coordinator()
        threads = []
        for runner in get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=_GRACE_SECONDS)
            except RuntimeError:
                session.close()
    finally:
        _running.release()
