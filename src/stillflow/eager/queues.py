"""Queues that live as long as their objects."""

from __future__ import annotations

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import eager_version_of
from stillflow.resources import queues


@eager_version_of(queues.queue_name)
def queue_name(queue_ref):
    return get_default_graph().get_name_scope() or "Empty"


@eager_version_of(queues.shared)
def shared(name):
    """No other object is the same queue."""
    return


@eager_version_of(queues.dequeued_count)
def dequeued_count(tensors):
    """The tensors know their shapes."""
    return
