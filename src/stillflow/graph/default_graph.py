"""The default graph: the one to which functions of tf.* add their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stillflow.graph import scopes
from stillflow.names import public

if TYPE_CHECKING:
    from stillflow.graph.graph import Graph


class _DefaultGraphs(scopes.DefaultStack):
    """The default graphs of this thread, over one that is always there, or over the eager one of all threads."""

    eager: Graph | None = None

    def __init__(self):
        super().__init__()
        self.outermost = None

    def get_default(self):
        found = super().get_default()
        if found is None:
            if self.eager is not None:
                return self.eager
            if self.outermost is None:
                from stillflow.graph.graph import Graph

                self.outermost = Graph()
            found = self.outermost
        return found

    def reset(self):
        if self.stack:
            raise AssertionError(
                "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit "
                "the nesting and create a new graph."
            )
        self.outermost = None


_default_graphs = _DefaultGraphs()


@public("get_default_graph")
def get_default_graph() -> Graph:
    """The graph of the innermost `with graph.as_default():` of this thread, or the thread's own."""
    return _default_graphs.get_default()


def default_graph_context(graph, enforces_nesting=True):
    """A context in which `graph` is the default. Left out of order it fails, if nesting is enforced."""
    return _default_graphs.with_default(graph, enforces_nesting)


@public("reset_default_graph")
def reset_default_graph():
    """Replaces the global default graph by an empty one. Raises AssertionError inside a graph context."""
    _default_graphs.reset()


def leave_all_graphs():
    """Makes this thread's outermost graph the default, whatever contexts have been left open."""
    _default_graphs.stack.clear()


@public("executing_eagerly", "contrib.eager.executing_eagerly", "contrib.eager.in_eager_mode")
def executing_eagerly():
    """Whether operations run when they are called here, instead of becoming nodes of a graph."""
    return _default_graphs.get_default().executes_eagerly


def require_graph(reason, error=RuntimeError):
    """Raises an error for the reason given if operations are executed eagerly."""
    if executing_eagerly():
        raise error(reason)


def eager_graph():
    """The graph that runs operations, or None."""
    return _DefaultGraphs.eager


def execute_eagerly(graph):
    """Makes `graph`, which runs operations, the default of all threads wherever no other is; None ends that.

    Raises ValueError if operations are to run and this thread has a default graph already.
    """
    if graph is not None and _default_graphs.outermost is not None:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    _DefaultGraphs.eager = graph
