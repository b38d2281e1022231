"""tf.train.QueueRunner: threads that keep a queue filled, and the collection of those that a graph needs."""

from __future__ import annotations

import collections
import threading

from stillflow import errors
from stillflow.graph import collection_protos, scopes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.names import public

# Why there are no input pipelines of queues while operations are executed eagerly.
NO_QUEUES = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest "
    "data into your model instead."
)


@public("train.QueueRunner", "train.queue_runner.QueueRunner")
class QueueRunner:
    """Runs enqueue operations of a queue, each in a thread of its own, until one says that there is no more.

    When a run raises one of `queue_closed_exception_types` its thread ends, and when all have ended the queue is
    closed. Any other exception is reported to the coordinator.

    Args:
      queue: the queue.
      enqueue_ops: the operations to run, an operation as often as threads are to run it.
      close_op: closes the queue; made if not given.
      cancel_op: closes it and cancels the enqueues that wait; made if not given.
      queue_closed_exception_types: a tuple of classes of tf.errors; by default (tf.errors.OutOfRangeError,).
      queue_runner_def: a QueueRunnerDef message instead of all this, for operations of the default graph.
      import_scope: a scope to be put before the names in the message.

    Raises:
      ValueError: unless there is a message, or a queue and enqueue operations.
      TypeError: if `queue_closed_exception_types` is no tuple of such classes.
    """

    def __init__(
        self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
        queue_runner_def=None, import_scope=None,
    ):  # fmt: skip
        require_graph(
            "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get data "
            "into your model."
        )
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._runs: collections.Counter = collections.Counter()  # threads at work, by session
        self._exceptions_raised: list = []

    def _init(self, queue, enqueue_ops, close_op, cancel_op, closed_types):
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        if closed_types is None:
            closed_types = (errors.OutOfRangeError,)
        is_tuple = isinstance(closed_types, tuple) and len(closed_types) > 0
        if not is_tuple or not all(isinstance(t, type) and issubclass(t, errors.OpError) for t in closed_types):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                f"{closed_types}"
            )
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._queue_closed_exception_types = closed_types

    def _init_from_proto(self, queue_runner_def, import_scope):
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = element(queue_runner_def.queue_name)
        self._enqueue_ops = [element(name) for name in queue_runner_def.enqueue_op_name]
        self._close_op = element(queue_runner_def.close_op_name)
        self._cancel_op = element(queue_runner_def.cancel_op_name)
        codes = queue_runner_def.queue_closed_exception_types or [errors.OUT_OF_RANGE]
        self._queue_closed_exception_types = tuple(errors.exception_type_from_error_code(code) for code in codes)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def queue(self):
        return self._queue

    @property
    def enqueue_ops(self):
        return self._enqueue_ops

    @property
    def close_op(self):
        return self._close_op

    @property
    def cancel_op(self):
        return self._cancel_op

    @property
    def queue_closed_exception_types(self):
        """The errors that say that there is no more to put in."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self):
        """The exceptions that ended threads without a coordinator."""
        return self._exceptions_raised

    @property
    def name(self):
        """The name of the queue's node."""
        return self._queue.name

    # ---- Threads --------------------------------------------------------------------------------------------

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads that run the operations in `sess`, and one that cancels them when the coordinator stops.

        Args:
          sess: a session.
          coord: a Coordinator, or None. With one, the threads stop when it does, and an error stops it.
          daemon: whether the program may end while they run.
          start: whether to start them; the caller does it otherwise.

        Returns:
          A list of threads; an empty one while those of an earlier call for the session are at work.
        """
        with self._lock:
            if self._runs[sess] > 0:
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(
                target=self._run, args=(sess, number, coord), name=f"QueueRunnerThread-{self.name}-{op.name}"
            )
            for number, op in enumerate(self._enqueue_ops)
        ]
        if coord:
            name = f"QueueRunnerThread-{self.name}-close_on_stop"
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, coord), name=name))
        for thread in threads:
            thread.daemon = daemon
            if coord:
                coord.register_thread(thread)
        if start:
            for thread in threads:
                thread.start()
        return threads

    def _enqueuer(self, sess, number):
        """The function that a thread calls over and over."""
        return sess.make_callable(self._enqueue_ops[number])

    def _run(self, sess, number, coord):
        """What a thread does: runs its operation until the end of the input, a stop, or an error."""
        is_at_end = False
        try:
            enqueue = self._enqueuer(sess, number)
            while not (coord and coord.should_stop()):
                enqueue()
        except self._queue_closed_exception_types:
            is_at_end = True
        except Exception as error:
            if coord:
                coord.request_stop(error)
            else:
                _log().error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
                raise
        finally:
            with self._lock:
                self._runs[sess] -= 1
                is_last = self._runs[sess] == 0
                if is_last:
                    del self._runs[sess]
        if is_at_end and is_last:
            _run_quietly(sess, self._close_op)

    def _close_on_stop(self, sess, coord):
        coord.wait_for_stop()
        _run_quietly(sess, self._cancel_op)

    # ---- Messages -------------------------------------------------------------------------------------------

    def to_proto(self, export_scope=None):
        """The QueueRunnerDef message; None if the queue is not in `export_scope`."""
        from stillflow.formats import protobuf

        prefix = f"{export_scope}/" if export_scope else ""
        if not self._queue.name.startswith(prefix):
            return None

        def name(element):
            return element.name.removeprefix(prefix)

        return protobuf.message("QueueRunnerDef")(
            queue_name=name(self._queue),
            enqueue_op_name=[name(op) for op in self._enqueue_ops],
            close_op_name=name(self._close_op),
            cancel_op_name=name(self._cancel_op),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(closed) for closed in self._queue_closed_exception_types
            ],
        )

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        """The queue runner that a QueueRunnerDef message describes, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _run_quietly(sess, op):
    """Runs what closes a queue; that it is closed, or its session is, is no trouble."""
    try:
        sess.run(op)
    except Exception as error:
        _log().vlog(1, "Ignored exception: %s", error)


def _log():
    from stillflow.platform import logging

    return logging


@public("train.add_queue_runner", "train.queue_runner.add_queue_runner")
def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    """Adds a queue runner to a collection of the default graph, from which `start_queue_runners` takes it."""
    get_default_graph().add_to_collection(collection, qr)


@public("train.start_queue_runners", "train.queue_runner.start_queue_runners")
def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    """Starts the threads of all queue runners of the session's graph.

    Args:
      sess: a session; by default the default session.
      coord: a Coordinator for the threads.
      daemon: whether the program may end while they run.
      start: whether to start them; the caller does it otherwise.
      collection: where the queue runners are.

    Returns:
      A list of the threads; an empty one of a MonitoredSession, which has started them.

    Raises:
      ValueError: if `sess` is None and there is no default session.
      TypeError: if `sess` is no session.
      RuntimeError: if operations are executed eagerly.
    """
    require_graph("Queues are not compatible with eager execution.")
    if sess is None:
        sess = scopes.get_default_session()
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass "
                "an explicit session to tf.start_queue_runners(sess=sess)"
            )
    if hasattr(sess, "should_stop"):  # a MonitoredSession has started them itself
        return []
    if not hasattr(sess, "run") or not hasattr(sess, "graph"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    threads = []
    with sess.graph.as_default():
        for runner in sess.graph.get_collection(collection):
            threads.extend(runner.create_threads(sess, coord=coord, daemon=daemon, start=start))
    return threads


collection_protos.register(
    GraphKeys.QUEUE_RUNNERS,
    "QueueRunnerDef",
    QueueRunner.to_proto,  # also of those that feed, whose functions a message cannot have
    QueueRunner.from_proto,
)
