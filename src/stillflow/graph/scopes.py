"""Stacks of defaults, one per thread: the default graph and the default session."""

from __future__ import annotations

import contextlib
import threading
import weakref

from stillflow.names import public


class DefaultStack(threading.local):
    """Objects that have been made the default, innermost last."""

    def __init__(self):
        self.stack = []

    def get_default(self):
        return self.stack[-1] if self.stack else None

    def reset(self):
        """Forgets all of them."""
        self.stack = []

    def is_cleared(self) -> bool:
        return not self.stack

    @contextlib.contextmanager
    def with_default(self, default, enforces_nesting=True):
        """Raises AssertionError when contexts are left out of order, unless they may be."""
        self.stack.append(default)
        try:
            yield default
        finally:
            # An object that is no longer there has been removed on purpose, by a reset.
            if self.stack:
                if enforces_nesting:
                    if self.stack[-1] is not default:
                        raise AssertionError(f"Nesting violated for default stack of {type(default)} objects")
                    self.stack.pop()
                elif default in self.stack:  # the same object may be there twice; the inner one leaves
                    del self.stack[max(i for i, item in enumerate(self.stack) if item is default)]


class DefaultGraphs(DefaultStack):
    """The default graphs of a thread: the innermost of the stack, else the eager one of all threads, else its own.

    While contexts of graphs that have been forgotten are still open, the thread's own one comes before the eager one.
    """

    eager = None
    all_eager: weakref.WeakSet = weakref.WeakSet()  # those of contexts, too

    def __init__(self):
        super().__init__()
        self.outermost = None
        self.forgotten = 0  # contexts of graphs of nodes that are still open

    @contextlib.contextmanager
    def with_default(self, default, enforces_nesting=True):
        try:
            with super().with_default(default, enforces_nesting):
                yield default
        finally:
            if self.forgotten and not self.stack:
                self.forgotten -= 1


graphs = public("python.framework.ops._default_graph_stack")(DefaultGraphs())
sessions = public("python.framework.ops._default_session_stack")(DefaultStack())


@public("get_default_session")
def get_default_session():
    """The session of the innermost `with session:` of this thread, or None."""
    return sessions.get_default()
