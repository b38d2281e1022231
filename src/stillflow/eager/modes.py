"""tensorflow.python.eager.context: contexts in which operations are executed, or become nodes."""

from __future__ import annotations

import contextlib
import functools
import threading

from stillflow.eager.graph import EagerGraph
from stillflow.graph import default_graph
from stillflow.names import public


@functools.cache
def _graph_of_contexts():
    """What executes operations in these contexts where the program has not chosen eager execution."""
    return EagerGraph()


@public("python.eager.context.eager_mode")
@contextlib.contextmanager
def eager_mode():
    """A context in which operations run when they are called."""
    graph = default_graph.eager_graph() or _graph_of_contexts()
    with default_graph.default_graph_context(graph, enforces_nesting=False):
        yield


@public("python.eager.context.graph_mode")
@contextlib.contextmanager
def graph_mode():
    """A context in which operations become nodes: of the innermost default graph that has nodes."""
    with default_graph.default_graph_context(default_graph.innermost_graph_of_nodes(), enforces_nesting=False):
        yield


@public("python.eager.context.num_gpus")
def num_gpus():
    """How many GPUs there are: none."""
    return 0


@public("python.eager.context.in_eager_mode")
def in_eager_mode():
    """Whether operations run when they are called here."""
    return default_graph.get_default_graph().executes_eagerly


class ThreadContext(threading.local):
    """What each thread has besides its default graph: where and when TensorFlow 2's summaries are written.

    Attributes:
      summary_writer: the default writer, or None.
      summary_recording: whether summaries are written: a bool, a tensor, a function that returns one, or None.
      summary_recording_distribution_strategy: the same of a replica, which is combined with the former by "and".
      summary_step: the step of summaries that have none of their own, or None.
    """

    summary_writer = None
    summary_recording = None
    summary_recording_distribution_strategy = True
    summary_step = None

    def executing_eagerly(self):
        """Whether operations run when they are called here."""
        return in_eager_mode()

    def num_gpus(self):
        """0: there is no GPU here."""
        return num_gpus()


_thread_context = ThreadContext()


@public("python.eager.context.context")
def context():
    """The ThreadContext, whose attributes differ by thread."""
    return _thread_context
