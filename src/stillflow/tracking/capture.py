"""Variables that a function makes become dependencies of the object on whose behalf it runs, as of a Template."""

from __future__ import annotations

import contextlib
import threading

from stillflow.names import public


class _Captures(threading.local):
    def __init__(self):
        self.stack: list = []  # (object, prefix of the names that are its own), innermost last


_captures = _Captures()


@public("contrib.checkpoint.capture_dependencies", "python.training.tracking.util.capture_dependencies")
@contextlib.contextmanager
def capture_dependencies(template):
    """A context in which variables in the variable scope of a Template become dependencies of it, by their names.

    Those that are made in a context within this one are that one's, on which the outer one then depends.
    """
    _captures.stack.append((template, template.variable_scope.name))
    try:
        yield
    finally:
        _captures.stack.pop()


def variable_was_made(variable, name):
    """Tells the objects on whose behalf a variable was made, of the name that was asked for."""
    if name is None:
        return
    child, child_name = variable, name
    for owner, prefix in reversed(_captures.stack):
        if name.startswith(prefix):
            owner._track_trackable(child, name=child_name[len(prefix) + 1 :], overwrite=True)
        child, child_name = owner, prefix
