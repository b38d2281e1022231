"""Which strategy is in force in the default graph and thread, and whether one replica or all are meant."""

from __future__ import annotations

import threading
import weakref
from typing import Any, NamedTuple

from stillflow.graph.default_graph import get_default_graph


class Mode(NamedTuple):
    """A strategy, and the replica whose program is being built; None where it is that of all replicas."""

    strategy: Any
    replica_context: Any


# Outside of all scopes.
OUTSIDE = Mode(None, None)


class _Stacks(threading.local):
    """The modes of a thread, innermost last, of each graph."""

    def __init__(self):
        self.of_graph: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


_stacks = _Stacks()


def push(mode):
    """Enters a mode of the default graph."""
    _stacks.of_graph.setdefault(get_default_graph(), []).append(mode)


def pop():
    """Leaves the innermost mode of the default graph."""
    _stacks.of_graph[get_default_graph()].pop()


def current():
    """The mode of the default graph in this thread."""
    stack = _stacks.of_graph.get(get_default_graph())
    return stack[-1] if stack else OUTSIDE


def is_distributed():
    """Whether a strategy is in force, other than that which does nothing."""
    strategy = current().strategy
    return strategy is not None and not strategy._does_nothing
