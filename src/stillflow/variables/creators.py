"""tf.variable_creator_scope: functions that have a say in how variables are made."""

from __future__ import annotations

import contextlib
import threading

from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public


class Creators(threading.local):
    """The functions in force in a graph, in this thread, innermost last."""

    def __init__(self):
        self.active = ()


def creators():
    """The Creators of the default graph."""
    return get_default_graph().__dict__.setdefault("_variable_creators", Creators())


@public("variable_creator_scope")
@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """A context in which `variable_creator(next_creator, **options)` makes the variables of the default graph.

    It returns a variable: that of `next_creator(**options)`, with other options if it likes, or one of its own.
    `options` are all arguments of tf.Variable. Scopes inside of others are asked first; the last creator of all
    chooses between reference and resource variables.

    Raises RuntimeError when scopes are not left in the order in which they were entered.
    """
    known = creators()
    outer = known.active
    known.active = inner = (*outer, variable_creator)
    try:
        yield
    finally:
        if known.active is not inner:
            raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
        known.active = outer
