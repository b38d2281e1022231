"""tf.CriticalSection without a graph: the function is called while the lock is held."""

from __future__ import annotations

from stillflow.graph.mode import eager_version_of
from stillflow.resources import critical_section


@eager_version_of(critical_section._called)
def called(function, lock):
    return function(), []


@eager_version_of(critical_section._note)
def note(key, section):
    """There are no collections."""


@eager_version_of(critical_section._note_execution)
def note_execution(section, lock, resources, is_exclusive):
    """There are no collections."""
