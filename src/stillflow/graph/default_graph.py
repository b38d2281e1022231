"""The default graph: the one to which functions of tf.* add their nodes."""

from __future__ import annotations

import itertools
from typing import Any

from stillflow.graph.graph import Graph
from stillflow.graph.scopes import DefaultGraphs, graphs
from stillflow.names import public


def _outermost():
    """The graph of this thread that is there without any context."""
    if graphs.outermost is None:
        graphs.outermost = Graph()
    return graphs.outermost


@public("get_default_graph")
def get_default_graph() -> Graph:
    """The graph of the innermost `with graph.as_default():` of this thread, or the thread's own."""
    stack = graphs.stack
    if stack:
        return stack[-1]
    return (DefaultGraphs.eager if not graphs.forgotten else None) or _outermost()


def outermost_graph() -> Graph:
    """The default graph; while a function is traced, the graph that it is traced for. Variables belong to it."""
    return graphs_to_outermost()[-1]


@public("python.framework.ops.executing_eagerly_outside_functions")
def executes_eagerly_outside_functions():
    """Whether operations would be executed eagerly if no function were traced."""
    return outermost_graph().executes_eagerly


def graphs_to_outermost() -> list:
    """The default graph, and of functions that are traced the graphs that they are traced for, the outermost last."""
    found: list[Any] = [get_default_graph()]
    while found[-1].building_function:
        found.append(getattr(found[-1], "outer_graph", None) or _graph_below(found[-1]))
    return found


def _graph_below(graph):
    """The graph that was the default before a program made this one the default, which it calls a function's body."""
    below = list(itertools.takewhile(lambda each: each is not graph, graphs.stack))
    return below[-1] if below else (DefaultGraphs.eager or _outermost())


@public("python.framework.ops.has_default_graph")
def has_default_graph():
    """Whether some graph has been made the default by a context."""
    return bool(graphs.stack)


def default_graph_context(graph, enforces_nesting=True):
    """A context in which `graph` is the default. Left out of order it fails, if nesting is enforced."""
    return graphs.with_default(graph, enforces_nesting)


@public("reset_default_graph")
def reset_default_graph():
    """Replaces the global default graph by an empty one. Raises AssertionError inside a graph context."""
    if any(not graph.executes_eagerly for graph in graphs.stack):
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit "
            "the nesting and create a new graph."
        )
    graphs.outermost = None
    for graph in DefaultGraphs.all_eager:
        graph.forget()


def leave_all_graphs():
    """Makes this thread's outermost graph the default, whatever contexts have been left open, or stays eager.

    Nodes are built until the contexts that are open now have been left, if they are contexts of graphs of nodes.
    """
    innermost = graphs.stack[-1:]
    if innermost and not innermost[0].executes_eagerly:
        graphs.forgotten += len(graphs.stack)
    graphs.stack[:] = [graph for graph in innermost if graph.executes_eagerly]


def innermost_graph_of_nodes() -> Graph:
    """The default graph that there would be without eager execution."""
    return next((graph for graph in reversed(graphs.stack) if not graph.executes_eagerly), None) or _outermost()


def require_graph(reason, error=RuntimeError):
    """Raises `error` with the reason given if operations are executed eagerly."""
    get_default_graph().require_nodes(reason, error)


def require_eager_execution(reason, error=RuntimeError):
    """Raises `error` with the reason given unless operations are executed eagerly."""
    get_default_graph().require_values(reason, error)


def eager_graph():
    """The graph that runs operations, or None."""
    return DefaultGraphs.eager


def execute_eagerly(graph):
    """Makes `graph`, which runs operations, the default of all threads wherever no other is; None ends that.

    Raises ValueError if operations are to run and this thread has a default graph already.
    """
    if graph is not None and graphs.outermost is not None:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    DefaultGraphs.eager = graph
